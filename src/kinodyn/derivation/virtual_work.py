"""Virtual work: the torques of mechanisms with loops, in independent coordinates.

Constraints J v = 0 leave the motions v = G u, with u the rates of some independent coordinates. For each of them the
virtual work of all forces, inertial forces included, is zero, and constraint forces do no work (d'Alembert):
G^T (inertial forces and weight of the links) = forces at the independent coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.checks import integer, items, numbers
from kinodyn.derivation.newton_euler import project, projected_newton_euler
from kinodyn.display import displayed
from kinodyn.dynamics import Wrenches, contact
from kinodyn.errors import InputError, SingularError
from kinodyn.model.robot import Robot, require_robot

# loops and contacts, or a function (q, v) -> (J (..., k, nv), Jdot v (..., k)) of a constraint J v = 0
Constraints = Sequence[contact.Constraint] | Callable[[Array, Array], tuple[Array, Array]]
_RANK_TOLERANCE = 1e-9  # singular values below this fraction of the greatest count as zero


@displayed
class VirtualWork(NamedTuple):
    """The motion of a constrained robot and the forces that it needs.

    Attributes
    ----------
    tau : (..., f) array
        Forces at the independent coordinates; nothing acts at the others.
    multipliers : (..., k) array
        Constraint forces, those of least norm if rows are dependent: the generalised forces of the tree are tau at the
        independent coordinates plus J^T multipliers.
    v, a : (..., nv) arrays
        Velocity and acceleration of all coordinates.
    G : (..., nv, f) array
        v = G u.
    """

    tau: Array
    multipliers: Array
    v: Array
    a: Array
    G: Array


@check_types
def virtual_work(
    robot: Robot,
    q: ArrayLike,
    u: ArrayLike,
    u_rate: ArrayLike,
    constraints: Constraints,
    *,
    independent: Sequence[int],
    wrenches: Wrenches | None = None,
) -> VirtualWork:
    """Compute the forces at the independent coordinates of a constrained robot that give their acceleration.

    Parameters
    ----------
    robot
        The spanning tree, in which loops are cut open.
    q : (..., nq)
        Configuration that satisfies the constraints; `contact.project` finds one.
    u, u_rate : (..., f)
        Rates and accelerations of the independent coordinates.
    constraints
        A list of `contact.Loop` and `contact.Contact`, or a function (q, v) -> (J (..., k, nv), Jdot v (..., k)). Rows
        may be linearly dependent.
    independent
        Indices in v of the f independent coordinates, as many as the constraints leave free.
    wrenches
        External wrenches, frame -> (..., 6) [N, N m].

    Returns
    -------
    VirtualWork

    Raises
    ------
    SingularError
        Where the independent coordinates do not determine the motion, as at a dead centre.
    """
    q, u, u_rate, places = _checked(robot, q, u, u_rate, independent)
    G, v, drift, J = _motion(robot, q, u, constraints, places)
    a = matvec(G, u_rate) + drift
    forces = projected_newton_euler(robot, q, v, a, wrenches)
    tau = project(G, forces)
    rest = forces.copy()
    rest[..., places] -= tau
    multipliers = matvec(_pseudo_inverse(np.swapaxes(J, -2, -1)), rest)
    return VirtualWork(tau, multipliers, v, a, G)


@check_types
def reduced_dynamics(
    robot: Robot, q: ArrayLike, u: ArrayLike, constraints: Constraints, *, independent: Sequence[int]
) -> tuple[Array, Array]:
    """Compute the equation of motion in independent coordinates, Mr u' + hr = tau.

    Mr = G^T M G and hr = G^T (h + M G' u): the dynamics in the null space of the constraints.

    Parameters
    ----------
    robot, q, u, constraints, independent
        As for `virtual_work`.

    Returns
    -------
    Mr : (..., f, f)
    hr : (..., f)
    """
    independent = items("independent", independent, "indices")
    q, u, _, places = _checked(robot, q, u, np.zeros(len(independent)), independent)
    G, v, drift, _ = _motion(robot, q, u, constraints, places)
    M = np.swapaxes(G, -2, -1) @ dynamics.mass_matrix(robot, q) @ G
    return M, project(G, projected_newton_euler(robot, q, v, drift))


def _motion(
    robot: Robot, q: Array, u: Array, constraints: Constraints, places: list[int]
) -> tuple[Array, Array, Array, Array]:
    """Find G and J, v = G u, and the acceleration G' u at u' = 0."""
    J, _ = _rows(robot, constraints, q, np.zeros(robot.nv))
    rest = [j for j in range(robot.nv) if j not in places]
    inverse = _inverse(J[..., rest], J.shape[-2])
    G = np.zeros((*J.shape[:-2], robot.nv, len(places)))
    G[..., places, range(len(places))] = 1.0
    G[..., rest, :] = -inverse @ J[..., places]
    _check_motions(J, G)
    v = matvec(G, u)
    _, bias = _rows(robot, constraints, np.broadcast_to(q, (*v.shape[:-1], robot.nq)), v)
    drift = np.zeros_like(v)
    drift[..., rest] = -matvec(inverse, bias)
    return G, v, drift, J


def _inverse(J_rest: Array, rows: int) -> Array:
    """Invert the columns of the dependent coordinates, which must have full rank."""
    dependent = J_rest.shape[-1]
    if dependent == 0:
        return np.zeros((*J_rest.shape[:-2], 0, rows))
    if rows == 0:
        raise InputError(
            f"{dependent} coordinates are neither independent nor constrained; name them or add constraints"
        )
    values = np.linalg.svd(J_rest, compute_uv=False)
    if rows < dependent or (values[..., -1] <= _RANK_TOLERANCE * values[..., 0]).any():
        raise SingularError(
            f"the constraints do not determine the {dependent} dependent coordinates here; choose others as independent"
        )
    return _pseudo_inverse(J_rest)


def _pseudo_inverse(matrix: Array) -> Array:
    return np.asarray(np.linalg.pinv(matrix, rcond=_RANK_TOLERANCE), dtype=float)


def _check_motions(J: Array, G: Array) -> None:
    broken = np.abs(J @ G).max(initial=0.0)
    if broken > 1e-6 * max(1.0, float(np.abs(J).max(initial=0.0))):
        raise InputError(
            f"the constraints allow fewer motions than {G.shape[-1]}, the number of independent coordinates "
            f"(J G is {broken:.1e}); give fewer, and a q that satisfies the constraints"
        )


def _rows(robot: Robot, constraints: Constraints, q: Array, v: Array) -> tuple[Array, Array]:
    """Return J and Jdot v."""
    if not callable(constraints):
        if not constraints:
            batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
            return np.zeros((*batch, 0, robot.nv)), np.zeros((*batch, 0))
        return contact.jacobian(robot, q, constraints), contact.drift(robot, q, v, constraints)
    J, bias = (np.asarray(part, dtype=float) for part in constraints(q, v))
    if J.ndim < 2 or J.shape[-1] != robot.nv or bias.ndim < 1 or bias.shape[-1] != J.shape[-2]:
        raise InputError(
            f"the constraint gave the shapes {J.shape} and {bias.shape}; "
            f"allowed are (..., k, {robot.nv}) for J and (..., k) for Jdot v"
        )
    if not (np.isfinite(J).all() and np.isfinite(bias).all()):
        raise InputError("the constraint gave numbers that are not finite")
    return J, bias


def _checked(
    robot: Robot, q: ArrayLike, u: ArrayLike, u_rate: ArrayLike, independent: Sequence[int]
) -> tuple[Array, Array, Array, list[int]]:
    require_robot(robot)
    places = [integer(f"independent[{k}]", j) for k, j in enumerate(items("independent", independent, "indices"))]
    if len(set(places)) != len(places) or not all(0 <= j < robot.nv for j in places):
        raise InputError(f"independent must be different indices in v, from 0 to {robot.nv - 1}, got {independent!r}")
    u, u_rate = numbers("u", u, len(places)), numbers("u_rate", u_rate, len(places))
    dynamics.gravity(robot, q)  # raises unless q is a configuration
    return np.asarray(q, dtype=float), u, u_rate, places
