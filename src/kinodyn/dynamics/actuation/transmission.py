"""Transmissions between motors and joints: gears, differentials, and any coupling with a Jacobian."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.checks import broadcast, numbers
from kinodyn.display import displayed
from kinodyn.dynamics.actuation.selection import own_joint
from kinodyn.errors import InputError, SingularError
from kinodyn.model.chain import configuration
from kinodyn.model.robot import Robot

RANK_TOLERANCE = 1e-9  # ratio of the smallest to the largest singular value below which a matrix is singular


@displayed
class Coupling(ABC):
    """Motors coupled to joints: motor rates = G(q) joint rates, joint torques = G(q)^T motor torques.

    One follows from the other, because the power of the motors is that of the joints. A subclass defines `jacobian`.

    Parameters
    ----------
    motors, size
        Number of motors and of joints.
    joints
        Names of the joints in a robot, in the order of q here; `rows` needs them.
    """

    @check_types
    def __init__(self, motors: int, size: int, joints: Sequence[str] | None) -> None:
        named = isinstance(joints, Sequence) and not isinstance(joints, str) and len(joints) == size
        if joints is not None and not named:
            raise InputError(f"joints must be {size} joint names, got {joints!r}")
        self.motors, self.size = motors, size
        self.joints = None if joints is None else tuple(joints)

    @abstractmethod
    def jacobian(self, q: ArrayLike) -> Array:
        """Compute the Jacobian of motor positions with respect to joint positions.

        Parameters
        ----------
        q : (..., joints) [rad or m]

        Returns
        -------
        G : (..., motors, joints) array
        """

    def motor_velocity(self, q: ArrayLike, rate: ArrayLike) -> Array:
        """Compute motor rates from joint rates.

        Parameters
        ----------
        q : (..., joints) [rad or m]
        rate : (..., joints)

        Returns
        -------
        motor_rate : (..., motors) array
        """
        return _times(self.jacobian(q), numbers("rate", rate, self.size))

    def joint_velocity(self, q: ArrayLike, rate: ArrayLike) -> Array:
        """Compute joint rates from motor rates, by least squares if motors are redundant.

        Parameters
        ----------
        q : (..., joints) [rad or m]
        rate : (..., motors)

        Returns
        -------
        joint_rate : (..., joints) array

        Raises
        ------
        SingularError
            Where the motors do not determine the joints.
        """
        return _times(self._inverse(q), numbers("rate", rate, self.motors))

    def joint_torque(self, q: ArrayLike, torque: ArrayLike) -> Array:
        """Compute joint torques from motor torques: G^T times them.

        Parameters
        ----------
        q : (..., joints) [rad or m]
        torque : (..., motors) [N m or N]

        Returns
        -------
        joint_torque : (..., joints) array [N m or N]
        """
        return _times(np.swapaxes(self.jacobian(q), -1, -2), numbers("torque", torque, self.motors))

    def motor_torque(self, q: ArrayLike, torque: ArrayLike) -> Array:
        """Compute the motor torques that produce joint torques, those of least norm if motors are redundant.

        Parameters
        ----------
        q : (..., joints) [rad or m]
        torque : (..., joints) [N m or N]

        Returns
        -------
        motor_torque : (..., motors) array [N m or N]

        Raises
        ------
        SingularError
            Where the motors cannot produce every joint torque.
        """
        return _times(np.swapaxes(self._inverse(q), -1, -2), numbers("torque", torque, self.size))

    def reflected_inertia(self, q: ArrayLike, rotors: ArrayLike) -> Array:
        """Compute the contribution of rotor inertias to the mass matrix of the joints.

        Parameters
        ----------
        q : (..., joints) [rad or m]
        rotors
            Rotor inertias `(..., motors)` [kg m^2].

        Returns
        -------
        inertia : (..., joints, joints) array [kg m^2]
        """
        G = self.jacobian(q)
        result: Array = np.swapaxes(G, -1, -2) @ (numbers("rotors", rotors, self.motors)[..., None] * G)
        return result

    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the motors' rows of the actuation matrix for a robot with these joints.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        B : (..., motors, nv) array
        """
        if self.joints is None:
            raise InputError("the coupling has no joint names; build it with joints= to use it in a robot")
        infos = [own_joint(robot, name) for name in self.joints]
        for info in infos:
            if info.v.stop - info.v.start != 1:
                raise InputError(f"joint {info.name!r} is {info.kind}; couplings take joints of one coordinate")
        own = configuration(robot, q)[..., [info.q.start for info in infos]]
        G = self.jacobian(own)
        rows = np.zeros((*own.shape[:-1], self.motors, robot.nv))
        rows[..., [info.v.start for info in infos]] = G
        return rows

    def _inverse(self, q: ArrayLike) -> Array:
        G = self.jacobian(q)
        values = np.linalg.svd(G, compute_uv=False)
        if self.motors < self.size or (values[..., -1] < RANK_TOLERANCE * values[..., 0]).any():
            raise SingularError(
                f"the coupling is singular: {self.motors} motors do not move all {self.size} joints here"
            )
        return np.asarray(np.linalg.pinv(G), dtype=float)


