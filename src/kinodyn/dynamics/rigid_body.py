"""Inverse and forward dynamics, mass matrix, Coriolis matrix, energies and derivatives, computed by the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, Array32, Float32, Float64
from kinodyn.checks import is_float32
from kinodyn.display import displayed
from kinodyn.model.robot import Robot, require_robot

Wrenches = Mapping[str, ArrayLike]


@overload
def inverse(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    wrenches: Wrenches | None = ...,
    *,
    dtype: Float64 | None = ...,
    out: Array | None = ...,
) -> Array: ...
@overload
def inverse(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    wrenches: Wrenches | None = ...,
    *,
    dtype: Float32,
    out: Array32 | None = ...,
) -> Array32: ...
def inverse(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    wrenches: Wrenches | None = None,
    *,
    dtype: Float32 | Float64 | None = None,
    out: Any = None,
) -> Any:
    """Compute the generalised forces for a motion by the recursive Newton-Euler algorithm (RNEA).

    Parameters
    ----------
    robot : Robot
    q, v, a : (..., nq), (..., nv), (..., nv)
    wrenches : mapping of frame -> (..., 6), optional
        External force [N] and moment [N m] at the frame's origin, in world axes.
    dtype : float64 or float32, optional
        Precision of arguments, arithmetic and result; see "Single precision" on the page "Conventions".
    out : array, optional

    Returns
    -------
    tau : (..., nv) array [N m or N]

    Notes
    -----
    Featherstone 2008, table 5.1.
    """
    if dtype is not None and is_float32(dtype):
        return _core.rnea_float32(robot, q, v, a, wrenches, out)
    return _core.rnea(robot, q, v, a, wrenches, out)


@overload
def forward(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    wrenches: Wrenches | None = ...,
    *,
    dtype: Float64 | None = ...,
    out: Array | None = ...,
) -> Array: ...
@overload
def forward(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    wrenches: Wrenches | None = ...,
    *,
    dtype: Float32,
    out: Array32 | None = ...,
) -> Array32: ...
def forward(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    wrenches: Wrenches | None = None,
    *,
    dtype: Float32 | Float64 | None = None,
    out: Any = None,
) -> Any:
    """Compute the acceleration under generalised forces by the articulated-body algorithm (ABA).

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)
    tau : (..., nv) [N m or N]
    wrenches : as for `inverse`
    dtype : float64 or float32, optional
        Precision of arguments, arithmetic and result; see "Single precision" on the page "Conventions".
    out : array, optional

    Returns
    -------
    a : (..., nv) array [rad/s^2 or m/s^2]

    Raises
    ------
    SingularError
        Where a joint would move links without inertia; the message names the link.

    Notes
    -----
    Featherstone 2008, table 7.1. Robots with mimic joints are solved through the mass matrix.
    """
    if dtype is not None and is_float32(dtype):
        return _core.aba_float32(robot, q, v, tau, wrenches, out)
    return _core.aba(robot, q, v, tau, wrenches, out)


@overload
def mass_matrix(robot: Robot, q: ArrayLike, *, dtype: Float64 | None = ..., out: Array | None = ...) -> Array: ...
@overload
def mass_matrix(robot: Robot, q: ArrayLike, *, dtype: Float32, out: Array32 | None = ...) -> Array32: ...
def mass_matrix(
    robot: Robot,
    q: ArrayLike,
    *,
    dtype: Float32 | Float64 | None = None,
    out: Any = None,
) -> Any:
    """Compute the mass matrix by the composite-rigid-body algorithm (CRBA).

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    dtype : float64 or float32, optional
        Precision of arguments, arithmetic and result; see "Single precision" on the page "Conventions".
    out : array, optional

    Returns
    -------
    M : (..., nv, nv) array
        The full symmetric matrix, armature included.

    Notes
    -----
    Featherstone 2008, table 6.2.
    """
    if dtype is not None and is_float32(dtype):
        return _core.crba_float32(robot, q, out)
    return _core.crba(robot, q, out)


def coriolis_matrix(robot: Robot, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the Coriolis matrix for which dM/dt - 2 C is skew-symmetric, without damping.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)
    out : array, optional

    Returns
    -------
    C : (..., nv, nv) array
    """
    return _core.coriolis_matrix(robot, q, v, out)


