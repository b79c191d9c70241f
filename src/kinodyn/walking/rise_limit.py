"""After a push the body must not rise: the foot that swings would not reach the ground in time.

Where the centre of pressure is at the edge of the foot, inverse dynamics can turn the trunk back upright only with more
vertical force: balance along the ground and the trunk outrank the height of the CoM. On the G1 that was twice the
weight, for 60 ms, and the hips were 5 cm too high for the next step.
"""

from __future__ import annotations

from kinodyn.walking.biped import Biped
from kinodyn.walking.settings import GaitSettings

RISE = 0.01  # of the leg, by which the CoM may be higher than its reference
RISE_TIME = 0.35  # in which it may get there, as a multiple of the time constant of the pendulum
LEAST_LOAD = 0.8  # of the weight, which the limit always allows: it lets the body sink, and not fall


class RiseLimit:
    """Limits the normal force on a foot after a push so that the CoM does not rise beyond its reference.

    With an upward acceleration a, the CoM that is z below its limit and moves upward at v gets there in a time T for
    a = 2 (z - v T) / T^2; more is not allowed.

    Parameters
    ----------
    body, settings
    """

    def __init__(self, body: Biped, settings: GaitSettings) -> None:
        self._rise, self._max_load = RISE * body.leg, settings.max_load
        self._time, self._gravity = RISE_TIME / body.omega, body.weight / body.robot.mass

    def __call__(self, below: float, velocity: float) -> float:
        """Compute the largest normal force on a foot.

        Parameters
        ----------
        below
            By how much the CoM is lower than its reference [m].
        velocity
            Upward velocity of the CoM [m/s].

        Returns
        -------
        float
            As a multiple of the weight.
        """
        acceleration = 2.0 * (below + self._rise - velocity * self._time) / self._time**2
        return min(max(1.0 + acceleration / self._gravity, LEAST_LOAD), self._max_load)
