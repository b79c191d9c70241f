"""Estimate of the ground from the poses of the soles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from kinodyn.arrays import Array
from kinodyn.model.state import State
from kinodyn.sim.common import cross
from kinodyn.walking.biped import Biped
from kinodyn.walking.footsteps import Footstep, inclined
from kinodyn.walking.settings import GaitSettings


@dataclass(frozen=True)
class GroundEstimate:
    """The ground near the robot.

    Attributes
    ----------
    soles : dict of side -> (4, 4)
        Measured T_world_sole.
    gradient : tuple of 2 floats
        Rise of the ground along x and y.
    velocities : dict of side -> (6,)
        Measured velocities of the soles that roll over an edge, linear first, in world axes.
    """

    soles: dict[str, Array]
    gradient: tuple[float, float]
    velocities: dict[str, Array] = field(default_factory=dict)

    def height(self, side: str, x: float, y: float) -> float:
        """Extrapolate the height [m] of the ground at a position from one foot."""
        T, (a, b) = self.soles[side], self.gradient
        return float(T[2, 3] + a * (x - T[0, 3]) + b * (y - T[1, 3]))

    def mean_height(self, x: float, y: float, standing: Iterable[str]) -> float:
        """Return the mean over the standing feet of the height [m] of the ground at a position."""
        heights = [self.height(side, x, y) for side in standing]
        return sum(heights) / len(heights)

    def sole_pose(self, step: Footstep, stance: Footstep) -> Array:
        """Place a footstep on the ground extrapolated from the stance foot: T_world_sole (4, 4)."""
        T = step.pose
        T[2, 3] = self.height(stance.side, step.x, step.y) + step.z - stance.z
        return inclined(T, self.gradient)


class GroundEstimator:
    """Estimates the slope of the ground from the sole that stands alone, by a first-order low-pass filter."""

    def __init__(self, body: Biped, settings: GaitSettings, dt: float) -> None:
        self.body, self.settings = body, settings
        self._gain = dt / settings.slope_time_constant
        self._gradient = (0.0, 0.0)

    def update(self, state: State, stance: str | None, rolling: Iterable[str] = ()) -> GroundEstimate:
        """Take one measurement.

        `stance` is the side of a settled foot that stands alone, if there is one; `rolling` are the sides of those that
        roll over an edge.
        """
        soles = {side: state.pose(foot.frame) @ foot.T_frame_sole for side, foot in self.body.feet.items()}
        if stance is not None:
            x, y, z = soles[stance][:3, 2].tolist()
            a, b = self._gradient
            self._gradient = a + self._gain * (self._clip(-x / z) - a), b + self._gain * (self._clip(-y / z) - b)
        return GroundEstimate(soles, self._gradient, {side: self._velocity(state, side) for side in rolling})

    def _velocity(self, state: State, side: str) -> Array:
        """Compute the velocity (6,) of a sole, in world axes."""
        foot = self.body.feet[side]
        twist = state.jacobian(foot.frame) @ state.v
        arm = state.pose(foot.frame)[:3, :3] @ foot.T_frame_sole[:3, 3]
        twist[:3] += cross(twist[3:], arm)
        return np.asarray(twist)

    def _clip(self, rise: float) -> float:
        return min(max(rise, -self.settings.max_slope), self.settings.max_slope)
