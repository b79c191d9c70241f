"""Correction of the commanded velocity by the measured one: integral controllers with one value for each touchdown.

Steps that are adapted, feet that land early and models with errors shift the mean speed of a walk by a few percent. The
planned velocity is scaled until the measured one is as commanded.
"""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.walking.footsteps import Footstep, wrap

GAIN = 0.2  # of the relative error of a stride, that the next one is corrected by
SPEED_RANGE, TURN_RANGE = (0.65, 1.2), (0.95, 1.05)  # of the factors on speed and turn
OUTLIER = 0.5  # relative error of a stride beyond which it says nothing about the mean: the robot was pushed


class SpeedCorrection:
    """Factors on the commanded velocity, along the ground and of the turn, from the strides of each foot.

    Attributes
    ----------
    factor, turn_factor : float
        1 until strides at the commanded velocity have been measured.
    """

    def __init__(self) -> None:
        self.factor = self.turn_factor = 1.0
        self._landed: dict[str, tuple[float, Footstep]] = {}

    def reset(self) -> None:
        """Forget everything, after a new command."""
        self.factor = self.turn_factor = 1.0
        self.clear_strides()

    def clear_strides(self) -> None:
        """Begin a new stride at the next touchdown."""
        self._landed.clear()

    def observe(self, t: float, step: Footstep, velocity: Array) -> None:
        """Take a touchdown into account.

        Parameters
        ----------
        t
            [s]
        step
            Where the foot has landed.
        velocity
            Commanded velocity (3,): forward, lateral [m/s], turn [rad/s].
        """
        before = self._landed.get(step.side)
        self._landed[step.side] = t, step
        if before is None or t <= before[0]:
            return
        since, earlier = before
        speed, turn = float(np.hypot(*velocity[:2])), float(velocity[2]) * (t - since)
        if abs(turn) > 0.0:
            self.turn_factor = _corrected(self.turn_factor, wrap(step.yaw - earlier.yaw) / turn, TURN_RANGE)
        if speed == 0.0:
            return
        heading = earlier.yaw + 0.5 * turn  # that of the chord of an arc
        c, s = np.cos(heading), np.sin(heading)
        along = np.array([c * velocity[0] - s * velocity[1], s * velocity[0] + c * velocity[1]]) / speed
        stride = float((step.position - earlier.position) @ along)
        self.factor = _corrected(self.factor, stride / (speed * (t - since)), SPEED_RANGE)


def _corrected(factor: float, measured: float, allowed: tuple[float, float]) -> float:
    """Correct a factor by a stride, `measured` times as long as commanded."""
    error = 1.0 - measured
    return min(max(factor + GAIN * error, allowed[0]), allowed[1]) if abs(error) < OUTLIER else factor
