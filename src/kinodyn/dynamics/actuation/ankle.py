"""Parallel ankles: two motors on the shank that drive pitch and roll of the foot together, through rods or as pistons.

Each leg of the mechanism ends at a point b of the foot. With d = b - c the vector along the leg, its length gives one
equation. Its derivative is d . b' = alpha m', where m is the motor's coordinate. Hence m' = G q' with the rows
G_i = d_i . (db_i/dq) / alpha_i. There are two kinds of singularity: alpha_i = 0, the motor cannot move (crank and
rod collinear), and det(d_i . db_i/dq) = 0, the foot moves although the motors are locked
(C. Gosselin and J. Angeles, "Singularity analysis of closed-loop kinematic chains", 1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.checks import broadcast, numbers, vector
from kinodyn.display import displayed
from kinodyn.dynamics.actuation.legs import Cranks, Legs, Pistons
from kinodyn.dynamics.actuation.transmission import Coupling
from kinodyn.errors import InputError, SingularError
from kinodyn.spatial import exp3

SOLVED, UNREACHABLE, OTHER_ASSEMBLY, NOT_CONVERGED = "solved", "unreachable", "other assembly", "not converged"
CLOSURE_TOLERANCE = 1e-12  # error of a leg's length, relative to it, below which the leg is closed
MAX_STEP = 0.3  # of a joint in one Newton iteration [rad]
ZERO = 1e-9  # sines and lengths below this count as zero


@displayed
class Positions(NamedTuple):
    """Positions of the motors or of the joints, and whether they exist.

    Attributes
    ----------
    values : (..., 2) array
        NaN where there is no solution.
    status : (...) array of str
        "solved"; "unreachable": no motor position gives these joint angles; "other assembly": the legs close, but
        beyond a singularity, so that the mechanism cannot get there from its zero position; "not converged".
    residual : (...) array
        Maximum error of a leg's length [m].
    """

    values: Array
    status: NDArray[np.str_]
    residual: Array

    @property
    def success(self) -> NDArray[np.bool_]:
        """Return where `(...)` the status is "solved"."""
        return np.asarray(self.status == SOLVED)


@displayed
class Singularity(NamedTuple):
    """Distance of a mechanism from its two kinds of singularity; 0 is singular.

    Attributes
    ----------
    motors : (..., 2) array
        Sine of the angle between rod and crank, 1 for pistons; 0 at a dead centre, where the motor cannot move.
    foot : (...) array
        Independence of the two legs, from -1 to 1; at 0 the foot moves although the motors are locked.
    """

    motors: Array
    foot: Array


class _ParallelAnkle(Coupling):
    """An ankle with two axes, driven by two legs. q (..., 2) are the angles about the first and second axis [rad]."""

    def __init__(
        self, legs: Legs, foot: Array, axes: ArrayLike, offset: ArrayLike, joints: Sequence[str] | None
    ) -> None:
        super().__init__(2, 2, joints)
        self._legs = legs
        self.foot = foot
        directions = _points("axes", axes)
        lengths = np.linalg.norm(directions, axis=-1, keepdims=True)
        if not (lengths > ZERO).all():
            raise InputError(f"axes must be two nonzero directions (3,), got {axes!r}")
        self.axes: Array = directions / lengths
        self.offset = numbers("offset", offset, 3)
        alpha, beta = self._terms(np.zeros(2), legs.zero)[:2]
        if not (np.abs(alpha) > 1e-6 * legs.scale).all() or not abs(_independence(beta, foot, legs)) > 1e-6:
            raise InputError("the ankle is singular at its zero position; change crank_ends or foot_points")
        self._assembly = np.sign(np.append(alpha, np.linalg.det(beta)))

    def motor_positions(self, q: ArrayLike) -> Positions:
        """Compute the motor positions at joint angles, in closed form.

        Parameters
        ----------
        q : (..., 2) [rad]

        Returns
        -------
        motors : Positions
        """
        angles = numbers("q", q, 2)
        values, reached = self._legs.solve(self._foot_points(angles)[0], self._assembly[:2])
        error = self._legs.closure_error(values, self._foot_points(angles)[0])
        values = np.where(reached[..., None], values, np.nan)
        closed = self._assembly_status(angles, np.where(reached[..., None], values, 0.0))
        status = np.where(reached, closed, UNREACHABLE)
        return Positions(values, status, np.abs(error).max(axis=-1))

    def joint_positions(self, motors: ArrayLike, *, start: ArrayLike = (0.0, 0.0), iterations: int = 50) -> Positions:
        """Compute the joint angles at motor positions, by Newton's method.

        Parameters
        ----------
        motors
            Motor positions `(..., 2)` [rad or m].
        start
            Joint angles `(..., 2)` to start from [rad].
        iterations
            Maximum number of iterations.

        Returns
        -------
        q : Positions
            The status is "not converged" if there is no solution, or none near `start`.
        """
        target, q = broadcast((numbers("motors", motors, 2), 1), (numbers("start", start, 2), 1))
        q = q.copy()
        for _ in range(iterations):
            error = self._legs.closure_error(target, self._foot_points(q)[0])
            open_ = np.asarray((np.abs(error) > 0.1 * CLOSURE_TOLERANCE * self._legs.rods).any(axis=-1))
            if not open_.any():
                break
            slope = self._terms(q, target)[1] / self._legs.rods[:, None]
            inverse = np.asarray(np.linalg.pinv(slope, rcond=1e-8), dtype=np.float64)
            step = -matvec(inverse, error)
            longest = np.abs(step).max(axis=-1, keepdims=True)
            q += np.where(open_[..., None], step * np.minimum(1.0, MAX_STEP / np.maximum(longest, ZERO)), 0.0)
        error = np.abs(self._legs.closure_error(target, self._foot_points(q)[0]))
        closed = np.asarray((error <= CLOSURE_TOLERANCE * self._legs.rods).all(axis=-1))
        status = np.where(closed, self._assembly_status(q, target), NOT_CONVERGED)
        return Positions(np.where(closed[..., None], q, np.nan), status, error.max(axis=-1))

    def jacobian(self, q: ArrayLike) -> Array:
        """Compute the Jacobian G: motor rates = G joint rates, joint torques = G^T motor torques.

        Parameters
        ----------
        q : (..., 2) [rad]

        Returns
        -------
        G : (..., 2, 2) array

        Raises
        ------
        InputError
            For angles out of reach.
        SingularError
            For a motor at a dead centre.
        """
        angles, motors = self._motors_at(q)
        alpha, beta = self._regular_terms(angles, motors)
        return beta / alpha[..., None]

    def jacobian_dot(self, q: ArrayLike, rate: ArrayLike) -> Array:
        """Compute the time derivative of G: motor accelerations = G q'' + G' q'.

        Parameters
        ----------
        q : (..., 2) [rad]
        rate
            Joint rates `(..., 2)` [rad/s].

        Returns
        -------
        G_dot : (..., 2, 2) array
        """
        angles, motors = self._motors_at(q)
        angles, motors, speed = broadcast((angles, 1), (motors, 1), (numbers("rate", rate, 2), 1))
        alpha, beta = self._regular_terms(angles, motors)
        G = beta / alpha[..., None]
        motor_speed = matvec(G, speed)
        b, columns = self._foot_points(angles)
        b_dot = np.einsum("...ijk,...k->...ij", columns, speed)
        d, e = self._legs.leg_vectors(motors, b)
        d_dot = b_dot - motor_speed[..., None] * e
        first, second, arm = self._axes_and_arms(angles, b)
        omega = speed[..., :1] * first  # angular velocity of the second axis
        columns_dot = np.empty(columns.shape)
        columns_dot[..., 0] = np.cross(first[..., None, :], b_dot)
        pivot_dot = np.cross(omega, b[..., 0, :] - arm[..., 0, :])  # of a point on the second axis
        arm_dot = b_dot - pivot_dot[..., None, :]
        second_dot = np.cross(omega, second)
        columns_dot[..., 1] = np.cross(second_dot[..., None, :], arm) + np.cross(second[..., None, :], arm_dot)
        beta_dot = np.einsum("...ij,...ijk->...ik", d_dot, columns) + np.einsum("...ij,...ijk->...ik", d, columns_dot)
        alpha_dot = self._legs.alpha_dot(motors, motor_speed, d, d_dot, e)
        result: Array = (beta_dot - alpha_dot[..., None] * G) / alpha[..., None]
        return result

    def motor_acceleration(self, q: ArrayLike, rate: ArrayLike, acceleration: ArrayLike) -> Array:
        """Compute motor accelerations from joint rates and accelerations.

        Parameters
        ----------
        q : (..., 2) [rad]
        rate
            Joint rates `(..., 2)` [rad/s].
        acceleration
            Joint accelerations `(..., 2)` [rad/s^2].

        Returns
        -------
        motor_acceleration : (..., 2) array
        """
        linear = self.motor_velocity(q, acceleration)
        quadratic = matvec(self.jacobian_dot(q, rate), numbers("rate", rate, 2))
        result: Array = linear + quadratic
        return result

    def singularity(self, q: ArrayLike) -> Singularity:
        """Measure the distance from singularities.

        Parameters
        ----------
        q : (..., 2) [rad]

        Returns
        -------
        measure : Singularity

        Raises
        ------
        InputError
            For angles out of reach.
        """
        angles, motors = self._motors_at(q)
        alpha, beta = self._terms(angles, motors)
        return Singularity(alpha / self._legs.max_alpha(motors), _independence(beta, self.foot, self._legs))

    def _motors_at(self, q: ArrayLike) -> tuple[Array, Array]:
        angles = numbers("q", q, 2)
        motors, reached = self._legs.solve(self._foot_points(angles)[0], self._assembly[:2])
        if not reached.all():
            where = np.argwhere(~reached)[0].tolist()
            raise InputError(
                f"joint angles {angles[tuple(where)].tolist()}{f' at {where}' if where else ''} are out of the "
                "mechanism's reach; motor_positions reports which angles can be reached"
            )
        return angles, motors

    def _regular_terms(self, q: Array, motors: Array) -> tuple[Array, Array]:
        alpha, beta = self._terms(q, motors)
        if (np.abs(alpha) < ZERO * self._legs.scale).any():
            raise SingularError("a crank and its rod are collinear (dead centre): the motor cannot follow the foot")
        return alpha, beta

    def _assembly_status(self, q: Array, motors: Array) -> NDArray[np.str_]:
        """Return whether the mechanism can get here from zero without passing a singularity of either kind."""
        alpha, beta = self._terms(q, motors)
        signs = np.sign(np.concatenate([alpha, np.linalg.det(beta)[..., None]], axis=-1))
        return np.where((signs == self._assembly).all(axis=-1), SOLVED, OTHER_ASSEMBLY)

    def _terms(self, q: Array, motors: Array) -> tuple[Array, Array]:
        """Compute alpha (..., 2) and beta (..., 2, 2) of d . b' = alpha m' = beta q'."""
        b, columns = self._foot_points(q)
        d, e = self._legs.leg_vectors(motors, b)
        return self._legs.alpha(motors, d, e), np.einsum("...ij,...ijk->...ik", d, columns)

    def _foot_points(self, q: Array) -> tuple[Array, Array]:
        """Compute the ends of the legs on the foot (..., 2, 3), in the shank, and their Jacobians (..., 2, 3, 2)."""
        R = exp3(q[..., :1] * self.axes[0])
        moved = self.foot @ np.swapaxes(exp3(q[..., 1:] * self.axes[1]), -1, -2) + self.offset
        b = moved @ np.swapaxes(R, -1, -2)
        first, second, arm = self._axes_and_arms(q, b)
        columns = np.stack([np.cross(first[..., None, :], b), np.cross(second[..., None, :], arm)], axis=-1)
        return b, columns

    def _axes_and_arms(self, q: Array, b: Array) -> tuple[Array, Array, Array]:
        """Compute the directions of both axes in the shank, and the vectors from the second axis to the leg ends."""
        R = exp3(q[..., :1] * self.axes[0])
        first = np.broadcast_to(self.axes[0], (*q.shape[:-1], 3))
        return first, R @ self.axes[1], b - (R @ self.offset)[..., None, :]


