"""The ground as the feet feel it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array
from kinodyn.walking.footsteps import Footstep


@dataclass(frozen=True)
class Ground:
    """Where the soles (4, 4) really are, by side, and how the ground rises along x and y."""

    soles: dict[str, Array]
    gradient: tuple[float, float]

    def height(self, side: str, x: float, y: float) -> float:
        """Tell how high [m] it is at a place, as it goes on from a foot."""
        T, (a, b) = self.soles[side], self.gradient
        return float(T[2, 3] + a * (x - T[0, 3]) + b * (y - T[1, 3]))

    def below(self, x: float, y: float, standing: Iterable[str]) -> float:
        """Tell how high [m] it is at a place, in the mean over the feet that stand."""
        heights = [self.height(side, x, y) for side in standing]
        return sum(heights) / len(heights)

    def landing(self, step: Footstep, stance: Footstep) -> Array:
        """Put a footstep on it as it goes on from the foot that stands: T_world_sole (4, 4)."""
        T, (a, b) = step.pose, self.gradient
        T[2, 3] = self.height(stance.side, step.x, step.y) + step.z - stance.z
        up = np.array([-a, -b, 1.0]) / np.sqrt(1.0 + a * a + b * b)
        along = T[:3, 0] - (T[:3, 0] @ up) * up
        T[:3, 0] = along / np.linalg.norm(along)
        T[:3, 2] = up
        T[:3, 1] = np.cross(up, T[:3, 0])
        return T
