"""What each task of a whole-body motion still wants, and the forces with which limits and other tasks oppose it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.limits import ComLimit
from kinodyn.tasks import MomentumTask, Task

if TYPE_CHECKING:
    from kinodyn.ik.whole_body import WholeBody

AT_LIMIT = 1e-6  # rad or m from a position limit that count as being there
AT_EDGE = 1e-6  # m from an edge of the support polygon


@dataclass(frozen=True, eq=False)
class Wish:
    """What a task or a limit of balance still wants: rows J (k, nv), weighted, and what they miss (k,).

    `rank` is its place in the order of priorities. Rows of a limit are the edges that are reached; those that are not
    passed miss nothing.
    """

    name: str
    rank: tuple[int, bool]
    J: Array
    rest: Array
    required: bool
    is_limit: bool


@dataclass(frozen=True, eq=False)
class Force:
    """A force (nv,) on the joints that something can oppose to a pull, with a factor from 0 on or of either sign."""

    name: str
    direction: Array
    either_sign: bool = False


def all_wishes(solver: WholeBody, q: Array, x: Array, dt: float) -> list[Wish]:
    """Collect what is still wanted after the motion x (nv,) from q."""
    result = []
    for rank, entry in solver._order:
        if isinstance(entry, ComLimit):
            J, rest = _edges(solver, entry, q, x)
            result.append(Wish(entry.name, rank, J, rest, True, True))
        else:
            J, rest = _rows(solver, entry, q, x, dt)
            result.append(Wish(entry.name, rank, J, rest, entry.required, False))
    return result


def opponents(wish: Wish, wishes: list[Wish]) -> list[Force]:
    """List the forces of tasks and limits of balance that come before a wish, or are weighed against it."""
    result = []
    for other in wishes:
        if other.rank < wish.rank:
            result += [Force(other.name, row, not other.is_limit) for row in other.J]
        elif other.rank == wish.rank and other is not wish and np.linalg.norm(other.rest) > 1e-9:
            result.append(Force(other.name, -(other.J.T @ other.rest)))
    return result


def joint_stops(solver: WholeBody, q: Array, x: Array, held: Array | None, dt: float | None) -> list[Force]:
    """List the forces of joint limits that the motion x reaches; rates are limited in steps only."""
    result = []
    for joint in solver.robot.joints:
        if joint.mimic is not None:
            continue
        columns = range(*joint.v.indices(solver.robot.nv))
        for k in columns:
            side, kind = (0, "") if len(columns) > 1 else _at_position(solver, q[joint.q][0] + x[k], joint.q.start)
            if side == 0 and dt is not None and held is not None:
                side, kind = _at_rate(solver, k, x[k], held[k], dt)
            if side != 0:
                direction = np.zeros(solver.robot.nv)
                direction[k] = -side
                result.append(Force(f"{joint.name} at its {'lower' if side > 0 else 'upper'} {kind} limit", direction))
    return result


def unhurried(x: Array) -> list[Force]:
    """Return the force of damping, which nobody is to blame for: it opposes any motion."""
    return [Force("", x)] if x.any() else []


def _at_position(solver: WholeBody, after: float, k: int) -> tuple[int, str]:
    if after <= solver._lower[k] + AT_LIMIT:
        return 1, "position"
    return (-1 if after >= solver._upper[k] - AT_LIMIT else 0), "position"


def _at_rate(solver: WholeBody, k: int, way: float, held: float, dt: float) -> tuple[int, str]:
    if abs(way) >= solver._fastest[k] * dt * (1 - 1e-9):
        return (1 if way < 0 else -1), "velocity"
    return int(held), "acceleration"


def _rows(solver: WholeBody, task: Task, q: Array, x: Array, dt: float) -> tuple[Array, Array]:
    robot = solver.robot
    weights = task.row_weights(robot)
    J = weights[:, None] * task.jacobian(robot, q)
    share = dt if isinstance(task, MomentumTask) else task.gain
    return J, weights * task.error(robot, q) * share - J @ x


def _edges(solver: WholeBody, limit: ComLimit, q: Array, x: Array) -> tuple[Array, Array]:
    """Return the rows of the edges that the centre of mass reaches, and how far it must come back."""
    J = limit.edges[:, :3] @ kinematics.com_jacobian(solver.robot, q)
    beyond = limit.edges[:, :3] @ kinematics.com(solver.robot, q) - limit.edges[:, 3] + J @ x
    reached = beyond > -AT_EDGE
    return J[reached], -np.maximum(beyond[reached], 0.0)
