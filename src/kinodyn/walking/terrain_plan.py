"""A walk over known terrain: where the feet step, how fast, how high they swing, and how high the CoM is."""

from __future__ import annotations

from dataclasses import replace
from math import hypot

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.balance.polygon import hull, largest_rectangle, margin
from kinodyn.checks import positive
from kinodyn.errors import InputError
from kinodyn.terrain.footholds import SoleOutline, footholds
from kinodyn.terrain.height_map import HeightMap
from kinodyn.walking.biped import Biped, opposite
from kinodyn.walking.footstep_search import FootstepPlan, plan_footsteps
from kinodyn.walking.footsteps import Footstep, StepTiming
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.terrain_limits import TerrainLimits
from kinodyn.walking.terrain_posture import TerrainPosture
from kinodyn.walking.terrain_swing import TerrainSwings

SNAP_SPACING = 0.015  # [m]
MAX_LEVEL_GRADIENT = float(np.tan(np.deg2rad(1.0)))  # of ground that counts as level
SOLE_SPACING = 0.01  # [m] of the points of a sole at which its support is checked


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
    quick
        Whether the joints are fast enough for the longest steps. If not, or on inclined ground with feet whose roll the
        legs do not control, steps are as short as on level ground at this speed, unless only longer ones lead to the
        goal.

    Attributes
    ----------
    plan : FootstepPlan
    steps : tuple of Footstep
        With their durations, and the parts of the soles that the ground bears.
    posture : TerrainPosture
        Height of the CoM, inclination of the trunk, and feet on their toes.
    swings : TerrainSwings
        Swings that clear the ground between two footholds.

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
        quick: bool = True,
    ) -> None:
        positive("the speed over terrain", speed)
        self.body, self.ground, self.settings = body, ground, settings
        short, slow = float(speed) * settings.step_time, settings.terrain.slow_step_length * body.leg
        self._plan(goal, limits, max(short, slow) if quick else short)
        if quick and self._rolls_freely_on_inclines():
            quick = False
            self._plan(goal, limits, short)
        if not self.plan.success and not quick:
            self._plan(goal, limits, max(short, slow))
        if not self.plan.success:
            raise InputError(f"{body.robot.name!r} cannot walk there: {self.plan.reason}")
        ring = self.limits.rules.margin
        self._soles = {side: SoleOutline(foot.corners, foot.middle, margin=ring) for side, foot in body.feet.items()}
        self._points = {side: _points(foot.corners) for side, foot in body.feet.items()}
        self.posture = TerrainPosture(body, settings)
        self.swings = TerrainSwings(body, ground, settings)
        self.steps = tuple(self._timed(float(speed)))

    def _plan(self, goal: ArrayLike, limits: StepLimits, longest: float) -> None:
        """Plan footsteps, none of them longer than `longest` [m]."""
        used = limits.scaled(self.settings.terrain.step_fraction)
        used = replace(used, forward=min(used.forward, longest), backward=min(used.backward, longest))
        self.limits = TerrainLimits.from_robot(self.body, used)
        self.plan: FootstepPlan = plan_footsteps(self.body, self.ground, goal, limits=used, terrain_limits=self.limits)

    def _rolls_freely_on_inclines(self) -> bool:
        """Return whether footsteps are on inclined ground, and legs do not control the roll of their feet.

        Such feet follow the inclination of their legs: in long steps on inclined ground they do not stand on the line
        about which they roll.
        """
        free = {side for side, foot in self.body.feet.items() if foot.free == "roll"}
        return any(step.side in free and hypot(*step.gradient) > MAX_LEVEL_GRADIENT for step in self.plan.steps)

    def _timed(self, speed: float) -> list[Footstep]:
        """Give each step its durations: the higher it is the slower, and within the speed."""
        feet, steps, own = dict(self.plan.start), [], self.settings
        for step in self.plan.steps:
            stance, last = feet[opposite(step.side)], feet[step.side]
            rise = max(abs(step.z - stance.z), abs(step.z - last.z))
            factor = 1.0 + rise / (own.terrain.double_support_rise * self.body.leg)
            advance = 0.5 * float(np.hypot(step.x - last.x, step.y - last.y))  # of the body
            factor = max(factor, advance / speed / own.step_time)
            timing = StepTiming(
                max(factor * own.double_support, self.posture.double_support_time(last, stance)),
                max(factor * own.single_support, self.posture.single_support_time(last, stance, step)),
            )
            steps.append(replace(step, timing=timing, support=self._support(step)))
            feet[step.side] = steps[-1]
        return steps

    def _support(self, step: Footstep) -> tuple[tuple[float, float], ...] | None:
        """Find the largest rectangle of a sole that the ground bears; None if it bears all of the sole."""
        points = self._points[step.side]
        world = points @ step.pose[:3, [0, 1, 3]].T
        borne = world[:, 2] - self.ground.height(world[:, :2]) <= self.limits.rules.tolerance
        if borne.all() or borne.sum() < 3:
            return None
        corners = hull(points[borne, :2])
        if len(corners) < 3:
            return None
        (x0, y0), (x1, y1) = largest_rectangle(corners).tolist()
        return ((x0, y0), (x1, y0), (x1, y1), (x0, y1)) if min(x1 - x0, y1 - y0) > SOLE_SPACING else None

    def snapped(self, step: Footstep) -> Footstep | None:
        """Move a step to the nearest foothold; None if there is none within `snap_distance` of the settings."""
        count = int(self.settings.terrain.snap_distance / SNAP_SPACING)
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
        moved = replace(step, x=float(poses[best, 0]), y=float(poses[best, 1]), z=height, gradient=(rise_x, rise_y))
        return replace(moved, support=self._support(moved))

    def landed(self, step: Footstep, planned: Footstep) -> Footstep:
        """Set height and inclination of a foot that has landed somewhere to those of the map there."""
        found = footholds(self.ground, self._soles[step.side], (step.x, step.y, step.yaw), self.limits.rules)
        if not found.supported:
            near = self.snapped(step) or planned
            return replace(step, z=near.z, gradient=near.gradient, support=planned.support)
        rise_x, rise_y = found.gradient.tolist()
        landed = replace(step, z=float(found.height), gradient=(rise_x, rise_y))
        return replace(landed, support=self._support(landed))


def _points(corners: Array) -> Array:
    """List points (n, 3) of a sole, on its edges and inside, homogeneous in the sole frame."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    count = np.maximum(np.ceil((high - low) / SOLE_SPACING).astype(int), 3) + 1
    grid = np.stack(np.meshgrid(*(np.linspace(low[k], high[k], count[k]) for k in range(2)), indexing="ij"), axis=-1)
    inside = grid.reshape(-1, 2)[margin(corners, grid.reshape(-1, 2)) >= 0.0]
    return np.column_stack([np.concatenate([corners, inside]), np.ones(len(corners) + len(inside))])