@displayed
class CrankAnkle(_ParallelAnkle):
    """Two rotary motors whose cranks drive the foot through rods with ball joints (2-RSU, as in many humanoids).

    Points are in the shank's axes at joint angles 0 [m], from the point of the first axis about which the foot rotates.

    Parameters
    ----------
    motors
        Points (2, 3) on the motors' axes.
    motor_axes
        Directions (2, 3) of the motors' axes, of any length.
    crank_ends
        Attachment points (2, 3) of the rods on the cranks at motor angles 0.
    foot_points
        Attachment points (2, 3) of the rods on the foot at joint angles 0. The rod lengths are the distances from the
        crank ends, so that all angles are zero together.
    axes
        Directions (2, 3) of the ankle's axes: first the one fixed in the shank, then the one fixed in the foot; by
        default pitch about y, then roll about x.
    offset
        Vector (3,) from the first axis to the second, zero if they intersect.
    joints
        Names of the ankle's joints in a robot, for `rows`.

    Examples
    --------
    >>> import kinodyn as kd
    >>> ankle = kd.actuation.CrankAnkle(
    ...     motors=[[0.0, 0.04, 0.3], [0.0, -0.04, 0.2]], motor_axes=[[0, 1, 0], [0, 1, 0]],
    ...     crank_ends=[[-0.05, 0.04, 0.3], [-0.05, -0.04, 0.2]], foot_points=[[-0.05, 0.04, 0], [-0.05, -0.04, 0]],
    ... )
    >>> ankle.joint_torque([0.0, 0.0], [1.0, 1.0]).round(12) + 0.0
    array([2., 0.])
    """

    @check_types
    def __init__(
        self,
        motors: ArrayLike,
        motor_axes: ArrayLike,
        crank_ends: ArrayLike,
        foot_points: ArrayLike,
        *,
        axes: ArrayLike = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)),
        offset: ArrayLike = (0.0, 0.0, 0.0),
        joints: Sequence[str] | None = None,
    ) -> None:
        foot = _points("foot_points", foot_points)
        ends = foot + vector("offset", offset, 3)
        legs = Cranks(
            _points("motors", motors), _points("motor_axes", motor_axes), _points("crank_ends", crank_ends), ends
        )
        super().__init__(legs, foot, axes, offset, joints)


