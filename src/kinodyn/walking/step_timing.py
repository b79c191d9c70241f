"""Durations of steps, derived from the velocity: a faster walk first takes longer steps, then quicker ones."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.walking.footsteps import StepTiming
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.step_limits import StepLimits


class GaitTiming:
    """Chooses the durations of steps.

    At low velocities steps have the durations of the settings and grow with the velocity. When they have the length
    `settings.comfortable_step` they become quicker instead, and when they are as quick as the settings allow they grow
    again, up to the limits.

    Attributes
    ----------
    slow, fast : StepTiming
        Durations of the slowest and of the quickest steps.
    max_velocity : (3,)
        Largest velocities: forward, lateral [m/s], turning [rad/s].
    """

    def __init__(self, settings: GaitSettings, limits: StepLimits) -> None:
        self.slow = StepTiming(settings.double_support, settings.single_support)
        self.fast = StepTiming(
            min(settings.fast_double_support, settings.double_support),
            min(settings.fast_single_support, settings.single_support),
        )
        self._limits = limits
        self._comfortable = limits.scaled(min(1.0, settings.comfortable_step / limits.forward))
        self.max_velocity: Array = limits.max_velocity(self.fast.step_time)
        self._cached = lru_cache(maxsize=256)(self._choose)

    def at_velocity(self, velocity: ArrayLike) -> StepTiming:
        """Return the durations of steps at a velocity (3,): forward, lateral [m/s], turn [rad/s]."""
        x, y, turn = velocity if isinstance(velocity, tuple) else np.asarray(velocity, dtype=float).tolist()
        return self._cached(x, y, turn)

    def check(self, velocity: ArrayLike) -> Array:
        """Check a velocity (3,); one beyond the limits raises InputError with the limit."""
        return self._limits.check(velocity, self.fast.step_time)

    def _choose(self, x: float, y: float, turn: float) -> StepTiming:
        slow, fast = self.slow, self.fast
        if slow.step_time <= fast.step_time:
            return fast
        fraction = self._comfortable.feasible_fraction(np.array([x, y, turn]) * slow.step_time)
        s = min((1.0 - fraction) * slow.step_time / (slow.step_time - fast.step_time), 1.0)
        return StepTiming(slow.double + s * (fast.double - slow.double), slow.single + s * (fast.single - slow.single))
