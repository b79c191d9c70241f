"""Touchdowns that differ from the plan: early and late ones, and feet that catch on an edge."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.sim import Observation
from kinodyn.walking.biped import Biped
from kinodyn.walking.planner import Planner


class TouchdownMonitor:
    """Compares the forces on the foot in the air with the plan, and changes the planned steps.

    Parameters
    ----------
    body, planner
    dt
        Control period [s].
    """

    def __init__(self, body: Biped, planner: Planner, dt: float) -> None:
        self.body, self.planner, self.settings, self.dt = body, planner, planner.settings, dt
        self._lateness = 0.0  # [s] by which the touchdown of the foot in the air has been delayed

    def landed(self) -> None:
        """Report that the foot in the air has begun to stand."""
        self._lateness = 0.0

    def update(self, observation: Observation) -> bool:
        """Start the stance of a foot that bears load early; lower one that finds no ground in time.

        Parameters
        ----------
        observation

        Returns
        -------
        bool
            Whether the planned steps have changed.
        """
        t, planner, settings = observation.time, self.planner, self.settings
        phase = planner.schedule.at(t)
        swing, remaining = phase.swing, phase.end - t
        if observation.forces is None or swing is None:
            return False
        foot = self.body.feet[swing.side]
        wrench = observation.forces.get(foot.frame)
        if remaining > settings.early_touchdown_fraction * phase.length:
            if wrench is not None and self._held_up(t, swing.side, wrench):
                planner.stumble(t, swing.side, foot.sole_pose(self.body.robot, observation.state.q), wrench[:2])
            return False
        if wrench is not None and float(wrench[2]) > settings.touchdown_load * self.body.weight:
            return planner.touchdown(t, swing.side, foot.sole_pose(self.body.robot, observation.state.q))
        late = remaining < 1.5 * self.dt
        if not late:
            return False
        if self._lateness >= settings.late_touchdown_fraction * settings.single_support:  # it stands where it is
            return planner.touchdown(t, swing.side, foot.sole_pose(self.body.robot, observation.state.q))
        self._descend(t)
        return True

    def _held_up(self, t: float, side: str, wrench: Array) -> bool:
        """Return whether something other than friction holds up a foot in the air."""
        load, (fx, fy) = self.settings.touchdown_load * self.body.weight, wrench[:2].tolist()
        if float(np.hypot(fx, fy)) <= load + max(float(wrench[2]), 0.0):
            return False
        vx, vy = self.planner.reference(t).feet[side].velocity[:2].tolist()
        return bool(fx * vx + fy * vy < 0.0)

    def _descend(self, t: float) -> None:
        """Delay the touchdown; until `descent_speed` is reached, the foot accelerates downwards as in free fall."""
        delay = self.settings.descent_interval
        before, after = self._descent_speed(self._lateness), self._descent_speed(self._lateness + delay)
        self._lateness += delay
        self.planner.delay(t, delay, lower=0.5 * (before + after) * delay, descent_speed=after)

    def _descent_speed(self, lateness: float) -> float:
        """Return the speed [m/s] of a foot that should have landed `lateness` seconds ago."""
        return min(lateness * self.body.weight / self.body.robot.mass, self.settings.descent_speed)
