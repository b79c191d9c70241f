"""Back onto what constraints allow: configurations in which loops close, velocities that keep them so.

Simulation drifts off the constraints by a little at every step. Each Newton step solves J dq = -error with the dq that
is shortest in the metric of the mass matrix, so that light parts give way to heavy ones.

E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", 1996, section VII.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.dynamics.contact.constraints import Constraint, Plan, plan
from kinodyn.dynamics.contact.dynamics import impact
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot


class Projection(NamedTuple):
    """A configuration that was moved onto the constraints, as far as that could be done.

    q : (..., nq)
        Where the constraints hold if `success`, else the best that was found.
    success : (...) bool
        Is the error within the tolerance?
    error : (...)
        The greatest error that is left [m or rad], of `constraint_error`.
    iterations : (...) int
        Newton steps that were taken.
    """

    q: Array
    success: NDArray[np.bool_]
    error: Array
    iterations: NDArray[np.int_]


def constraint_error(robot: Robot, q: ArrayLike, contacts: Sequence[Constraint]) -> Array:
    """Compute how far every kept direction is from where it belongs (..., rows), in the order of `contact.jacobian`.

    Lengths [m] along x, y and z; for the rotation 2 sin(angle / 2) about each axis, which is the angle [rad] for small
    ones. A contact needs a target: `contact.held(robot, q)` gives it the place where it is.
    """
    planned = _with_places(robot, contacts)
    return _core.constraint_error(robot, q, planned.records, planned.poses)


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
    error would grow. From near by it takes two or three steps.

    Parameters
    ----------
    robot
    q : (..., nq)
        Configurations to start from.
    contacts
        Loops, and contacts with a target.
    fixed
        Indices in v of the coordinates that stay as they are, such as the crank of a linkage.
    tolerance
        Largest error [m or rad] of a success.
    iterations
        Largest number of Newton steps.

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
    planned = _with_places(robot, contacts)
    settings = _settings(tolerance, iterations, robot.nv, tuple(fixed))
    found = _core.project(robot, q, *settings, planned.records, planned.poses)
    return Projection(
        q=found.q, success=found.error <= tolerance, error=found.error, iterations=found.iterations.astype(int)
    )


def project_velocity(robot: Robot, q: ArrayLike, v: ArrayLike, contacts: Sequence[Constraint]) -> Array:
    """Take from velocities (..., nv) what moves the constraints, the least in the metric of the mass matrix.

    The same as after an impact without restitution: it takes kinetic energy, and never adds any.
    """
    return impact(robot, q, v, contacts)[0]


@lru_cache(maxsize=16)
def _settings(tolerance: float, iterations: int, nv: int, fixed: tuple[int, ...]) -> tuple[Array, Array, Array]:
    if not 0 < tolerance < np.inf or iterations < 0:
        raise InputError(f"tolerance must be above 0 and iterations not below, got {tolerance!r} and {iterations!r}")
    if not all(isinstance(k, int | np.integer) and 0 <= k < nv for k in fixed):
        raise InputError(f"fixed is {fixed!r}; give indices in v, from 0 to {nv - 1}")
    is_fixed = np.zeros(nv)
    is_fixed[list(fixed)] = 1.0
    return np.array(tolerance, dtype=float), np.array(iterations, dtype=float), is_fixed


def _with_places(robot: Robot, contacts: Sequence[Constraint]) -> Plan:
    planned = plan(robot, contacts)
    for contact in planned.contacts:
        if not contact.has_place:
            raise InputError(
                f"contact {contact.name!r} has no target, so that there is no place to bring it to; give target=, or "
                "take contact.held(robot, q), which has the place where it is at q"
            )
    return planned
