"""Forces and accelerations: pure functions of (robot, q, ...), over any leading batch axes.

The equation of motion is M(q) a + C(q, v) v + D v + g(q) = tau + sum of J^T wrench, with D the joints' damping and
with the armature of motors in M. `robot.replace(damping=0, armature=0)` switches these off. External wrenches are
given as a dict of frame -> (..., 6): force and moment at the frame's origin, along the world's axes.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

Wrenches = Mapping[str, ArrayLike]


def inverse(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    wrenches: Wrenches | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Compute the generalised forces tau (..., nv) that give the acceleration a (recursive Newton-Euler)."""
    return _core.rnea(robot, q, v, a, wrenches, out)


def forward(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    wrenches: Wrenches | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Compute the acceleration (..., nv) that tau causes (articulated bodies; through M where joints follow others).

    Raises SingularError, with the link's name, where a joint would move something without inertia.
    """
    return _core.aba(robot, q, v, tau, wrenches, out)


def mass_matrix(robot: Robot, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the mass matrix M (..., nv, nv), full and symmetric, armature included."""
    return _core.crba(robot, q, out)


def coriolis_matrix(robot: Robot, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the Coriolis matrix C (..., nv, nv) for which dM/dt - 2 C is skew symmetric; damping is not in it."""
    return _core.coriolis_matrix(robot, q, v, out)


def gravity(robot: Robot, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the forces g(q) (..., nv) that hold the robot against gravity."""
    return _core.gravity(robot, q, out)


def bias(
    robot: Robot, q: ArrayLike, v: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
) -> Array:
    """Compute the forces (..., nv) at zero acceleration: Coriolis, centrifugal, damping and gravity."""
    return _core.bias(robot, q, v, wrenches, out)


def kinetic_energy(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Compute the kinetic energy (...) [J], that of spinning armatures included."""
    return _core.energy(robot, q, v)[0]


def potential_energy(robot: Robot, q: ArrayLike) -> Array:
    """Compute the potential energy (...) [J] of what moves, zero with the centre of mass at the world's origin."""
    _require_robot(robot)
    return _core.energy(robot, q, np.zeros(robot.nv))[1]


def regressor(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute Y (..., nv, 10 n) with Y @ robot.inertial_parameters the torques of the links.

    Armature and damping are not links: `inverse` is Y @ parameters + armature * a + damping * v.
    """
    return _core.regressor(robot, q, v, a, out)


def inverse_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: tuple[Array, Array, Array] | None = None
) -> tuple[Array, Array, Array]:
    """Differentiate `inverse` analytically: (dtau_dq, dtau_dv, M), each (..., nv, nv).

    dq is a tangent: column j is the change along integrate(q, e_j).
    """
    return _core.rnea_derivatives(robot, q, v, a, out)


def forward_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, out: tuple[Array, Array, Array] | None = None
) -> tuple[Array, Array, Array]:
    """Differentiate `forward` analytically: (da_dq, da_dv, da_dtau), each (..., nv, nv); the last is M^-1."""
    return _core.aba_derivatives(robot, q, v, tau, out)


class MassFactor:
    """The factor M = L^T diag(d) L of the mass matrix, with the sparsity of the tree (Featherstone 2008, sec. 6.5).

    Attributes
    ----------
    L : (..., nv, nv) array
        Lower triangular with unit diagonal; an entry is zero where the joints are not on one way to the root.
    d : (..., nv) array
        Positive.
    """

    def __init__(self, robot: Robot, packed: Array) -> None:
        self._robot = robot
        self._packed = packed

    @property
    def L(self) -> Array:
        one = np.eye(self._packed.shape[-1])
        lower: Array = self._packed * (1.0 - one) + one
        return lower

    @property
    def d(self) -> Array:
        diagonal: Array = np.diagonal(self._packed, axis1=-2, axis2=-1).copy()
        return diagonal

    def solve(self, b: ArrayLike, *, out: Array | None = None) -> Array:
        """Solve M x = b for b (..., nv), in time proportional to joints times depth."""
        packed = self._packed.reshape(*self._packed.shape[:-2], self._robot.nv**2)
        return _core.solve(self._robot, packed, b, out)

    def log_determinant(self) -> Array:
        """Compute log det M (...)."""
        result: Array = np.log(self.d).sum(axis=-1)
        return result


def factorize(robot: Robot, q: ArrayLike) -> MassFactor:
    """Factor the mass matrix, to solve with it several times.

    >>> import kinodyn as kd, numpy as np
    >>> robot = kd.load("puma560")
    >>> q, b = robot.random(), np.ones(robot.nv)
    >>> x = kd.dynamics.factorize(robot, q).solve(b)
    >>> bool(np.allclose(kd.dynamics.mass_matrix(robot, q) @ x, b))
    True
    """
    _require_robot(robot)
    return MassFactor(robot, _core.factorize(robot, q, None))


def _require_robot(robot: object) -> None:
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
