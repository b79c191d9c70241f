"""Posture over terrain: height of the CoM, and orientation of the trunk."""

from __future__ import annotations

from math import cos, sqrt

import numpy as np

from kinodyn.arrays import Array
from kinodyn.walking.biped import Biped
from kinodyn.walking.com_height import ComHeight
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.phases import Phase
from kinodyn.walking.settings import GaitSettings

UNEVEN = 0.05  # [m] height of a step up from which on legs are stretched
STRETCH = 0.7  # by which they are, as a fraction of the difference from the longest leg
FLAT_RISE = 0.06  # of the leg: on higher steps up the heel of the foot behind lifts
HEEL_SHARE, HEEL_RISE = 0.7, 0.35  # of what is higher, and of the sole, by which it raises the CoM
LATEST_ROLL = 0.6  # part of a double support after which the foot behind lifts its heel, at the latest
LEAN, MAX_LEAN = 1.5, 0.35  # [rad] inclination of the trunk for each leg of height, and the largest
LEAN_DOWN, MAX_LEAN_DOWN = 2.6, 0.6  # the same on steps down
HIGH_DROP = 0.13  # of the leg: on higher steps down the ankle of the foot behind comes near its limit
TWIST, MAX_TWIST = 4.8, 0.45  # [rad] by which the pelvis turns towards the lower foot, for each leg beyond HIGH_DROP
TILT, MAX_TILT = 2.1, 0.2  # [rad] by which it drops on that side
HIGH_DROP_TIME = 3.2  # double support of such a step, in time constants of the pendulum: the CoM lands further back
LEAN_ARM = 0.25  # of the leg, by which the hips move back for each radian of it
DESCENT_START = 0.4  # part of a single support after which the CoM descends: first the swing foot passes the other leg
QUINTIC_PEAK = 5.77  # largest acceleration of a quintic from rest to rest, in distances per squared duration
RISING_ACCELERATION = 0.1  # of gravity, with which the CoM rises and falls in a phase


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
        self._level = ComHeight(body, settings.max_leg_extension)
        self._stretch = STRETCH * max(settings.max_leg_extension * body.leg - body.hip_height, 0.0)
        self._heel = HEEL_RISE * float(min(foot.size[0] for foot in body.feet.values()))

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
            begin = DESCENT_START * length
        length -= begin
        s = min(max((t - phase.start - begin) / length, 0.0), 1.0)
        return (
            before + change * _smooth(s),
            change / length * 30.0 * s * s * (1.0 - s) ** 2,
            change / length**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
        )

    def double_support_time(self, lifted: Footstep, stance: Footstep) -> float:
        """Return the least duration [s] of the double support before a foot lifts off."""
        if lifted.z - stance.z > HIGH_DROP * self.body.leg:
            return HIGH_DROP_TIME / self.body.omega
        ahead = np.array([np.cos(lifted.yaw), np.sin(lifted.yaw)])
        middle, last = (float(self.body.feet[foot.side].middle[0]) for foot in (lifted, stance))
        begin = self._roll_part(lifted, middle, last + float((stance.position - lifted.position) @ ahead))
        return self._time_for(self._heel_rise(lifted, stance)) / (1.0 - begin)

    def single_support_time(self, lifted: Footstep, stance: Footstep, step: Footstep) -> float:
        """Return the least duration [s] of a swing."""
        change = self._over(stance, step) - self._at_lift_off(lifted, stance)
        return self._time_for(change) / (1.0 if change >= 0.0 else 1.0 - DESCENT_START)

    def lowest_in_step(self, lifted: Footstep, stance: Footstep, step: Footstep) -> tuple[float, float]:
        """Return the least height [m] of the CoM above the foot that stands alone, and the lean of the trunk [rad]."""
        lowest = min(self._at_lift_off(lifted, stance), self._over(stance, step)) - stance.z
        rise = max((step.z - stance.z, stance.z - lifted.z), key=abs)
        return lowest, self._lean(rise) if abs(rise) > UNEVEN else 0.0

    def _time_for(self, change: float) -> float:
        """Return the time [s] in which the CoM rises or falls without a large acceleration."""
        gravity = float(np.linalg.norm(self.body.robot.gravity))
        return sqrt(QUINTIC_PEAK * abs(change) / (RISING_ACCELERATION * gravity))

    def trunk_angles(self, phase: Phase) -> Array:
        """Compute roll, pitch and yaw (3,) of the trunk relative to the heading in a phase [rad].

        The trunk leans forward, the more the higher the steps are. On high steps down the pelvis turns and drops
        towards the foot that reaches down: the ankle of the other one bends less.
        """
        feet = list(phase.feet.values())
        first, last = feet[0], phase.swing or feet[-1]
        heights = [foot.z for foot in (first, last, phase.lifted or first)]
        rise = max(heights) - min(heights) if last.z >= first.z else last.z - first.z  # down as `_over` assumes
        lean = self._lean(rise) if abs(rise) > UNEVEN else 0.0
        turn, drop = self._pelvis(first, last)
        side = 1.0 if last.side == "right" else -1.0
        return np.array([side * drop, lean, side * turn])

    def _pelvis(self, stance: Footstep, step: Footstep) -> tuple[float, float]:
        """Return by how much the pelvis turns and drops towards a foot that reaches down [rad]."""
        if any(foot.free for foot in self.body.feet.values()) or step.relative_to(stance)[0] <= 0.0:
            return 0.0, 0.0
        drop = max((stance.z - step.z) / self.body.leg - HIGH_DROP, 0.0)
        return min(TWIST * drop, MAX_TWIST), min(TILT * drop, MAX_TILT)

    def _at_lift_off(self, lifted: Footstep, stance: Footstep) -> float:
        """Return the height [m] of the CoM when a foot leaves the ground: on a step up its heel has raised it."""
        return self._over(lifted, stance) + self._heel_rise(lifted, stance)

    def _over(self, old: Footstep, new: Footstep) -> float:
        """Return the height at which both legs reach their feet; on a step up they are stretched further."""
        rise = new.z - old.z
        drop = 0.0 if old is new else self._level.drop(old, new)
        if abs(rise) > UNEVEN:  # hips are higher under a trunk that leans
            drop += LEAN_ARM * self.body.leg * (1.0 - cos(self._lean(rise)))
        stretched = min(max(rise / UNEVEN, 0.0), 1.0) * self._stretch
        return min(old.z, new.z) + self.body.com_height - drop + stretched

    def _lean(self, rise: float) -> float:
        """Return how far the trunk leans forward on a step up or down [rad]."""
        slope, largest = (LEAN, MAX_LEAN) if rise >= 0.0 else (LEAN_DOWN, MAX_LEAN_DOWN)
        return min(slope * abs(rise) / self.body.leg, largest)

    def _heel_rise(self, old: Footstep, new: Footstep) -> float:
        """Return by how much the CoM rises while the heel of the lower foot behind lifts."""
        return min(max(HEEL_SHARE * (new.z - old.z - FLAT_RISE * self.body.leg), 0.0), self._heel)

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
        return min(max((self._front(foot) - first) / (last - first), 0.0), LATEST_ROLL) if last > first else 0.0


def _smooth(s: float) -> float:
    """Rise from 0 to 1 without velocity and acceleration at both ends."""
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
