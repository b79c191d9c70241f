"""Conflicts in whole-body motion: tasks that are not met, and the limits and tasks that prevent it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.limits.limit import Limit, LimitedMotion, Reaction
from kinodyn.tasks.rows import Rows

MIN_REACTION = 0.02  # smallest fraction of a task's pull that a reaction must balance to be named
MET_TOLERANCE = 1e-6  # weighted residual [m or rad] below which a task counts as met

Rank = tuple[int, bool]


@displayed
@dataclass(frozen=True)
class Conflict:
    """A task, or a limit with rows, that is not met, and the limits and tasks that prevent it.

    Attributes
    ----------
    task : str
        Name of the task or limit.
    missing : float
        Weighted residual [m or rad].
    against : tuple of str
        Names of limits ("left_elbow at its upper position limit", "balance") and of tasks of higher or equal priority;
        empty if no motion of the robot would reduce the residual.
    """

    task: str
    missing: float
    against: tuple[str, ...]

    def __str__(self) -> str:
        reason = " and ".join(self.against) if self.against else "no motion brings it nearer"
        return f"{self.task} is {self.missing:.3g} short: {reason}"


@dataclass(frozen=True, eq=False)
class Demand:
    """Weighted rows J (k, nv) that are not satisfied, their residuals (k,), and names (k) if they have their own.

    `rank` orders them by priority.
    """

    rank: Rank
    source: Rows
    J: Array
    missing: Array
    names: Sequence[str] = ()

    @property
    def title(self) -> str:
        """Name of the rows, or of the one with the largest residual."""
        return self.names[int(np.abs(self.missing).argmax())] if self.names else self.source.name


def find_conflicts(
    order: Sequence[tuple[Rank, Rows]], limits: Sequence[Limit], motion: LimitedMotion
) -> tuple[Conflict, ...]:
    """Explain the residual of each task, and of each limit with rows, after a motion.

    The pull of a task on the joints is J^T times its residual. Whatever balances it opposes the task: reactions of
    limits, which can only push back, and of tasks of higher or equal priority. Their shares are the solution of a
    least-squares problem with these sign constraints.
    """
    dt = 1.0 if motion.dt is None else motion.dt
    demands = [
        Demand(
            rank,
            source,
            *source.remaining(motion.robot, motion.q, motion.x, dt),
            source.remaining_names(motion.robot, motion.q, motion.x, dt),
        )
        for rank, source in order
        if source.enabled
    ]
    stops = [stop for limit in sorted(limits, key=lambda limit: limit.order) for stop in limit.reactions(motion)]
    result = []
    for demand in demands:
        missing = float(np.linalg.norm(demand.missing))
        if missing <= MET_TOLERANCE or not demand.source.required:
            continue
        pull = demand.J.T @ demand.missing
        if np.linalg.norm(pull) <= MET_TOLERANCE * missing:
            result.append(Conflict(demand.title, missing, ()))
            continue
        against = _shares(pull, [*stops, *_competitors(demand, demands), *_damping(motion.x)])
        if against:
            result.append(Conflict(demand.title, missing, against))
    return tuple(result)


def _competitors(demand: Demand, demands: list[Demand]) -> list[Reaction]:
    """List the reactions of the tasks and limits with rows of higher or equal priority than a demand."""
    result = []
    for other in demands:
        name = other.source.name
        if other.rank < demand.rank:
            names = other.names or [name] * len(other.J)
            either = not other.source.inequality
            result += [Reaction(own, row, either) for own, row in zip(names, other.J, strict=True)]
        elif other.rank == demand.rank and other is not demand and np.linalg.norm(other.missing) > 1e-9:
            result.append(Reaction(name, -(other.J.T @ other.missing)))
    return result


def _damping(x: Array) -> list[Reaction]:
    """Return the reaction of damping, which opposes any motion and has no name."""
    return [Reaction("", x)] if x.any() else []


def _shares(pull: Array, reactions: list[Reaction]) -> tuple[str, ...]:
    """Name the reactions that balance a notable fraction of the pull, largest first."""
    reactions = [reaction for reaction in reactions if reaction.force.any()]
    if not reactions:
        return ()
    columns = np.array([reaction.force / np.linalg.norm(reaction.force) for reaction in reactions]).T
    lower = np.where([reaction.either_sign for reaction in reactions], -np.inf, 0.0)
    share = lsq_linear(columns, pull / np.linalg.norm(pull), bounds=(lower, np.inf), method="bvls").x
    total: dict[str, Array] = {}
    for reaction, part in zip(reactions, (share * columns).T, strict=True):
        total[reaction.name] = total.get(reaction.name, np.zeros(len(pull))) + part
    sizes = {name: float(np.linalg.norm(part)) for name, part in total.items() if name}
    return tuple(name for name in sorted(sizes, key=lambda name: -sizes[name]) if sizes[name] > MIN_REACTION)
