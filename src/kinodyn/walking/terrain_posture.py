"""Posture over terrain: height of the CoM, inclination of the trunk, and feet that stand on their toes."""

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
STRETCH = 0.7  # part of the way to the longest leg by which they are
FLAT_RISE = 0.06  # of the leg: on higher steps up the heel of the foot behind lifts
HEEL_SHARE, HEEL_RISE = 0.7, 0.35  # of what is higher, and of the sole, by which it raises the CoM
FLAT_DROP = 0.13  # of the leg: feet of higher steps down land on their toes
MAX_LANDING_PITCH = 0.5  # sine of the largest inclination of a foot that lands on its toes
HEEL_DOWN = 0.65  # part of a double support after which the heel of such a foot stands
LATEST_ROLL = 0.6  # part of a double support after which the foot behind lifts its heel, at the latest
LEAN, MAX_LEAN = 1.5, 0.35  # [rad] inclination of the trunk for each leg of height, and the largest
LEAN_ARM = 0.25  # of the leg, by which the hips move back for each radian of it
TOUCHDOWN = 0.1  # part of the way from foot to foot at which the CoM is at touchdown
QUINTIC_PEAK = 5.77  # largest acceleration of a quintic from rest to rest, in distances per squared duration
RISING_ACCELERATION = 0.1  # of gravity, with which the CoM rises and falls in a phase


