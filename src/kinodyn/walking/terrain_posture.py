"""Posture over terrain: height of the CoM, and orientation of the trunk."""

from __future__ import annotations

from math import cos, sqrt

import numpy as np

from kinodyn.arrays import Array
from kinodyn.walking.biped import Biped
from kinodyn.walking.com_height import ComHeight
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.phases import Phase
from kinodyn.walking.quintic import PEAK_ACCELERATION
from kinodyn.walking.settings import GaitSettings


class TerrainPosture:
    """Computes how high the CoM is on steps up and down, how far the trunk leans, and how far the pelvis turns.

    Leaning forward moves the hips back under the same CoM: knees bear less, and ankles bend less.

    Parameters
    ----------
    body
        The biped.
    settings
        Of the gait.
    """

    def __init__(self, body: Biped, settings: GaitSettings) -> None:
        self.body = body
        self.settings = own = settings.terrain
        self._level = ComHeight(body, settings.max_leg_extension)
        self._stretch = own.leg_stretch * max(settings.max_leg_extension * body.leg - body.hip_height, 0.0)
        self._heel = own.max_heel_rise * float(min(foot.size[0] for foot in body.feet.values()))

    def com_height(self, phase: Phase, t: float) -> tuple[float, float, float]:
        """Compute height [m], velocity and acceleration of the CoM above the origin of the map.

        At each change of support it is so high that both legs reach their feet; in between it moves smoothly.
        """
        feet, length = list(phase.feet.values()), phase.length
        if phase.swing is not None:
            lifted = phase.lifted or feet[0]
            before, after = self._at_lift_off(lifted, feet[0]), self._over(feet[0], phase.swing)
        elif phase.kind == "double":
            before, after = self._over(*feet), self._at_lift_off(*feet)
        else:
            return self._over(*feet), 0.0, 0.0
        change, begin = after - before, 0.0
        if phase.kind == "double" and change > 0.0:
            begin = self._roll_start(phase) * length
        elif phase.kind == "single" and change < 0.0:
            begin = self.settings.descent_start * length
        length -= begin
        s = min(max((t - phase.start - begin) / length, 0.0), 1.0)
        return (
            before + change * _smooth(s),
            change / length * 30.0 * s * s * (1.0 - s) ** 2,
            change / length**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
        )

    def double_support_time(self, lifted: Footstep, stance: Footstep) -> float:
        """Return the least duration [s] of the double support before a foot lifts off."""
        if lifted.z - stance.z > self.settings.high_drop * self.body.leg:
            return self.settings.high_drop_time / self.body.omega
        ahead = np.array([np.cos(lifted.yaw), np.sin(lifted.yaw)])
        middle, last = (float(self.body.feet[foot.side].middle[0]) for foot in (lifted, stance))
        begin = self._roll_part(lifted, middle, last + float((stance.position - lifted.position) @ ahead))
        return self._time_for(self.heel_rise(lifted, stance)) / (1.0 - begin)

    def single_support_time(self, lifted: Footstep, stance: Footstep, step: Footstep) -> float:
        """Return the least duration [s] of a swing."""
        change = self._over(stance, step) - self._at_lift_off(lifted, stance)
        return self._time_for(change) / (1.0 if change >= 0.0 else 1.0 - self.settings.descent_start)

    def lowest_in_step(self, lifted: Footstep, stance: Footstep, step: Footstep) -> tuple[float, float]:
        """Return the least height [m] of the CoM above the foot that stands alone, and the lean of the trunk [rad]."""
        lowest = min(self._at_lift_off(lifted, stance), self._over(stance, step)) - stance.z
        rise = max((step.z - stance.z, stance.z - lifted.z), key=abs)
        return lowest, self._lean(rise) if abs(rise) > self.settings.uneven_step else 0.0

    def _time_for(self, change: float) -> float:
        """Return the time [s] in which the CoM rises or falls without a large acceleration."""
        gravity = float(np.linalg.norm(self.body.robot.gravity))
        return sqrt(PEAK_ACCELERATION * abs(change) / (self.settings.rise_acceleration * gravity))

    def trunk_angles(self, phase: Phase) -> Array:
        """Compute roll, pitch and yaw (3,) of the trunk relative to the heading in a phase [rad].

        The trunk leans forward, the more the higher the steps are. On high steps down the pelvis turns and drops
        towards the foot that reaches down: the ankle of the other one bends less.
        """
        feet = list(phase.feet.values())
        first, last = feet[0], phase.swing or feet[-1]
        heights = [foot.z for foot in (first, last, phase.lifted or first)]
        rise = max(heights) - min(heights) if last.z >= first.z else last.z - first.z  # down as `_over` assumes
        lean = self._lean(rise) if abs(rise) > self.settings.uneven_step else 0.0
        turn, drop = self._pelvis(first, last)
        side = 1.0 if last.side == "right" else -1.0
        return np.array([side * drop, lean, side * turn])

    def _pelvis(self, stance: Footstep, step: Footstep) -> tuple[float, float]:
        """Return by how much the pelvis turns and drops towards a foot that reaches down [rad]."""
        if any(foot.free for foot in self.body.feet.values()) or step.relative_to(stance)[0] <= 0.0:
            return 0.0, 0.0
        own = self.settings
        drop = max((stance.z - step.z) / self.body.leg - own.high_drop, 0.0)
        return min(own.pelvis_turn * drop, own.max_pelvis_turn), min(own.pelvis_drop * drop, own.max_pelvis_drop)

    def _at_lift_off(self, lifted: Footstep, stance: Footstep) -> float:
        """Return the height [m] of the CoM when a foot leaves the ground: on a step up its heel has raised it."""
        return self._over(lifted, stance) + self.heel_rise(lifted, stance)

    def _over(self, old: Footstep, new: Footstep) -> float:
        """Return the height at which both legs reach their feet; on a step up they are stretched further."""
        rise = new.z - old.z
        drop = 0.0 if old is new else self._level.drop(old, new)
        if abs(rise) > self.settings.uneven_step:  # hips are higher under a trunk that leans
            drop += self.settings.lean_arm * self.body.leg * (1.0 - cos(self._lean(rise)))
        stretched = min(max(rise / self.settings.uneven_step, 0.0), 1.0) * self._stretch
        return min(old.z, new.z) + self.body.com_height - drop + stretched

    def _lean(self, rise: float) -> float:
        """Return how far the trunk leans forward on a step up or down [rad]."""
        own = self.settings
        slope, largest = (own.lean_up, own.max_lean_up) if rise >= 0.0 else (own.lean_down, own.max_lean_down)
        return min(slope * abs(rise) / self.body.leg, largest)

    def heel_rise(self, old: Footstep, new: Footstep) -> float:
        """Return by how much the CoM rises [m] while the heel of the lower foot behind lifts."""
        own = self.settings
        return min(max(own.heel_rise_gain * (new.z - old.z - own.heel_rise_start * self.body.leg), 0.0), self._heel)

    def _front(self, step: Footstep) -> float:
        """Return the distance [m] from the ankle to the front of the part of a sole that the ground bears."""
        outline = self.body.feet[step.side].corners if step.support is None else np.array(step.support)
        return float(outline[:, 0].max())

    def _roll_start(self, phase: Phase) -> float:
        """Return the part of a double support after which the ZMP has left the foot behind, so that it can roll."""
        foot = next(iter(phase.feet.values()))
        ahead = np.array([np.cos(foot.yaw), np.sin(foot.yaw)])
        first, last = (float((zmp - foot.position) @ ahead) for zmp in phase.zmp)
        return self._roll_part(foot, first, last)

    def _roll_part(self, foot: Footstep, first: float, last: float) -> float:
        """Return the fraction of the path of a ZMP, from `first` to `last` ahead of a foot [m], up to its front."""
        latest = self.settings.latest_heel_lift
        return min(max((self._front(foot) - first) / (last - first), 0.0), latest) if last > first else 0.0


def _smooth(s: float) -> float:
    """Rise from 0 to 1 without velocity and acceleration at both ends."""
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
