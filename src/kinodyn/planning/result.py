"""The result of planning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.model.robot import Robot

Status = Literal["solved", "start_in_collision", "goal_in_collision", "out_of_reach", "no_path", "interrupted"]


@dataclass(frozen=True, eq=False)
class Plan:
    """A path that is free of collision, or the reason why there is none.

    Attributes
    ----------
    robot : Robot
    status : str
        "solved"; "start_in_collision", "goal_in_collision"; "out_of_reach": inverse kinematics found no configuration
        for the goal; "no_path": none was found within the budget; "interrupted": stopped by Ctrl-C.
    message : str
        What happened, in a sentence: which parts touch, which target is out of reach.
    path : (n, nq) array
        Vertices; the motion between them is straight in joint space. Empty if there is none.
    group : tuple of str
        Names of the joints that move.
    world : WorldSnapshot
        The world in which it was planned.
    planning_time, simplification_time : float
        Of the search, failed attempts included, and of shortening the path [s].
    iterations : int
        Samples of the planner.
    """

    robot: Robot
    status: Status
    message: str
    path: Array
    group: tuple[str, ...]
    world: WorldSnapshot
    planning_time: float = 0.0
    simplification_time: float = 0.0
    iterations: int = 0

    @property
    def success(self) -> bool:
        """Whether a path was found."""
        return self.status == "solved"

    @property
    def length(self) -> float:
        """Length of the path, L2 norm in joint space [rad or m]; 0 without one."""
        return float(np.linalg.norm(np.diff(self.path, axis=0), axis=1).sum()) if len(self.path) else 0.0

    def __repr__(self) -> str:
        found = f", {len(self.path)} vertices, length {self.length:.3g}" if self.success else f": {self.message}"
        return f"Plan({self.status}{found}, {1e3 * (self.planning_time + self.simplification_time):.3g} ms)"