def gravity(robot: Robot, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the generalised gravity forces, which balance the weight at rest.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    out : array, optional

    Returns
    -------
    g : (..., nv) array [N m or N]
    """
    return _core.gravity(robot, q, out)


def bias(
    robot: Robot, q: ArrayLike, v: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
) -> Array:
    """Compute the generalised forces at zero acceleration: Coriolis, centrifugal, damping and gravity.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)
    wrenches : as for `inverse`
    out : array, optional

    Returns
    -------
    h : (..., nv) array [N m or N]
    """
    return _core.bias(robot, q, v, wrenches, out)


def kinetic_energy(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Compute the kinetic energy, including that of the armature.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)

    Returns
    -------
    energy : (...) array [J]
    """
    return _core.energy(robot, q, v)[0]


def potential_energy(robot: Robot, q: ArrayLike) -> Array:
    """Compute the potential energy of all moving links.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)

    Returns
    -------
    energy : (...) array
        [J], zero if the CoM is at the world's origin.
    """
    require_robot(robot)
    return _core.energy(robot, q, np.zeros(robot.nv))[1]


def regressor(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the regressor of the links' inertial parameters.

    Parameters
    ----------
    robot : Robot
    q, v, a : (..., nq), (..., nv), (..., nv)
    out : array, optional

    Returns
    -------
    Y : (..., nv, 10 n) array
        `inverse` is `Y @ robot.inertial_parameters + robot.armature * a + robot.damping * v`.
    """
    return _core.regressor(robot, q, v, a, out)


def inverse_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: tuple[Array, Array, Array] | None = None
) -> tuple[Array, Array, Array]:
    """Differentiate `inverse` analytically.

    Parameters
    ----------
    robot : Robot
    q, v, a : (..., nq), (..., nv), (..., nv)
    out : three arrays, optional

    Returns
    -------
    dtau_dq, dtau_dv, M : (..., nv, nv) arrays
        Derivatives with respect to q are on the tangent space: column j is the change along `integrate(q, e_j)`.
    """
    return _core.rnea_derivatives(robot, q, v, a, out)


def forward_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, *, out: tuple[Array, Array, Array] | None = None
) -> tuple[Array, Array, Array]:
    """Differentiate `forward` analytically.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)
    tau : (..., nv) [N m or N]
    out : three arrays, optional

    Returns
    -------
    da_dq, da_dv, da_dtau : (..., nv, nv) arrays
        The last is the inverse of M; q as in `inverse_derivatives`.
    """
    return _core.aba_derivatives(robot, q, v, tau, out)


@displayed
class MassFactor:
    """The factorisation M = L^T diag(d) L of the mass matrix, with the sparsity of the tree. Made by `factorize`.

    Featherstone 2008, section 6.5.

    Parameters
    ----------
    robot : Robot
    packed
        L below the diagonal and d on it `(..., nv, nv)`, as the core computes them.

    Attributes
    ----------
    L : (..., nv, nv) array
        Lower triangular with unit diagonal; entries of joints that are not on one path to the root are zero.
    d : (..., nv) array
        Positive.
    """

    @check_types
    def __init__(self, robot: Robot, packed: Array) -> None:
        self._robot = robot
        self._packed = packed

    @property
    def L(self) -> Array:
        """Unpack the unit lower triangular factor `(..., nv, nv)`."""
        one = np.eye(self._packed.shape[-1])
        lower: Array = self._packed * (1.0 - one) + one
        return lower

    @property
    def d(self) -> Array:
        """Unpack the diagonal `(..., nv)`."""
        diagonal: Array = np.diagonal(self._packed, axis1=-2, axis2=-1).copy()
        return diagonal

    def solve(self, b: ArrayLike, *, out: Array | None = None) -> Array:
        """Solve M x = b, in time proportional to the number of joints times the depth of the tree.

        Parameters
        ----------
        b
            Right-hand sides `(..., nv)`.
        out : array, optional

        Returns
        -------
        x : (..., nv) array
        """
        packed = self._packed.reshape(*self._packed.shape[:-2], self._robot.nv**2)
        return _core.solve(self._robot, packed, b, out)

    def log_determinant(self) -> Array:
        """Compute log det M `(...)`."""
        result: Array = np.log(self.d).sum(axis=-1)
        return result


def factorize(robot: Robot, q: ArrayLike) -> MassFactor:
    """Factorise the mass matrix, to solve several systems with it.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)

    Returns
    -------
    factor : MassFactor

    Examples
    --------
    >>> import kinodyn as kd, numpy as np
    >>> robot = kd.load("puma560")
    >>> q, b = robot.random(), np.ones(robot.nv)
    >>> x = kd.dynamics.factorize(robot, q).solve(b)
    >>> bool(np.allclose(kd.dynamics.mass_matrix(robot, q) @ x, b))
    True
    """
    require_robot(robot)
    return MassFactor(robot, _core.factorize(robot, q, None))
