"""The ground that a plan assumes: level, estimated from the soles, or that of a terrain map."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.walking.biped import Biped
from kinodyn.walking.com_height import ComHeight
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.ground_estimate import GroundEstimate
from kinodyn.walking.phases import Phase
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.swing import SwingTrajectory
from kinodyn.walking.terrain_plan import TerrainPlan


class PlannedGround:
    """Poses of soles, swings and heights of the CoM over the ground.

    Attributes
    ----------
    terrain : TerrainPlan or None
        The plan over terrain that is followed; its map then gives heights and inclinations.
    estimate : GroundEstimate or None
        The ground near the robot, estimated from its soles. Without it, the ground is as planned.
    """

    def __init__(self, body: Biped, settings: GaitSettings) -> None:
        self.settings = settings
        self.terrain: TerrainPlan | None = None
        self.estimate: GroundEstimate | None = None
        self._com_height, self._drop = body.com_height, ComHeight(body, settings.max_leg_extension)
        self._outlines = {side: foot.corners for side, foot in body.feet.items()}

    def landing_pose(self, step: Footstep, phase: Phase) -> Array:
        """Compute the pose T_world_sole (4, 4) in which the swing foot of a phase lands on a footstep."""
        stance = next(iter(phase.feet.values()))
        if self.terrain is not None:
            T = step.pose
            T[2, 3] += self.map_offset(phase)
            return T
        return step.pose if self.estimate is None else self.estimate.sole_pose(step, stance)

    def plan_swing(self, phase: Phase) -> SwingTrajectory:
        """Plan the motion of the swing foot of a phase, from its measured pose if there is one."""
        step = phase.swing
        assert step is not None and phase.lifted is not None
        start = phase.lifted.pose if self.estimate is None else self.estimate.soles[step.side]
        target = self.landing_pose(step, phase)
        if self.terrain is not None:
            return self.terrain.swings.plan(step.side, start, target, phase.start, phase.end, self.map_offset(phase))
        return SwingTrajectory(
            start,
            target,
            phase.start,
            phase.end,
            height=self.settings.swing_height,
            vertical_fraction=self.settings.vertical_fraction,
            descent_speed=self.settings.touchdown_speed,
            velocity=None if self.estimate is None else self.estimate.velocities.get(step.side),
        )

    def com_height(self, x: float, y: float, phase: Phase, t: float) -> tuple[float, float, float]:
        """Return height [m], velocity and acceleration of a CoM at x, y [m]."""
        if self.terrain is not None:
            z, vz, az = self.terrain.posture.com_height(phase, t)
            return z + self.map_offset(phase), vz, az
        return self._com_height - self._drop.in_phase(phase) + self._height_below(x, y, phase), 0.0, 0.0

    def trunk_angles(self, phase: Phase) -> Array:
        """Return roll, pitch and yaw (3,) of the trunk relative to the heading in a phase [rad]."""
        return np.zeros(3) if self.terrain is None else self.terrain.posture.trunk_angles(phase)

    def map_offset(self, phase: Phase) -> float:
        """Return by how much the standing feet are higher than the map says, at their lowest points [m]."""
        if self.estimate is None:
            return 0.0
        offsets = [self._above_map(side, foot) for side, foot in phase.feet.items()]
        return sum(offsets) / len(offsets)

    def _above_map(self, side: str, foot: Footstep) -> float:
        """Return by how much a standing foot is higher than planned [m], where it touches: it may roll."""
        assert self.estimate is not None
        T, (a, b) = self.estimate.soles[side], foot.gradient
        rise = T[2, :2] - a * T[0, :2] - b * T[1, :2]  # of the sole relative to the ground, along its axes
        tilt = float((self._outlines[side] @ rise).min())
        return float(T[2, 3]) - foot.z - a * float(T[0, 3] - foot.x) - b * float(T[1, 3] - foot.y) + tilt

    def _height_below(self, x: float, y: float, phase: Phase) -> float:
        """Return the height [m] of the ground below the CoM."""
        if self.estimate is None:
            return sum(foot.z for foot in phase.feet.values()) / len(phase.feet)
        return self.estimate.mean_height(x, y, phase.feet)
