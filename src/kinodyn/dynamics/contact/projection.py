"""Projection onto the constraints: configurations in which loops close, velocities that keep them closed.

Simulations drift off the constraints. Each Newton step solves J dq = -error with the dq that is shortest in the metric
of the mass matrix, so that light bodies move more than heavy ones.

E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", 1996, section VII.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, positive
from kinodyn.display import displayed
from kinodyn.dynamics.contact.constraints import Constraint, Plan, plan
from kinodyn.dynamics.contact.dynamics import impact
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot


@displayed
class Projection(NamedTuple):
    """A configuration projected onto the constraints.

    Attributes
    ----------
    q : (..., nq)
        Configuration that satisfies the constraints if `success`, else the best found.
    success : (...) bool
        Whether the error is within the tolerance.
    error : (...)
        Maximum remaining entry of `constraint_error` [m or rad].
    iterations : (...) int
        Newton steps.
    """

    q: Array
    success: NDArray[np.bool_]
    error: Array
    iterations: NDArray[np.int_]


@check_types
def constraint_error(robot: Robot, q: ArrayLike, contacts: Sequence[Constraint]) -> Array:
    """Compute the errors of the constrained directions.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    contacts : sequence of Constraint
        Loops, and contacts with a target; `contact.satisfied_at(robot, q)` returns one.

    Returns
    -------
    (..., rows)
        In the order of `contact.jacobian`: lengths [m], and 2 sin(angle / 2) about each axis, the angle [rad] if small.
    """
    planned = _with_targets(robot, contacts)
    return _core.constraint_error(robot, q, planned.records, planned.poses)


@check_types
def project(
    robot: Robot,
    q: ArrayLike,
    contacts: Sequence[Constraint],
    *,
    fixed: Sequence[int] = (),
    tolerance: float = 1e-12,
    iterations: int = 50,
) -> Projection:
    """Move a configuration onto the constraints: loops close, contacts return to their targets.

    Newton's method on the manifold of configurations, in the metric of the mass matrix, with steps halved where the
    error would grow. From a nearby configuration it takes two or three steps.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
        Configurations to start from.
    contacts : sequence of Constraint
        Loops, and contacts with a target.
    fixed : sequence of int
        Indices in v of the coordinates that stay as they are, such as the crank of a linkage.
    tolerance : float
        Maximum error [m or rad] for success.
    iterations : int
        Maximum number of Newton steps.

    Returns
    -------
    Projection

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> hands = kd.contact.Loop("left_palm", "right_palm", directions="x y z")
    >>> found = kd.contact.project(robot, robot.configuration("standing"), [hands])
    >>> bool(found.success), bool(found.error < 1e-12)
    (True, True)
    """
    planned = _with_targets(robot, contacts)
    indices = tuple(fixed) if isinstance(fixed, Iterable) else (fixed,)
    if not all(isinstance(k, int | np.integer) for k in indices):
        raise InputError(f"fixed must be indices in v, got {fixed!r}")
    limits = positive("tolerance", tolerance), integer("iterations", iterations, 0, MAX_ITERATIONS)
    settings = _settings(*limits, robot.nv, indices)
    found = _core.project(robot, q, *settings, planned.records, planned.poses)
    return Projection(
        q=found.q, success=found.error <= tolerance, error=found.error, iterations=found.iterations.astype(int)
    )


@check_types
def project_velocity(robot: Robot, q: ArrayLike, v: ArrayLike, contacts: Sequence[Constraint]) -> Array:
    """Project velocities onto those that satisfy the constraints, in the metric of the mass matrix.

    The result is that of an impact without restitution: the kinetic energy never increases.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)
    contacts : sequence of Constraint

    Returns
    -------
    (..., nv)
    """
    return impact(robot, q, v, contacts)[0]


MAX_ITERATIONS = 10**6


@lru_cache(maxsize=16)
def _settings(tolerance: float, iterations: int, nv: int, fixed: tuple[int, ...]) -> tuple[Array, Array, Array]:
    if not 0 < tolerance < np.inf or iterations < 0:
        raise InputError(f"tolerance must be positive and iterations nonnegative, got {tolerance!r} and {iterations!r}")
    if not all(isinstance(k, int | np.integer) and 0 <= k < nv for k in fixed):
        raise InputError(f"fixed must be indices in v, from 0 to {nv - 1}, got {fixed!r}")
    is_fixed = np.zeros(nv)
    is_fixed[list(fixed)] = 1.0
    return np.array(tolerance, dtype=float), np.array(iterations, dtype=float), is_fixed


def _with_targets(robot: Robot, contacts: Sequence[Constraint]) -> Plan:
    planned = plan(robot, contacts)
    for contact in planned.contacts:
        if not contact.has_target:
            raise InputError(
                f"contact {contact.name!r} has no target to bring it to; give target=, or use "
                "contact.satisfied_at(robot, q), whose target is its pose at q"
            )
    return planned
