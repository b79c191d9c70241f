"""From motors to joints and back, where one motor does not simply turn one joint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import broadcast, numbers
from kinodyn.dynamics.actuation.selection import own_joint
from kinodyn.errors import InputError, SingularError
from kinodyn.model.chain import configuration
from kinodyn.model.robot import Robot

REGULAR = 1e-9  # a matrix whose singular values are in a smaller ratio than this cannot be inverted


class Coupling(ABC):
    """Motors and joints whose rates are coupled: motor rates = G(q) joint rates, joint torques = G(q)^T motor torques.

    Both hold together, because the power of the motors is the power of the joints. A subclass gives `jacobian`.

    Attributes
    ----------
    motors, size : int
        Number of motors and of joints.
    joints : tuple of str or None
        Names of the joints in a robot, in the order of q here; `rows` needs them.
    """

    def __init__(self, motors: int, size: int, joints: Sequence[str] | None) -> None:
        if isinstance(joints, str) or (joints is not None and len(joints) != size):
            raise InputError(f"joints is {joints!r}; give {size} names of joints")
        self.motors, self.size = motors, size
        self.joints = None if joints is None else tuple(joints)

    @abstractmethod
    def jacobian(self, q: ArrayLike) -> Array:
        """Compute G (..., motors, joints) at joint positions q (..., joints)."""

    def motor_velocity(self, q: ArrayLike, rate: ArrayLike) -> Array:
        """Compute motor rates (..., motors) of joint rates (..., joints)."""
        return _times(self.jacobian(q), numbers("rate", rate, self.size))

    def joint_velocity(self, q: ArrayLike, rate: ArrayLike) -> Array:
        """Compute joint rates (..., joints) of motor rates (..., motors), by least squares if motors are redundant.

        Raises SingularError where motors do not determine the joints.
        """
        return _times(self._inverse(q), numbers("rate", rate, self.motors))

    def joint_torque(self, q: ArrayLike, torque: ArrayLike) -> Array:
        """Compute joint torques (..., joints) of motor torques (..., motors): G^T times them."""
        return _times(np.swapaxes(self.jacobian(q), -1, -2), numbers("torque", torque, self.motors))

    def motor_torque(self, q: ArrayLike, torque: ArrayLike) -> Array:
        """Compute the motor torques (..., motors) that make joint torques (..., joints), the shortest if redundant.

        Raises SingularError where motors cannot make every joint torque.
        """
        return _times(np.swapaxes(self._inverse(q), -1, -2), numbers("torque", torque, self.size))

    def reflected_inertia(self, q: ArrayLike, rotors: ArrayLike) -> Array:
        """Compute what rotors (..., motors) [kg m^2] add to the mass matrix of the joints: (..., joints, joints)."""
        G = self.jacobian(q)
        result: Array = np.swapaxes(G, -1, -2) @ (numbers("rotors", rotors, self.motors)[..., None] * G)
        return result

    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the motors' rows (..., motors, nv) of `matrix` for a robot with these joints, at its q (..., nq)."""
        if self.joints is None:
            raise InputError("a coupling without names of joints has no place in a robot; give it joints=")
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
        if self.motors < self.size or (values[..., -1] < REGULAR * values[..., 0]).any():
            raise SingularError(
                f"the coupling is singular: {self.motors} motors do not move all {self.size} joints here"
            )
        return np.asarray(np.linalg.pinv(G), dtype=float)


class Transmission(Coupling):
    """Gears, belts and differentials: motor positions are a constant matrix times joint positions.

    Parameters
    ----------
    matrix
        G (motors, joints), motors not fewer than joints, of full rank.
    joints
        Names of the joints in a robot, for `rows`.
    """

    def __init__(self, matrix: ArrayLike, joints: Sequence[str] | None = None) -> None:
        G = numbers("matrix", matrix)
        if G.ndim != 2 or not 0 < G.shape[-1] <= G.shape[0]:
            raise InputError(f"matrix has shape {G.shape}; give (motors, joints) with as many motors as joints or more")
        values = np.linalg.svd(G, compute_uv=False)
        if not values[-1] > REGULAR * values[0]:
            raise InputError("matrix has not full rank: the motors would leave a joint free; give other ratios")
        super().__init__(G.shape[0], G.shape[1], joints)
        self.matrix = G.copy()

    def jacobian(self, q: ArrayLike) -> Array:
        """Return G (..., motors, joints), the same at all q (..., joints)."""
        batch = numbers("q", q, self.size).shape[:-1]
        return np.array(np.broadcast_to(self.matrix, (*batch, *self.matrix.shape)))

    def motor_positions(self, q: ArrayLike) -> Array:
        """Compute motor positions (..., motors) of joint positions (..., joints); both are zero together."""
        return _times(self.matrix, numbers("q", q, self.size))

    def joint_positions(self, motors: ArrayLike) -> Array:
        """Compute joint positions (..., joints) of motor positions (..., motors), by least squares if redundant."""
        return _times(np.linalg.pinv(self.matrix), numbers("motors", motors, self.motors))

    def __repr__(self) -> str:
        return f"Transmission({self.matrix.tolist()}, joints={self.joints})"


def gears(ratios: ArrayLike, joints: Sequence[str] | None = None) -> Transmission:
    """Make a transmission of one gear for each joint: the motor turns `ratios` (n,) times as far as its joint.

    >>> import kinodyn as kd
    >>> kd.actuation.gears([100.0, -50.0]).joint_torque([0.0, 0.0], [1.0, 1.0])
    array([100., -50.])
    """
    each = numbers("ratios", ratios)
    if each.ndim != 1:
        raise InputError(f"ratios has shape {each.shape}; give one number for each joint")
    return Transmission(np.diag(each), joints)


def differential(ratio: float, joints: Sequence[str] | None = None) -> Transmission:
    """Make a differential: two motors that turn alike drive the first joint, against each other the second.

    motor 1 = ratio (q1 + q2), motor 2 = ratio (q1 - q2).
    """
    if not isinstance(ratio, int | float) or not np.isfinite(ratio) or ratio == 0:
        raise InputError(f"ratio must be a finite number that is not 0, got {ratio!r}")
    return Transmission(ratio * np.array([[1.0, 1.0], [1.0, -1.0]]), joints)


def _times(A: Array, x: Array) -> Array:
    A, x = broadcast((A, 2), (x, 1))
    result: Array = np.einsum("...ij,...j->...i", A, x)
    return result
