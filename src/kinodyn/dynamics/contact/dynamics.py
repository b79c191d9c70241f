"""Constrained forward dynamics, constraint forces and impacts.

The core (`cpp/kernels/constrained_dynamics.cpp`) solves J M^-1 J^T f = desired - J a_free, with f of least norm where
constraints are redundant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn import dynamics as plain
from kinodyn.arrays import Array
from kinodyn.checks import reals
from kinodyn.display import displayed
from kinodyn.dynamics.contact.constraints import Constraint, plan
from kinodyn.dynamics.contact.forces import Forces
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

# created once, to keep calls for a single state fast
_NOT_STABILISED, _STOPS = np.zeros(2), np.zeros(())


def dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Sequence[Constraint],
    wrenches: dict[str, ArrayLike] | None = None,
    *,
    stabilise: float | tuple[float, float] = 0.0,
) -> tuple[Array, Forces]:
    """Compute accelerations under contacts and loops, and the constraint forces.

    Constraints are bilateral: a contact may pull.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    v, tau : (..., nv)
        Velocities and generalised forces.
    contacts : sequence of Constraint
        Contacts and loops.
    wrenches : dict of frame -> (..., 6), optional
        External wrenches [N, N m], in world axes about the origin of the frame.
    stabilise : float or (float, float)
        Baumgarte stabilisation of drift: a rate [1/s], critically damped, or stiffness and damping [1/s^2, 1/s];
        0: none.

    Returns
    -------
    a : (..., nv)
    forces : Forces

    Raises
    ------
    SingularError
        If a body without inertia is not constrained.

    Notes
    -----
    R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, section 8.6; J. Baumgarte, "Stabilization of constraints
    and integrals of motion in dynamical systems", 1972.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> q, still = robot.configuration("standing"), np.zeros(robot.nv)
    >>> feet = [kd.contact.Contact("left_sole"), kd.contact.Contact("right_sole")]
    >>> a, forces = kd.contact.dynamics(robot, q, still, kd.dynamics.gravity(robot, q), feet)
    >>> int(forces.rank), forces["left_sole"].shape
    (12, (6,))
    """
    planned = plan(robot, contacts)
    gains = _NOT_STABILISED if isinstance(stabilise, float) and stabilise == 0 else gains_of(stabilise)
    found = _core.constrained(robot, q, v, tau, gains, planned.records, planned.poses, wrenches)
    return found.a, Forces(planned.contacts, found.force, found.rank, found.residual, found.residual_share)


def impact(
    robot: Robot, q: ArrayLike, v: ArrayLike, contacts: Sequence[Constraint], *, restitution: ArrayLike = 0.0
) -> tuple[Array, Forces]:
    """Compute the velocities after an impact, and the impulses.

    The kinetic energy decreases by (1 - restitution^2) times that of the velocities that are stopped.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    v : (..., nv)
        Velocities before the impact.
    contacts : sequence of Constraint
        Contacts at which the impact occurs, and contacts and loops that are already closed.
    restitution : (...)
        Fraction of the velocity with which constrained directions rebound, from 0 (they stop) to 1.

    Returns
    -------
    v : (..., nv)
        Velocities after the impact.
    impulses : Forces
        [N s, N m s].

    Notes
    -----
    Featherstone 2008, section 11.7.
    """
    planned = plan(robot, contacts)
    share = _STOPS if isinstance(restitution, float) and restitution == 0 else np.asarray(restitution)
    if share is not _STOPS and not (share.dtype.kind in "buif" and ((share >= 0) & (share <= 1)).all()):
        raise InputError(f"restitution must be from 0 to 1, got {restitution!r}")
    found = _core.impact(robot, q, v, share, planned.records, planned.poses)
    return found.v, Forces(planned.contacts, found.impulse, found.rank, found.residual, found.residual_share)


def jacobian(robot: Robot, q: ArrayLike, contacts: Sequence[Constraint]) -> Array:
    """Compute the constraint Jacobian: J v are the velocities of the constrained directions, J^T f the joint forces.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    contacts : sequence of Constraint

    Returns
    -------
    (..., rows, nv)
    """
    planned = plan(robot, contacts)
    return _core.constraint_jacobian(robot, q, np.zeros(robot.nv), planned.records, planned.poses).J


def drift(robot: Robot, q: ArrayLike, v: ArrayLike, contacts: Sequence[Constraint]) -> Array:
    """Compute Jdot v, the acceleration of the constrained directions at constant joint velocities.

    Constraints keep J a + Jdot v = 0.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)
    contacts : sequence of Constraint

    Returns
    -------
    (..., rows)
        [m/s^2, rad/s^2], in the order of `jacobian`.
    """
    planned = plan(robot, contacts)
    return -_core.constraint_jacobian(robot, q, v, planned.records, planned.poses).acceleration


@displayed
class Projected(NamedTuple):
    """The dynamics in the directions that constraints leave free: M y' + h = S tau, with v = N y.

    Attributes
    ----------
    M : (..., k, k)
        Mass matrix.
    h : (..., k)
        Bias forces.
    S : (..., k, nv)
        Map of generalised forces.
    N : (..., nv, k)
        Orthonormal basis of the free directions.
    """

    M: Array
    h: Array
    S: Array
    N: Array


def projected(robot: Robot, q: ArrayLike, v: ArrayLike, contacts: Sequence[Constraint]) -> Projected:
    """Project the dynamics onto the null space of the constraints, where constraint forces vanish.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)
    contacts : sequence of Constraint
        The rank of their Jacobian must be the same in the whole batch.

    Returns
    -------
    Projected
        N^T M N, N^T (h + M c), N^T and N, with c the acceleration that keeps the constraints at y' = 0.

    Notes
    -----
    F. Aghili, "A unified approach for inverse and direct dynamics of constrained multibody systems based on linear
    projection operator", 2005.
    """
    planned = plan(robot, contacts)
    J, drift = _core.constraint_jacobian(robot, q, v, planned.records, planned.poses)
    U, values, Vt = np.linalg.svd(J)
    size = values.shape[-1]
    ranks = (values > 1e-9 * values[..., :1]).sum(axis=-1)
    rank = int(ranks.max(initial=0))
    if (ranks != rank).any():
        raise InputError(
            f"the contacts have ranks from {int(ranks.min())} to {rank} in this batch; project each rank separately"
        )
    N = np.swapaxes(Vt[..., rank:, :], -1, -2)
    inverse = np.where(np.arange(size) < rank, 1.0 / np.where(values > 0, values, 1.0), 0.0)
    c = np.swapaxes(Vt[..., :size, :], -1, -2) @ (
        inverse[..., None] * (np.swapaxes(U[..., :size], -1, -2) @ drift[..., None])
    )
    M = plain.mass_matrix(robot, q)
    Nt = np.swapaxes(N, -1, -2)
    h = Nt @ (plain.bias(robot, q, v)[..., None] + M @ c)
    return Projected(Nt @ M @ N, h[..., 0], Nt, N)


def gains_of(stabilise: float | tuple[float, float]) -> Array:
    """Return stiffness [1/s^2] and damping [1/s] (2,) of a rate, or those given."""
    pair = stabilise if isinstance(stabilise, tuple) else None
    values = reals("stabilise", pair if pair else (stabilise, stabilise))
    if values.shape != (2,) or not (np.isfinite(values) & (values >= 0)).all():
        raise InputError(f"stabilise must be a nonnegative rate, or (stiffness, damping), got {stabilise!r}")
    return values if pair else np.array([values[0] ** 2, 2.0 * values[0]])
