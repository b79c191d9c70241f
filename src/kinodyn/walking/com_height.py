"""Height of the CoM over steps: the longer they are, the lower the hips, so that both legs reach the ground."""

from __future__ import annotations

from math import cos, sin, sqrt

from kinodyn.walking.biped import Biped
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.phases import Phase

ASYMMETRY = 1.15  # at touchdown the hips are not yet in the middle of a step: part of it on the longer side, times two


class ComHeight:
    """Computes by how much the CoM is lower than in the stance.

    Parameters
    ----------
    body
        The biped.
    max_leg_extension
        Longest leg in a step, as a fraction of the straight leg.
    """

    def __init__(self, body: Biped, max_leg_extension: float) -> None:
        self._hip, self._leg, self._width = body.hip_height, max_leg_extension * body.leg, body.width

    def drop(self, one: Footstep, other: Footstep) -> float:
        """Return the drop [m] at which legs reach two feet, with the hips in between.

        A leg of length L whose hip is h above its ankle reaches sqrt(L^2 - h^2) along the ground.
        """
        left, right = (one, other) if one.side == "left" else (other, one)
        yaw = 0.5 * (left.yaw + right.yaw)
        dx = left.x - right.x + sin(yaw) * self._width
        dy = left.y - right.y - cos(yaw) * self._width
        return self.drop_for(dx, dy)

    def drop_for(self, dx: float, dy: float) -> float:
        """Return the drop [m] for feet that are displaced by dx, dy [m] against their stance."""
        reach = 0.25 * ASYMMETRY**2 * (dx * dx + dy * dy)
        return max(0.0, self._hip - sqrt(max(self._leg**2 - reach, 0.0)))

    def in_phase(self, phase: Phase) -> float:
        """Return the drop [m] in a phase: that of the longer of its steps."""
        feet = list(phase.feet.values())
        if phase.swing is None:
            return self.drop(feet[0], feet[1])
        before = 0.0 if phase.lifted is None else self.drop(feet[0], phase.lifted)
        return max(before, self.drop(feet[0], phase.swing))
