"""References of the whole body at a time: feet, CoM and heading, from the contact schedule and the pendulum."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.walking.biped import SIDES
from kinodyn.walking.footsteps import Footstep, yaw_near
from kinodyn.walking.lipm_trajectory import LIPMTrajectory
from kinodyn.walking.phases import Phase
from kinodyn.walking.planned_ground import PlannedGround
from kinodyn.walking.reference import FootReference, Reference
from kinodyn.walking.swing import SwingTrajectory

# of the swing of a foot that was held up, as a multiple of the usual height and as parts of its time
STUMBLE_HEIGHT, STUMBLE_VERTICAL, STUMBLE_APEX = 1.5, (0.3, 0.05), 0.4


class ReferenceGenerator:
    """Computes references; keeps the swing trajectory of the foot in the air.

    Attributes
    ----------
    planned_touchdown : float
        Planned touchdown of the foot in the air [s].
    """

    def __init__(self, ground: PlannedGround) -> None:
        self.ground = ground
        self.planned_touchdown = np.inf
        self._swings: dict[int, SwingTrajectory] = {}  # number of the step -> its swing; at most one

    def swing(self, phase: Phase) -> SwingTrajectory:
        """Return the swing trajectory of a single support, made at its first use."""
        swing = self._swings.get(phase.step)
        if swing is None:
            swing = self.ground.plan_swing(phase)
            self._swings, self.planned_touchdown = {phase.step: swing}, phase.end
        return swing

    def retarget_swing(self, t: float, phase: Phase, step: Footstep, end: float, descent_speed: float) -> None:
        """Change where and when [s] the foot in the air lands, and its downward speed at touchdown [m/s]."""
        self.swing(phase).retarget(t, self.ground.landing_pose(step, phase), end, descent_speed=descent_speed)

    def lift_higher(self, t: float, phase: Phase, T_start: Array) -> None:
        """Continue a swing from another pose T_world_sole (4, 4): up first, then higher than planned to its end."""
        assert phase.swing is not None
        settings = self.ground.settings
        self._swings[phase.step] = SwingTrajectory(
            T_start,
            self.ground.landing_pose(phase.swing, phase),
            t,
            phase.end,
            height=STUMBLE_HEIGHT * settings.swing_height,
            vertical_fraction=STUMBLE_VERTICAL,
            apex_fraction=STUMBLE_APEX,
            descent_speed=settings.touchdown_speed,
        )

    def reference(self, t: float, phase: Phase, pendulum: LIPMTrajectory) -> Reference:
        """Compute the references at a time [s] in a phase."""
        feet = {side: self._foot(t, side, phase) for side in SIDES}
        x, y, vx, vy, ax, ay, dx, dy, zx, zy = pendulum.floats(t)
        left, right = feet["left"], feet["right"]
        z, vz, az = self.ground.com_height(x, y, phase, t)
        rate = 0.5 * (left.velocity[5] + right.velocity[5])
        acceleration = 0.5 * (left.acceleration[5] + right.acceleration[5])
        return Reference(
            com=np.array([x, y, z]),
            com_velocity=np.array([vx, vy, vz]),
            com_acceleration=np.array([ax, ay, az]),
            dcm=np.array([dx, dy]),
            zmp=np.array([zx, zy]),
            feet=feet,
            heading=_heading(feet, phase),
            heading_rate=float(rate),
            heading_acceleration=float(acceleration),
            phase=phase,
            remaining=phase.end - t,
        )

    def _foot(self, t: float, side: str, phase: Phase) -> FootReference:
        if side in phase.feet:
            still: Array = np.zeros(6)
            return FootReference(phase.feet[side].pose, still, still, True)
        return FootReference(*self.swing(phase).at(t), False)


def _heading(feet: dict[str, FootReference], phase: Phase) -> float:
    """Return the mean yaw of the feet, continuous over full turns."""
    standing = [foot.yaw for foot in phase.feet.values()]
    if phase.swing is None:
        return 0.5 * (standing[0] + standing[1])
    return 0.5 * (standing[0] + yaw_near(feet[phase.swing.side].pose, standing[0]))
