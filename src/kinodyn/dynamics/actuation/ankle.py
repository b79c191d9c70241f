"""Parallel ankles: two motors on the shank that drive pitch and roll of the foot together, by rods or as pistons.

Each leg of the mechanism ends at a point b of the foot. With d = b - c the vector along the leg, its length gives one
equation; differentiated, d . b' = alpha m', where m is the motor's coordinate. Hence m' = G q' with the rows
G_i = d_i . (db_i/dq) / alpha_i. Both ways of becoming singular show in it: alpha_i = 0, the motor cannot move (crank
and rod in one line), and det(d_i . db_i/dq) = 0, the foot moves although the motors stand still
(C. Gosselin and J. Angeles, "Singularity analysis of closed-loop kinematic chains", 1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.checks import broadcast, numbers
from kinodyn.dynamics.actuation.legs import Cranks, Legs, Pistons
from kinodyn.dynamics.actuation.transmission import Coupling
from kinodyn.errors import InputError, SingularError
from kinodyn.spatial import exp3

SOLVED, UNREACHABLE, OTHER, STUCK = "solved", "unreachable", "other assembly", "not converged"
CLOSED = 1e-12  # legs whose lengths are met to this share of them are closed
LONGEST_STEP = 0.3  # of a joint in one iteration of Newton's method [rad]
DEAD = 1e-9  # sines below this are zero: no torque can be passed on


class Positions(NamedTuple):
    """Positions and how they were found.

    `values` (..., 2) are NaN where there are none. `status` (...) is "solved"; "unreachable": no motor position gives
    these joint angles; "other assembly": the legs close, but beyond a singularity, so that the mechanism cannot come
    there from its zero position; "not converged". `residual` (...) is the largest error of a leg's length [m].
    """

    values: Array
    status: NDArray[np.str_]
    residual: Array

    @property
    def success(self) -> NDArray[np.bool_]:
        """Tell (...) where the status is "solved"."""
        return np.asarray(self.status == SOLVED)


class Singularity(NamedTuple):
    """How far a mechanism is from standing still for its motors, or giving way to its foot; 0 is singular.

    `motors` (..., 2): sine between rod and crank as it turns, 1 for pistons; 0 at a dead centre, where joints move the
    motor infinitely fast. `foot` (...): how independent the two legs are, from -1 to 1; at 0 the foot moves although
    the motors hold.
    """

    motors: Array
    foot: Array


class _ParallelAnkle(Coupling):
    """An ankle of two axes that two legs drive. q (..., 2) are the angles about the first and the second axis [rad]."""

    def __init__(
        self, legs: Legs, foot: Array, axes: ArrayLike, offset: ArrayLike, joints: Sequence[str] | None
    ) -> None:
        super().__init__(2, 2, joints)
        self._legs = legs
        self.foot = foot
        directions = _points("axes", axes)
        lengths = np.linalg.norm(directions, axis=-1, keepdims=True)
        if not (lengths > DEAD).all():
            raise InputError(f"axes is {axes!r}; give two directions (3,) that are not zero")
        self.axes: Array = directions / lengths
        self.offset = numbers("offset", offset, 3)
        alpha, beta = self._terms(np.zeros(2), legs.zero)[:2]
        if not (np.abs(alpha) > 1e-6 * legs.scale).all() or not abs(_independence(beta, foot, legs)) > 1e-6:
            raise InputError("the ankle is singular at its zero position; move a crank's or a foot's point")
        self._hand = np.sign(np.append(alpha, np.linalg.det(beta)))

    def motor_positions(self, q: ArrayLike) -> Positions:
        """Compute the motor positions of joint angles q (..., 2), in closed form."""
        angles = numbers("q", q, 2)
        values, reached = self._legs.solve(self._feet(angles)[0], self._hand[:2])
        gap = self._legs.gap(values, self._feet(angles)[0])
        values = np.where(reached[..., None], values, np.nan)
        status = np.where(reached, self._mode(angles, np.where(reached[..., None], values, 0.0)), UNREACHABLE)
        return Positions(values, status, np.abs(gap).max(axis=-1))

    def joint_positions(self, motors: ArrayLike, *, start: ArrayLike = (0.0, 0.0), iterations: int = 50) -> Positions:
        """Compute the joint angles of motor positions (..., 2) by Newton's method from `start` (..., 2).

        Where it does not converge there may be no solution, or none near: the values are NaN.
        """
        target, q = broadcast((numbers("motors", motors, 2), 1), (numbers("start", start, 2), 1))
        q = q.copy()
        for _ in range(iterations):
            gap = self._legs.gap(target, self._feet(q)[0])
            open_ = np.asarray((np.abs(gap) > 0.1 * CLOSED * self._legs.rods).any(axis=-1))
            if not open_.any():
                break
            slope = self._terms(q, target)[1] / self._legs.rods[:, None]
            step = -np.einsum("...ij,...j->...i", np.linalg.pinv(slope, rcond=1e-8), gap)
            longest = np.abs(step).max(axis=-1, keepdims=True)
            q += np.where(open_[..., None], step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, DEAD)), 0.0)
        gap = np.abs(self._legs.gap(target, self._feet(q)[0]))
        closed = np.asarray((gap <= CLOSED * self._legs.rods).all(axis=-1))
        status = np.where(closed, self._mode(q, target), STUCK)
        return Positions(np.where(closed[..., None], q, np.nan), status, gap.max(axis=-1))

    def jacobian(self, q: ArrayLike) -> Array:
        """Compute G (..., 2, 2): motor rates are G joint rates, joint torques G^T motor torques.

        Angles out of reach are an InputError, a motor at a dead centre a SingularError.
        """
        angles, motors = self._reached(q)
        alpha, beta = self._regular(angles, motors)
        return beta / alpha[..., None]

    def jacobian_dot(self, q: ArrayLike, rate: ArrayLike) -> Array:
        """Compute the rate of G (..., 2, 2) at joint rates (..., 2): motor accelerations are G q'' + G' q'."""
        angles, motors = self._reached(q)
        angles, motors, speed = broadcast((angles, 1), (motors, 1), (numbers("rate", rate, 2), 1))
        alpha, beta = self._regular(angles, motors)
        G = beta / alpha[..., None]
        motor_speed = np.einsum("...ij,...j->...i", G, speed)
        b, columns = self._feet(angles)
        b_dot = np.einsum("...ijk,...k->...ij", columns, speed)
        d, e = self._legs.along(motors, b)
        d_dot = b_dot - motor_speed[..., None] * e
        first, second, arm = self._arms(angles, b)
        turn = speed[..., :1] * first  # of the second axis
        bend = np.empty(columns.shape)
        bend[..., 0] = np.cross(first[..., None, :], b_dot)
        pivot_dot = np.cross(turn, b[..., 0, :] - arm[..., 0, :])  # of a point on the second axis
        arm_dot = b_dot - pivot_dot[..., None, :]
        bend[..., 1] = np.cross(np.cross(turn, second)[..., None, :], arm) + np.cross(second[..., None, :], arm_dot)
        beta_dot = np.einsum("...ij,...ijk->...ik", d_dot, columns) + np.einsum("...ij,...ijk->...ik", d, bend)
        alpha_dot = self._legs.alpha_dot(motors, motor_speed, d, d_dot, e)
        result: Array = (beta_dot - alpha_dot[..., None] * G) / alpha[..., None]
        return result

    def motor_acceleration(self, q: ArrayLike, rate: ArrayLike, acceleration: ArrayLike) -> Array:
        """Compute motor accelerations (..., 2) of joint rates and accelerations (..., 2)."""
        straight = self.motor_velocity(q, acceleration)
        bent = np.einsum("...ij,...j->...i", self.jacobian_dot(q, rate), numbers("rate", rate, 2))
        result: Array = straight + bent
        return result

    def singularity(self, q: ArrayLike) -> Singularity:
        """Measure how far joint angles q (..., 2) are from a singularity. Angles out of reach are an InputError."""
        angles, motors = self._reached(q)
        alpha, beta = self._terms(angles, motors)
        return Singularity(alpha / self._legs.levers(motors), _independence(beta, self.foot, self._legs))

    def _reached(self, q: ArrayLike) -> tuple[Array, Array]:
        angles = numbers("q", q, 2)
        motors, reached = self._legs.solve(self._feet(angles)[0], self._hand[:2])
        if not reached.all():
            where = np.argwhere(~reached)[0].tolist()
            raise InputError(
                f"joint angles {angles[tuple(where)].tolist()}{f' at {where}' if where else ''} are out of the "
                "mechanism's reach; motor_positions tells which are within it"
            )
        return angles, motors

    def _regular(self, q: Array, motors: Array) -> tuple[Array, Array]:
        alpha, beta = self._terms(q, motors)
        if (np.abs(alpha) < DEAD * self._legs.scale).any():
            raise SingularError("a crank and its rod are in one line: the motor cannot follow the foot from here")
        return alpha, beta

    def _mode(self, q: Array, motors: Array) -> NDArray[np.str_]:
        """Tell whether the mechanism can come here from zero without passing a singularity of either kind."""
        alpha, beta = self._terms(q, motors)
        hand = np.sign(np.concatenate([alpha, np.linalg.det(beta)[..., None]], axis=-1))
        return np.where((hand == self._hand).all(axis=-1), SOLVED, OTHER)

    def _terms(self, q: Array, motors: Array) -> tuple[Array, Array]:
        """alpha (..., 2) and beta (..., 2, 2) of d . b' = alpha m' = beta q'."""
        b, columns = self._feet(q)
        d, e = self._legs.along(motors, b)
        return self._legs.alpha(motors, d, e), np.einsum("...ij,...ijk->...ik", d, columns)

    def _feet(self, q: Array) -> tuple[Array, Array]:
        """Ends of the legs on the foot (..., 2, 3), in the shank, and their slopes (..., 2, 3, 2)."""
        R = exp3(q[..., :1] * self.axes[0])
        moved = self.foot @ np.swapaxes(exp3(q[..., 1:] * self.axes[1]), -1, -2) + self.offset
        b = moved @ np.swapaxes(R, -1, -2)
        first, second, arm = self._arms(q, b)
        columns = np.stack([np.cross(first[..., None, :], b), np.cross(second[..., None, :], arm)], axis=-1)
        return b, columns

    def _arms(self, q: Array, b: Array) -> tuple[Array, Array, Array]:
        """Directions of both axes in the shank, and the ways from the second axis to the ends of the legs."""
        R = exp3(q[..., :1] * self.axes[0])
        first = np.broadcast_to(self.axes[0], (*q.shape[:-1], 3))
        return first, R @ self.axes[1], b - (R @ self.offset)[..., None, :]


