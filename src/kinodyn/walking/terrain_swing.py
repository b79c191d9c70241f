"""Swings that clear the ground between two footholds."""

from __future__ import annotations

from functools import cache

import numpy as np

from kinodyn.arrays import Array
from kinodyn.terrain.height_map import HeightMap
from kinodyn.walking.biped import Biped
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.swing import SwingTrajectory, coordinates, matrix, tilt_progress

TOLERANCE = 0.005  # [m] by which a foot that is lifted or put down may be lower than its footholds
SAMPLES = np.linspace(0.0, 1.0, 24)  # parts of a swing at which the height above the ground is checked
# parts of a swing in which the foot only rises, and in which it only descends; flat ones first
VERTICAL = [(a, b) for a in (0.02, 0.15, 0.3, 0.4) for b in (0.02, 0.15, 0.3)]
APEXES = (0.5, 0.4, 0.6)  # parts of a swing after which the foot is highest
HEIGHTS = (1.0, 1.5, 2.0, 3.0)  # of the apex, as multiples of the swing height


class TerrainSwings:
    """Plans swings over a map: of a few dozen shapes the flattest that clears the ground.

    All shapes are compared at once. Along the ground every one is a fixed function of time from start to end, and in
    height a linear one of start, apex and end.

    Parameters
    ----------
    body, ground, settings
        The biped, the map, and the settings of the gait.
    """

    def __init__(self, body: Biped, ground: HeightMap, settings: GaitSettings) -> None:
        self.body, self.ground, self.settings = body, ground, settings
        at_rest = np.eye(4)
        self.plan("left", at_rest, at_rest, 0.0, 1.0, 0.0)  # first calls take longer than a control tick

    def plan(self, side: str, T_start: Array, T_end: Array, start: float, end: float, lift: float) -> SwingTrajectory:
        """Plan the swing of a foot.

        Parameters
        ----------
        side
        T_start, T_end
            T_world_sole (4, 4).
        start, end
            [s]
        lift
            By how much the world is higher than the map [m].

        Returns
        -------
        SwingTrajectory
            The shape that comes nearest to clearing the ground, if none does.
        """
        own, corners = self.settings, self._outline(side, (T_start, T_end), lift)
        gaps = self._gaps(T_start, T_end, end - start, corners, lift)  # (heights, verticals, apexes)
        flat = gaps.reshape(-1)
        clear = flat >= 0.0
        best = int(clear.argmax()) if clear.any() else int(np.argmax(flat > flat.max() - 1e-3))
        height, vertical, apex = np.unravel_index(best, gaps.shape)
        return SwingTrajectory(
            T_start,
            T_end,
            start,
            end,
            height=HEIGHTS[height] * own.swing_height,
            vertical_fraction=VERTICAL[vertical],
            apex_fraction=APEXES[apex],
            descent_speed=own.touchdown_speed,
        )

    def _gaps(self, T_start: Array, T_end: Array, duration: float, corners: Array, lift: float) -> Array:
        """Measure by how much the sole is above the ground, less the clearance, at its lowest, for every shape."""
        own, (along, heights, falling) = self.settings, _profiles()
        first = coordinates(T_start, 0.0)
        last = coordinates(T_end, first[5])
        x = np.empty((*along.shape, 6))  # (verticals, samples, 6)
        x[:] = first + along[..., None] * (last - first)
        x[..., 3:5] = first[3:5] + tilt_progress(SAMPLES)[:, None] * (last - first)[3:5]
        x[..., 2] = 0.0
        room = self._above(matrix(x), corners, lift)  # of a sole at height 0
        top = max(first[2], last[2]) + own.swing_height * np.array(HEIGHTS)
        z = (
            first[2] * heights[:, 0]
            + top[:, None, None] * heights[:, 1]
            + last[2] * heights[:, 2]
            + own.touchdown_speed * duration * falling
        )  # (heights, apexes, samples)
        gaps = room[:, None] + z[:, None]  # (heights, verticals, apexes, samples)
        # near its footholds the foot is no higher than on them, whatever the errors of the map
        away = np.clip((np.minimum(SAMPLES, 1.0 - SAMPLES) - 0.1) / 0.15, 0.0, 1.0)
        ends = np.minimum(gaps[..., [0, -1]], 0.0)
        resting = np.where(SAMPLES < 0.5, ends[..., :1], ends[..., 1:]) - TOLERANCE
        required = away * own.terrain.swing_clearance * own.swing_height + (1.0 - away) * resting
        return np.asarray((gaps - required).min(axis=-1))

    def _outline(self, side: str, ends: tuple[Array, Array], lift: float) -> Array:
        """Return the corners (n, 2) of the sole with as much room around it as both footholds have."""
        sole, clearance = self.body.feet[side], self.settings.terrain.side_clearance
        for room in (clearance, 0.5 * clearance):
            corners: Array = sole.corners + room * np.sign(sole.corners - sole.middle)
            if self._above(np.array(ends), corners, lift).min() > -clearance:
                return corners
        return sole.corners

    def _above(self, T: Array, corners: Array, lift: float) -> Array:
        """Measure how far soles (..., 4, 4) are above the ground at their lowest points (...) [m]."""
        outline = np.concatenate([corners, 0.5 * (corners + np.roll(corners, -1, axis=0))])
        points = np.column_stack([outline, np.zeros(len(outline)), np.ones(len(outline))])
        world = points @ np.swapaxes(T[..., :3, :], -1, -2)
        return np.asarray((world[..., 2] - self.ground.height(world[..., :2]) - lift).min(axis=-1))


@cache
def _profiles() -> tuple[Array, Array, Array]:
    """Sample the shapes of unit swings.

    Returns
    -------
    along : (verticals, samples)
        Part of the motion along the ground.
    heights : (apexes, 3, samples)
        Weights of the heights of start, apex and end.
    falling : (apexes, samples)
        Height for each metre per second of downward speed at touchdown.
    """
    T0, ahead, up = np.eye(4), np.eye(4), np.eye(4)
    ahead[0, 3] = up[2, 3] = 1.0
    along = [SwingTrajectory(T0, ahead, 0.0, 1.0, vertical_fraction=pair)(SAMPLES)[:, 0, 3] for pair in VERTICAL]
    heights, falling = [], []
    for apex in APEXES:
        top = SwingTrajectory(T0, T0, 0.0, 1.0, height=1.0, apex_fraction=apex)(SAMPLES)[:, 2, 3]
        # with the start at 1 the apex is there too
        begin = SwingTrajectory(up, T0, 0.0, 1.0, height=0.0, apex_fraction=apex)(SAMPLES)[:, 2, 3] - top
        end = SwingTrajectory(T0, up, 0.0, 1.0, height=0.0, apex_fraction=apex)(SAMPLES)[:, 2, 3] - top
        fast = SwingTrajectory(T0, T0, 0.0, 1.0, height=0.0, apex_fraction=apex, descent_speed=1.0)
        heights.append([begin, top, end])
        falling.append(fast(SAMPLES)[:, 2, 3])
    return np.array(along), np.array(heights), np.array(falling)
