"""A walk over known terrain: where the feet step, how fast, how high they swing, and how high the CoM is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.errors import InputError
from kinodyn.terrain.footholds import SoleOutline, footholds
from kinodyn.terrain.height_map import HeightMap
from kinodyn.walking.biped import Biped, opposite
from kinodyn.walking.com_height import ComHeight
from kinodyn.walking.footstep_search import FootstepPlan, plan_footsteps
from kinodyn.walking.footsteps import Footstep, StepTiming
from kinodyn.walking.phases import Phase
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.swing import SwingTrajectory
from kinodyn.walking.terrain_limits import TerrainLimits

DOUBLE_TIME_RISE = 0.22  # of a step, as a fraction of the leg
STEP_FRACTION = 0.85  # of the step limits that a plan uses; the rest is for step adaptation
STEP_LENGTH = 0.33  # of a slow step, as a fraction of the leg; faster ones may be longer
MIN_UNEVENNESS = 0.05  # [m] difference of height from which on legs are stretched
STRETCH_FRACTION = 0.7  # fraction of the remaining leg length by which they are
HEEL_FRACTION, HEEL_RISE = 0.5, 0.35  # of the height of a step, and of the sole, by which a lifted heel raises the CoM
SNAP_DISTANCE = 0.06  # [m] within which a foothold is searched when a step is changed
SNAP_SPACING = 0.015  # [m]
CLEARANCE = 0.4  # of the swing height, that a foot keeps above edges
SIDE_CLEARANCE = 0.02  # [m] that it keeps from risers
TOLERANCE = 0.005  # [m] by which a foot that is lifted or put down may be lower than its footholds
SAMPLES = 24  # times of a swing at which the ground is sampled
# parts of a swing in which the foot only rises, in which it only descends, and at which it is highest; flat ones first
SHAPES = [(a, b, c) for a in (0.02, 0.15, 0.3, 0.4) for b in (0.02, 0.15, 0.3) for c in (0.5, 0.4, 0.6)]
HEIGHTS = (1.0, 1.5, 2.0, 3.0)  # of the apex, as multiples of the swing height


class TerrainPlan:
    """Footsteps to a goal over a map of the terrain, and what depends on it.

    Parameters
    ----------
    body
    ground
        The map.
    goal
        x, y [m] and yaw [rad] of the centre between the soles (3,).
    speed
        Largest mean speed [m/s].
    settings, limits
        Of the gait, and of steps on level ground.

    Attributes
    ----------
    plan : FootstepPlan
    steps : tuple of Footstep
        With their durations.

    Raises
    ------
    InputError
        If no footsteps lead to the goal; the message gives the reason.
    """

    def __init__(
        self,
        body: Biped,
        ground: HeightMap,
        goal: ArrayLike,
        *,
        speed: float,
        settings: GaitSettings,
        limits: StepLimits,
    ) -> None:
        positive("the speed over terrain", speed)
        self.body, self.ground, self.settings = body, ground, settings
        used = limits.scaled(STEP_FRACTION)
        longest = max(STEP_LENGTH * body.leg, float(speed) * settings.step_time)
        used = replace(used, forward=min(used.forward, longest), backward=min(used.backward, longest))
        self.limits = TerrainLimits.from_robot(body, used)
        self.plan: FootstepPlan = plan_footsteps(body, ground, goal, limits=used, terrain_limits=self.limits)
        if not self.plan.success:
            raise InputError(f"{body.robot.name!r} cannot walk there: {self.plan.reason}")
        margin = self.limits.rules.margin
        self._soles = {side: SoleOutline(foot.corners, foot.middle, margin=margin) for side, foot in body.feet.items()}
        self._com_height = ComHeight(body, settings.max_leg_extension)
        self._stretch = STRETCH_FRACTION * max(settings.max_leg_extension * body.leg - body.hip_height, 0.0)
        self._heel = HEEL_RISE * float(min(foot.size[0] for foot in body.feet.values()))
        self.steps = tuple(self._timed(float(speed)))

    def _timed(self, speed: float) -> list[Footstep]:
        """Give each step its durations: the higher it is the slower, and within the speed."""
        feet, steps, own = dict(self.plan.start), [], self.settings
        for step in self.plan.steps:
            stance, last = feet[opposite(step.side)], feet[step.side]
            rise = max(abs(step.z - stance.z), abs(step.z - last.z))
            factor = 1.0 + rise / (DOUBLE_TIME_RISE * self.body.leg)
            advance = 0.5 * float(np.hypot(step.x - last.x, step.y - last.y))  # of the body
            factor = max(factor, advance / speed / own.step_time)
            steps.append(replace(step, timing=StepTiming(factor * own.double_support, factor * own.single_support)))
            feet[step.side] = step
        return steps

    def com_height(self, phase: Phase, t: float) -> tuple[float, float, float]:
        """Compute height [m], velocity and acceleration of the CoM above the origin of the map.

        At each change of support it is so high that both legs reach their feet; in between it moves smoothly.
        """
        feet = list(phase.feet.values())
        if phase.swing is None:
            before = self._over(feet[0], feet[1])
            after = before + (self._heel_rise(feet[0], feet[1]) if phase.kind == "double" else 0.0)
        else:
            before, after = self._over(feet[0], phase.lifted or feet[0]), self._over(feet[0], phase.swing)
            before += 0.0 if phase.lifted is None else self._heel_rise(phase.lifted, feet[0])
        length, change = phase.end - phase.start, after - before
        if not np.isfinite(length):
            return before, 0.0, 0.0
        s = min(max((t - phase.start) / length, 0.0), 1.0)
        return (
            before + change * s**3 * (10.0 - 15.0 * s + 6.0 * s * s),
            change / length * 30.0 * s * s * (1.0 - s) ** 2,
            change / length**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
        )

    def _over(self, one: Footstep, other: Footstep) -> float:
        """Return the height at which both legs reach their feet; on uneven ground they are stretched further."""
        drop = 0.0 if one is other else self._com_height.drop(one, other)
        uneven = min(abs(one.z - other.z) / MIN_UNEVENNESS, 1.0)
        return min(one.z, other.z) + self.body.com_height - drop + uneven * self._stretch

    def _heel_rise(self, old: Footstep, new: Footstep) -> float:
        """Return by how much the CoM rises while the heel of the lower foot behind lifts."""
        return min(max(HEEL_FRACTION * (new.z - old.z), 0.0), self._heel)

    def snapped(self, step: Footstep) -> Footstep | None:
        """Move a step to the nearest foothold; None if there is none within 6 cm."""
        count = int(SNAP_DISTANCE / SNAP_SPACING)
        axis = SNAP_SPACING * np.arange(-count, count + 1)
        shifts = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        poses = np.column_stack([shifts + step.position, np.full(len(shifts), step.yaw)])
        found = footholds(self.ground, self._soles[step.side], poses, self.limits.rules)
        distance = np.where(found.supported, np.hypot(*shifts.T), np.inf)
        best = int(distance.argmin())
        if not np.isfinite(distance[best]):
            return None
        rise_x, rise_y = found.gradient[best].tolist()
        height = float(found.height[best])
        return replace(step, x=float(poses[best, 0]), y=float(poses[best, 1]), z=height, gradient=(rise_x, rise_y))

    def landed(self, step: Footstep, planned: Footstep) -> Footstep:
        """Set height and inclination of a foot that has landed somewhere to those of the map there."""
        found = footholds(self.ground, self._soles[step.side], (step.x, step.y, step.yaw), self.limits.rules)
        if not found.supported:
            return replace(step, z=planned.z, gradient=planned.gradient)
        rise_x, rise_y = found.gradient.tolist()
        return replace(step, z=float(found.height), gradient=(rise_x, rise_y))

    def swing(self, side: str, T_start: Array, T_end: Array, start: float, end: float, lift: float) -> SwingTrajectory:
        """Plan a swing that clears the ground between two footholds.

        Parameters
        ----------
        side
        T_start, T_end
            T_world_sole (4, 4).
        start, end
            [s]
        lift
            By how much the world is higher than the map [m].
        """
        corners, best = self._outline(side, (T_start, T_end), lift), None
        for factor in HEIGHTS:
            for rise, descent, apex in SHAPES:
                swing = SwingTrajectory(
                    T_start,
                    T_end,
                    start,
                    end,
                    height=factor * self.settings.swing_height,
                    vertical_fraction=(rise, descent),
                    apex_fraction=apex,
                    descent_speed=self.settings.touchdown_speed,
                )
                gap = self._gap(swing, corners, lift)
                if best is None or gap > best[0] + 1e-3:
                    best = (gap, swing)
                if gap >= 0.0:
                    return swing
        assert best is not None
        return best[1]

    def _outline(self, side: str, ends: tuple[Array, Array], lift: float) -> Array:
        """Return the corners (n, 2) of the sole with as much room around it as both footholds have."""
        sole = self.body.feet[side]
        for room in (SIDE_CLEARANCE, 0.5 * SIDE_CLEARANCE):
            corners: Array = sole.corners + room * np.sign(sole.corners - sole.middle)
            if self._above(np.array(ends), corners, lift).min() > -SIDE_CLEARANCE:
                return corners
        return sole.corners

    def _above(self, T: Array, corners: Array, lift: float) -> Array:
        """Measure how far soles (t, 4, 4) are above the ground at their lowest points (t,) [m]."""
        outline = np.concatenate([corners, 0.5 * (corners + np.roll(corners, -1, axis=0))])
        points = np.column_stack([outline, np.zeros(len(outline)), np.ones(len(outline))])
        world = np.einsum("tij,pj->tpi", T[:, :3], points)
        return np.asarray((world[..., 2] - self.ground.height(world[..., :2]) - lift).min(axis=1))

    def _gap(self, swing: SwingTrajectory, corners: Array, lift: float) -> float:
        """Measure by how much the sole is above the ground, less the clearance, at its lowest."""
        s = np.linspace(0.0, 1.0, SAMPLES)
        gaps = self._above(swing(swing.start + s * (swing.end - swing.start)), corners, lift)
        # near its footholds the foot is no higher than on them, whatever the errors of the map
        away = np.clip((np.minimum(s, 1.0 - s) - 0.1) / 0.15, 0.0, 1.0)
        resting = np.where(s < 0.5, min(gaps[0], 0.0), min(gaps[-1], 0.0)) - TOLERANCE
        required = away * CLEARANCE * self.settings.swing_height + (1.0 - away) * resting
        return float((gaps - required).min())
