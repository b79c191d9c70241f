"""Settings of the planner."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.checks import integer, positive
from kinodyn.display import displayed
from kinodyn.layouts import layout


@check_types
@displayed
@dataclass(frozen=True)
class PlannerSettings:
    """Settings of RRT-Connect and of the simplification of paths.

    Attributes
    ----------
    range : float, optional
        Longest edge of a tree, L2 norm over the joints [rad or m]; by default 0.28 times the root of their number.
    edge_step : float
        Maximum motion of points of the robot between the checks of an edge [m]. Final paths are checked continuously.
    resolution : float
        A motion is divided for continuous checks until points of the robot move less than this [m].
    domain_radius, domain_growth, domain_min : float
        Dynamic domain of a node whose extension has failed: radius [rad or m], relative change with each success or
        failure, smallest radius.
    shortcut_failures : int
        Attempts in a row without success that end the search for shortcuts.
    corner_rounds : int
        How often all corners of a path are cut.
    rounds : int, optional
        Rounds of the anytime planner; by default as many as there is time for. With a number, and time for it, the
        result does not depend on the speed of the machine.
    """

    range: float | None = None
    edge_step: float = 0.1
    resolution: float = 2e-4
    domain_radius: float = 4.0
    domain_growth: float = 1e-4
    domain_min: float = 1.0
    shortcut_failures: int = 17
    corner_rounds: int = 1
    rounds: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("shortcut_failures", "corner_rounds", "rounds") and value is not None:
                integer(field.name, value, 0, 2**31 - 1)
            elif value is not None:
                positive(field.name, value)


@lru_cache(maxsize=64)
def settings_record(settings: PlannerSettings, dofs: int, finer: float = 1.0) -> np.ndarray:
    """Return the record of the core for a number of joints, with edges checked at `finer` steps."""
    record = np.zeros(1, dtype=layout("planner"))
    for field in fields(settings):
        if field.name not in ("range", "rounds"):
            record[field.name] = getattr(settings, field.name)
    record["range"] = 0.28 * math.sqrt(dofs) if settings.range is None else settings.range
    record["edge_step"] /= finer
    record.flags.writeable = False
    return record