class CrankAnkle(_ParallelAnkle):
    """Two rotary motors whose cranks push the foot through rods with ball joints (2-RSU, as in many humanoids).

    All points in the shank's axes at zero angles [m], from the point of the first axis about which the foot turns.

    Parameters
    ----------
    motors
        Points (2, 3) on the motors' axes.
    motor_axes
        Directions (2, 3) of the motors' axes, of any length.
    crank_ends
        Where (2, 3) the rods hang on the cranks at motor angles 0.
    foot_points
        Where (2, 3) the rods hang on the foot at joint angles 0. Rods are as long as crank ends and foot points are
        then apart, so that all angles are zero together.
    axes
        Directions (2, 3) of the ankle's axes: first the one fixed in the shank, then the one fixed in the foot; by
        default pitch about y, then roll about x.
    offset
        From the first axis to the second (3,), 0 if they cross.
    joints
        Names of the ankle's joints in a robot, for `rows`.

    Example
    -------
    >>> import kinodyn as kd
    >>> ankle = kd.actuation.CrankAnkle(
    ...     motors=[[0.0, 0.04, 0.3], [0.0, -0.04, 0.2]], motor_axes=[[0, 1, 0], [0, 1, 0]],
    ...     crank_ends=[[-0.05, 0.04, 0.3], [-0.05, -0.04, 0.2]], foot_points=[[-0.05, 0.04, 0], [-0.05, -0.04, 0]],
    ... )
    >>> ankle.joint_torque([0.0, 0.0], [1.0, 1.0]).round(12) + 0.0
    array([2., 0.])
    """

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
        ends = foot + numbers("offset", offset, 3)
        legs = Cranks(
            _points("motors", motors), _points("motor_axes", motor_axes), _points("crank_ends", crank_ends), ends
        )
        super().__init__(legs, foot, axes, offset, joints)


class PistonAnkle(_ParallelAnkle):
    """Two linear actuators between shank and foot (2-SPU); the motor positions are their lengths [m].

    Parameters
    ----------
    shank_points, foot_points
        Ends (2, 3) at joint angles 0, in the shank's axes, from the point of the first axis about which the foot turns.
    axes, offset, joints
        As of `CrankAnkle`.
    """

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
    """det(beta) against the largest it could be: rods across both arms, at right angles to each other."""
    sizes = legs.rods * np.linalg.norm(foot, axis=-1)
    result: Array = np.linalg.det(beta / sizes[:, None])
    return result


def _points(what: str, value: ArrayLike) -> Array:
    points = numbers(what, value, 2, 3)
    if points.ndim != 2:
        raise InputError(f"{what} has shape {points.shape}; give (2, 3), one for each leg")
    return points
