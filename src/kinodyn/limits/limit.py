"""The base classes of limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import list_of, nonnegative, numbers, positive
from kinodyn.display import displayed
from kinodyn.limits.bounds import JointBounds
from kinodyn.model.robot import Robot
from kinodyn.tasks.rows import Rows

AT_LIMIT = 1e-6  # distance within which a joint counts as at its limit [rad or m]


@dataclass(frozen=True, eq=False)
class Reaction:
    """A generalised force (nv,) with which something opposes motion, up to a factor, nonnegative or of either sign."""

    name: str
    force: Array
    either_sign: bool = False


@dataclass
class LimitedMotion:
    """A motion x (nv,) from q (nq,), from which limits determine where they are active.

    `dt` [s] is the duration of the step; None: the robot is at rest. `at_bound` (nv,) is 1 at a lower bound, -1 at an
    upper one. `explained` collects the v indices that a limit has already named.
    """

    robot: Robot
    q: Array
    x: Array
    dt: float | None = None
    at_bound: Array | None = None
    explained: set[int] = field(default_factory=set)

    def columns(self) -> Iterator[tuple[str, int, int | None]]:
        """Yield the joint, v index and, for one-DoF joints, q index of coordinates that no limit has named yet."""
        for joint in self.robot.joints:
            if joint.mimic is None:
                indices = range(*joint.v.indices(self.robot.nv))
                for k in indices:
                    if k not in self.explained:
                        yield joint.name, k, joint.q.start if len(indices) == 1 else None

    def stop(self, joint: str, k: int, side: int, kind: str) -> Reaction:
        """Return the reaction of a joint's limit; side 1: lower, -1: upper."""
        self.explained.add(k)
        force = np.zeros(self.robot.nv)
        force[k] = -side
        return Reaction(f"{joint} at its {'lower' if side > 0 else 'upper'} {kind} limit", force)


@displayed
class Limit:
    """Base class of limits, which have priority over tasks.

    A limit narrows the joint bounds (`narrow`), or adds rows J x <= margin (`RowLimit`). It tells solvers
    whether a configuration satisfies it, and which named reactions it exerts on a motion.
    """

    name: str
    order: ClassVar[int] = 0  # order in which limits explain why a joint stops

    def check_velocity_level(self) -> None:
        """Raise if the limit is not defined at the velocity level of inverse kinematics."""

    def check_acceleration_level(self) -> None:
        """Raise if the limit is not defined for accelerations and torques."""

    def narrow(self, robot: Robot, bounds: JointBounds) -> None:
        """Narrow the joint bounds.

        Parameters
        ----------
        robot
        bounds
            Joint bounds, narrowed in place.
        """

    @check_types
    def satisfied(self, robot: Robot, q: Array, tolerance: float) -> NDArray[np.bool_]:
        """Return whether configurations (..., nq) satisfy the limit within a tolerance [m, rad].

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).
        tolerance
            Accepted violation [m, rad].

        Returns
        -------
        NDArray[np.bool_]
            Whether each configuration (...) satisfies the limit.
        """
        nonnegative("tolerance", tolerance)
        return np.ones(numbers("q", q, robot.nq).shape[:-1], dtype=bool)

    def reactions(self, motion: LimitedMotion) -> list[Reaction]:
        """Return the reactions of the limit to a motion that reaches it.

        Parameters
        ----------
        motion
            The motion.

        Returns
        -------
        list[Reaction]
            Reactions, with the names that appear in conflicts.
        """
        return []


class MagnitudeLimit(Limit, ABC):
    """Base class of limits on the magnitude of a quantity of each joint."""

    @abstractmethod
    def bounds(self, robot: Robot) -> Array:
        """Return the largest magnitudes (nv,); 1e30 where there is no limit.

        Parameters
        ----------
        robot

        Returns
        -------
        Array
            The limits (nv,).
        """


class RowLimit(Limit, Rows):
    """A limit that adds rows: margins (..., rows) that must stay nonnegative.

    Attributes
    ----------
    priority : int
        In inverse kinematics the limit precedes tasks of the same priority, and follows those with a smaller number. In
        `InverseDynamicsQP` all limits precede all tasks.
    braking : float
        At the acceleration level: available deceleration of the margin [unit/s^2].
    enabled : bool
        Whether it is active; can be switched at any time.
    """

    inequality = True
    required = True
    named_by_state: ClassVar[bool] = False  # whether the names of rows depend on the state
    braking: float

    def __init__(self, name: str, priority: int, braking: float) -> None:
        self._begin(name, priority)
        self.braking = positive(f"braking of {name!r}", braking)

    def settings(self, robot: Robot) -> dict[str, Any]:
        return {"enabled": float(self.enabled), "braking": self.braking, **self.own_settings()}

    def own_settings(self) -> dict[str, Any]:
        """Return the fields that are specific to this kind of limit."""
        return {}

    def margins(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the margins (..., rows); negative beyond the limit.

        Parameters
        ----------
        robot
        q
            Configurations (..., nq).

        Returns
        -------
        Array
            Margins (..., rows).
        """
        return self.error(robot, q)

    def satisfied(self, robot: Robot, q: Array, tolerance: float) -> NDArray[np.bool_]:
        q, within = numbers("q", q, robot.nq), nonnegative("tolerance", tolerance)
        if not self.enabled:
            return super().satisfied(robot, q, within)
        return np.asarray((self.margins(robot, q) >= -within).all(axis=-1))

    def remaining(self, robot: Robot, q: Array, x: Array, dt: float) -> tuple[Array, Array]:
        J = self.jacobian(robot, q)
        after = self.margins(robot, q) - J @ x
        reached = after < AT_LIMIT
        return J[reached], np.minimum(after[reached], 0.0)

    def row_names(self, robot: Robot, q: Array | None = None, v: Array | None = None) -> list[str]:
        """Name each row.

        Parameters
        ----------
        robot
        q, v
            State (nq,), (nv,), for rows that depend on it.

        Returns
        -------
        list[str]
            One name for each row.
        """
        return [self.name] * self.row_count(robot)


def checked_limits(limits: Sequence[Limit]) -> tuple[Limit, ...]:
    """Return limits as a tuple, or raise InputError if they are something else."""
    return list_of("limits", limits, Limit, "limits")