@displayed
class PistonAnkle(_ParallelAnkle):
    """Two linear actuators between shank and foot (2-SPU); the motor positions are their lengths [m].

    Parameters
    ----------
    shank_points, foot_points
        End points (2, 3) at joint angles 0 [m], in the shank's axes, from the point of the first axis about which the
        foot rotates.
    axes, offset, joints
        As for `CrankAnkle`.
    """

    @check_types
    def __init__(
        self,
        shank_points: ArrayLike,
        foot_points: ArrayLike,
        *,
        axes: ArrayLike = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)),
        offset: ArrayLike = (0.0, 0.0, 0.0),
        joints: Sequence[str] | None = None,
    ) -> None:
        foot = _points("foot_points", foot_points)
        legs = Pistons(_points("shank_points", shank_points), foot + numbers("offset", offset, 3))
        super().__init__(legs, foot, axes, offset, joints)


def _independence(beta: Array, foot: Array, legs: Legs) -> Array:
    """Compute det(beta) relative to its largest possible value: rods perpendicular to both arms and to each other."""
    sizes = legs.rods * np.linalg.norm(foot, axis=-1)
    result: Array = np.linalg.det(beta / sizes[:, None])
    return result


def _points(what: str, value: ArrayLike) -> Array:
    points = numbers(what, value, 2, 3)
    if points.ndim != 2:
        raise InputError(f"{what} must have shape (2, 3), one for each leg, got {points.shape}")
    return points