class TerrainPosture:
    """Computes how high the CoM is on steps up and down, how far the trunk leans, and how feet roll.

    Leaning forward moves the hips back under the same CoM: knees bear less, and ankles bend less.

    Parameters
    ----------
    body
        The biped.
    settings
        Of the gait.
    """

    def __init__(self, body: Biped, settings: GaitSettings) -> None:
        self.body, self._longest = body, settings.max_leg_extension * body.leg
        self._level = ComHeight(body, settings.max_leg_extension)
        self._stretch = STRETCH * max(self._longest - body.hip_height, 0.0)
        self._heel = HEEL_RISE * float(min(foot.size[0] for foot in body.feet.values()))

    def com_height(self, phase: Phase, t: float) -> tuple[float, float, float]:
        """Compute height [m], velocity and acceleration of the CoM above the origin of the map.

        At each change of support it is so high that both legs reach their feet; in between it moves smoothly.
        """
        feet, length = list(phase.feet.values()), phase.length
        if phase.swing is not None:
            lifted = phase.lifted or feet[0]
            before, after = self.lift_off_height(lifted, feet[0]), self.touchdown_height(feet[0], phase.swing)
        elif phase.kind == "double":
            before, after = self.touchdown_height(*feet), self.lift_off_height(*feet)
        else:
            after = self._over(*feet)
            before = self.touchdown_height(*feet) if phase.kind == "stop" else after
        if not np.isfinite(length):
            return after, 0.0, 0.0
        change, begin = after - before, 0.0
        if phase.kind == "double" and change > 0.0:
            begin = self._roll_start(phase) * length
        elif phase.kind == "double":
            length *= HEEL_DOWN
        length -= begin
        s = min(max((t - phase.start - begin) / length, 0.0), 1.0)
        return (
            before + change * _smooth(s),
            change / length * 30.0 * s * s * (1.0 - s) ** 2,
            change / length**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
        )

    def lift_off_height(self, lifted: Footstep, stance: Footstep) -> float:
        """Return the height [m] of the CoM when a foot leaves the ground: on a step up its heel has raised it."""
        return self._over(lifted, stance) + self._heel_rise(lifted, stance)

    def touchdown_height(self, stance: Footstep, step: Footstep) -> float:
        """Return the height [m] of the CoM when a foot lands, at which its leg reaches it."""
        usual, rise = self._over(stance, step), self._landing_rise(stance, step)
        if rise == 0.0:
            return usual
        body, ahead = self.body, np.array([np.cos(stance.yaw), np.sin(stance.yaw)])
        first, last = (foot.position + body.feet[foot.side].middle[0] * ahead for foot in (stance, step))
        hips = first + TOUCHDOWN * (last - first) - LEAN_ARM * body.leg * self._lean(stance.z - step.z) * ahead
        toes = self._front(step)
        forward = toes * (1.0 - sqrt(1.0 - (rise / toes) ** 2))  # of an ankle above toes that touch the ground
        far = float((step.position - hips) @ ahead) + forward
        reach = sqrt(max(self._longest**2 - far * far, 0.0))
        return rise + min(usual, step.z + body.com_height - body.hip_height + reach)

    def double_support_time(self, lifted: Footstep, stance: Footstep) -> float:
        """Return the least duration [s] of the double support before a foot lifts off."""
        change = self.lift_off_height(lifted, stance) - self.touchdown_height(lifted, stance)
        if change <= 0.0:
            return self._time_for(change) / HEEL_DOWN
        ahead = np.array([np.cos(lifted.yaw), np.sin(lifted.yaw)])
        middle, last = (float(self.body.feet[foot.side].middle[0]) for foot in (lifted, stance))
        return self._time_for(change) / (
            1.0 - self._roll_part(lifted, middle, last + float((stance.position - lifted.position) @ ahead))
        )

    def single_support_time(self, lifted: Footstep, stance: Footstep, step: Footstep) -> float:
        """Return the least duration [s] of a swing."""
        return self._time_for(self.touchdown_height(stance, step) - self.lift_off_height(lifted, stance))

    def _time_for(self, change: float) -> float:
        """Return the time [s] in which the CoM rises or falls without a large acceleration."""
        gravity = float(np.linalg.norm(self.body.robot.gravity))
        return sqrt(QUINTIC_PEAK * abs(change) / (RISING_ACCELERATION * gravity))

    def lean(self, phase: Phase) -> float:
        """Return how far the trunk leans forward in a phase [rad]: the more, the higher the steps are."""
        feet = [*phase.feet.values(), *(foot for foot in (phase.swing, phase.lifted) if foot is not None)]
        heights = [foot.z for foot in feet]
        return self._lean(max(heights) - min(heights)) if max(heights) - min(heights) > UNEVEN else 0.0

    def landing_pose(self, stance: Footstep, step: Footstep, part: float = 1.0) -> Array:
        """Compute the pose T_world_sole (4, 4) of a foot that lands: on a high step down, on its toes.

        `part` of its inclination is left: 1 at touchdown, 0 when the heel stands.
        """
        T, rise = step.pose, part * self._landing_rise(stance, step)
        if rise > 0.0:
            front = self._front(step)
            s = rise / front
            c = sqrt(1.0 - s * s)
            T = T @ np.array([[c, 0, s, front * (1.0 - c)], [0, 1, 0, 0], [-s, 0, c, front * s], [0, 0, 0, 1.0]])
        return T

    def standing_pose(self, phase: Phase, side: str, t: float) -> Array:
        """Compute the pose T_world_sole (4, 4) of a foot that stands: after a landing on its toes its heel descends."""
        first, last = next(iter(phase.feet.values())), list(phase.feet.values())[-1]
        if phase.kind not in ("double", "stop") or side != last.side:
            return phase.feet[side].pose
        return self.landing_pose(first, last, 1.0 - _smooth(min((t - phase.start) / (HEEL_DOWN * phase.length), 1.0)))

    def _over(self, old: Footstep, new: Footstep) -> float:
        """Return the height at which both legs reach their feet; on a step up they are stretched further."""
        rise = new.z - old.z
        drop = 0.0 if old is new else self._level.drop(old, new)
        if abs(rise) > UNEVEN:  # hips are higher under a trunk that leans
            drop += LEAN_ARM * self.body.leg * (1.0 - cos(self._lean(abs(rise))))
        stretched = min(max(rise / UNEVEN, 0.0), 1.0) * self._stretch
        return min(old.z, new.z) + self.body.com_height - drop + stretched

    def _lean(self, height: float) -> float:
        return min(LEAN * height / self.body.leg, MAX_LEAN)

    def _heel_rise(self, old: Footstep, new: Footstep) -> float:
        """Return by how much the CoM rises while the heel of the lower foot behind lifts."""
        return min(max(HEEL_SHARE * (new.z - old.z - FLAT_RISE * self.body.leg), 0.0), self._heel)

    def _landing_rise(self, stance: Footstep, step: Footstep) -> float:
        """Return by how much the CoM is higher when a lower foot in front lands on its toes."""
        drop = stance.z - step.z - FLAT_DROP * self.body.leg
        if drop <= 0.0 or step.relative_to(stance)[0] <= 0.0 or self.body.feet[step.side].free == "roll":
            return 0.0
        return min(drop, self._heel, MAX_LANDING_PITCH * self._front(step))

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
        """Return the part of the way of a ZMP, from `first` to `last` ahead of a foot [m], to the front of the foot."""
        return min(max((self._front(foot) - first) / (last - first), 0.0), LATEST_ROLL) if last > first else 0.0


def _smooth(s: float) -> float:
    """Rise from 0 to 1 without velocity and acceleration at both ends."""
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
