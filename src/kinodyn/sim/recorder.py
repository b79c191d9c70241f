"""Collects the rows of a recording during a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.recording import Recording


class Recorder:
    """The rows so far. A signal that starts late or pauses is NaN where it is missing."""

    def __init__(self, robot: Robot, terrain: Mapping[str, Array]) -> None:
        self._robot, self._terrain = robot, terrain
        self._rows: list[tuple[float, Array, Array, Array]] = []
        self._forces: dict[str, dict[int, Array]] = {}
        self._signals: dict[str, dict[int, Array]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self, t: float, q: Array, v: Array, tau: Array, forces: Mapping[str, Array], signals: Mapping[str, ArrayLike]
    ) -> None:
        """Append a row; arrays are copied, because simulators reuse their memory."""
        row = len(self._rows)
        for frame, force in forces.items():
            self._forces.setdefault(frame, {})[row] = np.array(force, dtype=float)
        for name, value in signals.items():
            self._signals.setdefault(name, {})[row] = np.array(value, dtype=float)
        self._rows.append((t, q.copy(), v.copy(), tau.copy()))  # last: an interrupted row does not count

    def recording(self, status: Any, reason: str) -> Recording:
        """Assemble the recording."""
        time, q, v, tau = (np.stack(part) for part in zip(*self._rows, strict=True))
        forces = {frame: self._column(rows, 0.0) for frame, rows in self._forces.items()}
        return Recording.from_robot(
            self._robot,
            time,
            q,
            v,
            tau,
            contacts={frame: (force != 0.0).any(axis=-1) for frame, force in forces.items()},
            forces=forces,
            signals={name: self._column(rows, np.nan) for name, rows in self._signals.items()},
            terrain=self._terrain,
            status=status,
            reason=reason,
        )

    def _column(self, rows: dict[int, Array], missing: float) -> Array:
        column = np.full((len(self._rows), *next(iter(rows.values())).shape), missing)
        for row, value in rows.items():
            if row < len(column):
                column[row] = value
        return column
