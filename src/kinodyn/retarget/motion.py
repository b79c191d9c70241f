"""Motions: positions of named points of a human over time, as read from a file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, items, reals
from kinodyn.display import displayed
from kinodyn.errors import InputError

MAX_FRAMES = 10**7  # of a motion that is sampled again


@check_types
@displayed
@dataclass(frozen=True, eq=False)
class Motion:
    """Positions of named joints or markers over time, in the axes and units of their file.

    Attributes
    ----------
    names : tuple of str
        Joints or markers, all different.
    parents : tuple of int
        Index of the parent of each joint, -1 for a root and for markers.
    positions : (frames, joints, 3)
        In the units of the file; NaN where a marker was not seen.
    rate : float
        Frames per second [Hz].
    source : str
        Name of the file, or what else the motion comes from.
    units : float, optional
        Metres per unit where the file states it; None to detect it.
    notes : tuple of str
        What was assumed where the file does not state it.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    positions: Array
    rate: float
    source: str = "motion"
    units: float | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = tuple(self.names)
        parents = tuple(integer("parents", parent, least=-1) for parent in items("parents", self.parents, "indices"))
        positions = reals("positions", self.positions)
        if positions.ndim != 3 or positions.shape[1:] != (len(names), 3):
            raise InputError(
                f"{self.source}: positions must be (frames, {len(names)}, 3) for {len(names)} names, "
                f"got {positions.shape}"
            )
        if len(positions) < 2:
            raise InputError(f"{self.source}: a motion needs at least two frames, got {len(positions)}")
        if len(parents) != len(names) or any(not -1 <= parent < k for k, parent in enumerate(parents)):
            raise InputError(f"{self.source}: parents must be {len(names)} indices, each before its child, or -1")
        if len(set(names)) < len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise InputError(f"{self.source}: names must be different, got {', '.join(twice)} more than once")
        if not (np.isfinite(self.rate) and self.rate > 0):
            raise InputError(f"{self.source}: the rate must be positive [Hz], got {self.rate!r}")
        for name, value in (("names", names), ("parents", parents), ("positions", positions)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def duration(self) -> float:
        """Time from the first to the last frame [s]."""
        return (len(self) - 1) / self.rate

    def __repr__(self) -> str:
        return f"Motion({self.source!r}, {len(self.names)} points, {len(self)} frames at {self.rate:g} Hz)"


def step_of(file_rate: float, rate: float | None) -> int:
    """Find every how many frames a motion is sampled: 1 unless the file's rate is a multiple of `rate`.

    Parameters
    ----------
    file_rate
        Of the file [Hz].
    rate
        That is asked for [Hz]; None for all frames.

    Returns
    -------
    int
    """
    if rate is None or rate <= 0:
        return 1
    step = round(file_rate / rate)
    return step if step > 1 and abs(file_rate / rate - step) < 1e-3 * step else 1