@displayed
class Transmission(Coupling):
    """Gears, belts and differentials: motor positions are a constant matrix times joint positions.

    Parameters
    ----------
    matrix
        G (motors, joints) of full rank, with at least as many motors as joints.
    joints
        Names of the joints in a robot, for `rows`.
    """

    @check_types
    def __init__(self, matrix: ArrayLike, joints: Sequence[str] | None = None) -> None:
        G = numbers("matrix", matrix)
        if G.ndim != 2 or not 0 < G.shape[-1] <= G.shape[0]:
            raise InputError(
                f"matrix must have shape (motors, joints) with at least as many motors as joints, got {G.shape}"
            )
        values = np.linalg.svd(G, compute_uv=False)
        if not values[-1] > RANK_TOLERANCE * values[0]:
            raise InputError("matrix does not have full rank: the motors would leave a joint free; give other ratios")
        super().__init__(G.shape[0], G.shape[1], joints)
        self.matrix = G.copy()

    def jacobian(self, q: ArrayLike) -> Array:
        batch = numbers("q", q, self.size).shape[:-1]
        return np.array(np.broadcast_to(self.matrix, (*batch, *self.matrix.shape)))

    def motor_positions(self, q: ArrayLike) -> Array:
        """Compute motor positions from joint positions; both are zero together.

        Parameters
        ----------
        q : (..., joints) [rad or m]

        Returns
        -------
        motors : (..., motors) array
        """
        return _times(self.matrix, numbers("q", q, self.size))

    def joint_positions(self, motors: ArrayLike) -> Array:
        """Compute joint positions from motor positions, by least squares if motors are redundant.

        Parameters
        ----------
        motors
            Motor positions `(..., motors)`.

        Returns
        -------
        q : (..., joints) array
        """
        return _times(np.linalg.pinv(self.matrix), numbers("motors", motors, self.motors))

    def __repr__(self) -> str:
        return f"Transmission({self.matrix.tolist()}, joints={self.joints})"


@check_types
def gears(ratios: ArrayLike, joints: Sequence[str] | None = None) -> Transmission:
    """Create a transmission with one gear for each joint.

    Parameters
    ----------
    ratios
        Gear ratios `(n,)`: motor position over joint position.
    joints
        Names of the joints in a robot, for `rows`.

    Returns
    -------
    transmission : Transmission

    Examples
    --------
    >>> import kinodyn as kd
    >>> kd.actuation.gears([100.0, -50.0]).joint_torque([0.0, 0.0], [1.0, 1.0])
    array([100., -50.])
    """
    each = numbers("ratios", ratios)
    if each.ndim != 1:
        raise InputError(f"ratios must be one number for each joint, got shape {each.shape}")
    return Transmission(np.diag(each), joints)


@check_types
def differential(ratio: float, joints: Sequence[str] | None = None) -> Transmission:
    """Create a differential: motor 1 = ratio (q1 + q2), motor 2 = ratio (q1 - q2).

    Parameters
    ----------
    ratio
        Gear ratio, not zero.
    joints
        Names of the two joints in a robot, for `rows`.

    Returns
    -------
    transmission : Transmission
        Equal motor motion drives the first joint, opposite motor motion the second.
    """
    if not isinstance(ratio, int | float) or not np.isfinite(ratio) or ratio == 0:
        raise InputError(f"ratio must be a finite number other than 0, got {ratio!r}")
    return Transmission(ratio * np.array([[1.0, 1.0], [1.0, -1.0]]), joints)


def _times(A: Array, x: Array) -> Array:
    A, x = broadcast((A, 2), (x, 1))
    return matvec(A, x)
