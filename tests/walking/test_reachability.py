"""The quick test of whether ground connects two places: right on known cases, and never against the search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.terrain import HeightMap
from kinodyn.walking import Biped, plan_footsteps
from kinodyn.walking.reachability import connected


def ground(heights: Array) -> HeightMap:
    return HeightMap(heights, cell=0.02, origin=(-0.6, -0.6))


@pytest.mark.parametrize(
    ("width", "depth", "expected"), [(0.3, np.inf, True), (0.9, np.inf, False), (0.9, 0.4, False), (0.9, 0.15, True)]
)
def test_gaps_separate_where_they_are_wider_than_the_reach_and_deeper_than_a_step(
    width: float, depth: float, expected: bool
) -> None:
    heights = np.zeros((180, 60))
    heights[80 : 80 + round(width / 0.02)] = -depth
    start, goal = np.zeros(2), np.array([2.6, 0.0])
    assert connected(ground(heights), start, goal, reach=0.6, max_rise=0.2) is expected
    assert connected(ground(heights), start, np.array([0.5, 0.1]), reach=0.6, max_rise=0.2)


def test_stairs_connect_floors_and_cliffs_do_not() -> None:
    x = np.arange(180) * 0.02
    start, goal = np.zeros(2), np.array([2.6, 0.0])
    for rise, expected in ((0.15, True), (1.0, False)):
        steps = rise * np.clip(np.floor((x - 1.0) / 0.25) + 1.0, 0.0, 5.0)
        heights = np.repeat(steps[:, None], 60, axis=1)
        assert connected(ground(heights), start, goal, reach=0.6, max_rise=0.2) is expected


@pytest.mark.parametrize(
    ("height", "gap", "expected"), [(0.15, 0.0, True), (0.3, 0.0, False), (1.0, 0.0, False), (1.0, 0.2, True)]
)
def test_walls_separate_where_they_are_too_high_to_straddle_and_have_no_passage(
    height: float, gap: float, expected: bool
) -> None:
    heights = np.zeros((180, 60))
    heights[80:83, round(gap / 0.02) :] = height
    start, goal = np.zeros(2), np.array([2.6, 0.0])
    assert connected(ground(heights), start, goal, reach=0.6, max_rise=0.2, passage=0.12) is expected


def test_a_wall_is_reported_without_a_search(body: Biped) -> None:
    heights = np.zeros((180, 60))
    heights[85:88] = 0.6
    plan = plan_footsteps(body, ground(heights), (2.6, 0.0, 0.0))
    assert plan.status == "unreachable" and plan.expanded == 0


def test_no_step_straddles_a_wall(body: Biped) -> None:
    """A thin wall along a narrow way: the feet pass on one side of it."""
    heights = np.zeros((180, 80))
    heights[45:120, 39] = 0.35
    heights[46:115, 58:] = heights[46:115, :22] = -np.inf
    ground = HeightMap(heights, cell=0.02, origin=(-0.6, -0.8))
    plan = plan_footsteps(body, ground, (2.4, 0.0, 0.0))
    assert plan.success
    share = np.linspace(0.0, 1.0, 100)[:, None]
    for stance, step in itertools.pairwise([plan.start["left"], plan.start["right"], *plan.steps]):
        assert ground.height((1.0 - share) * stance.position + share * step.position).max() == 0.0


def test_a_gap_is_reported_without_a_search(body: Biped) -> None:
    heights = np.zeros((180, 60))
    heights[85:140] = -np.inf
    plan = plan_footsteps(body, ground(heights), (2.6, 0.0, 0.0))
    assert plan.status == "unreachable" and plan.expanded == 0
    assert "steps of up to" in plan.reason


def test_what_the_search_reaches_is_connected(body: Biped) -> None:
    limits = kd.walking.StepLimits.from_robot(body)
    reach = float(np.hypot(limits.forward, limits.width))
    rng, solved = np.random.default_rng(3), 0
    for _ in range(6):
        heights = np.zeros((150, 60))
        gap = round(rng.uniform(0.05, 0.5) / 0.02)
        heights[80 : 80 + gap] = -np.inf
        heights[80 + gap :] = rng.uniform(-0.15, 0.15)
        plan = plan_footsteps(body, ground(heights), (2.1, 0.0, 0.0), effort=10_000)
        if plan.success:
            solved += 1
            assert connected(ground(heights), np.zeros(2), plan.goal[:2], reach=reach + 0.1, max_rise=0.26)
    assert solved >= 2
