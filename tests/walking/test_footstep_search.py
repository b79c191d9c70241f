"""Footstep plans over terrain: optimal by an exhaustive search, within all limits, and rejected with a reason."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.errors import InputError
from kinodyn.terrain import FootholdRules, HeightMap, SoleOutline, footholds
from kinodyn.walking import Biped, Footstep, StepLimits, TerrainLimits, footstep_search, plan_footsteps, standing_feet
from kinodyn.walking.footstep_search import COSTS, lattice_spacing, level_costs, step_actions


@pytest.fixture(scope="module")
def heights(body: Biped, limits: StepLimits) -> TerrainLimits:
    return TerrainLimits.from_robot(body, limits)


def exhaustive_cost(
    body: Biped,
    ground: HeightMap,
    goal: tuple[float, float, float],
    limits: StepLimits,
    rules: FootholdRules,
    rise: float,
) -> float:
    """Visit every pose of the lattice by Dijkstra's algorithm, for limits without turns."""
    spacing, start, ends = lattice_spacing(limits), standing_feet(body), standing_feet(body, goal)
    origin = start["left"]
    soles = {side: SoleOutline(foot.corners, foot.middle, margin=rules.margin) for side, foot in body.feet.items()}
    found: dict[tuple[object, ...], tuple[Footstep, float] | None] = {}

    def foot(side: str, key: tuple[object, ...]) -> tuple[Footstep, float] | None:
        name = (side, *key)
        if name not in found:
            step = ends[side] if key[0] in ("first", "second") else start[side] if key[0] == "start" else None
            if step is None:
                i, j = key
                step = Footstep(side, origin.x + i * spacing, origin.y + j * spacing, 0.0)  # type: ignore[operator]
            held = footholds(ground, soles[side], (step.x, step.y, step.yaw), rules)
            good = bool(held.supported)
            found[name] = (replace(step, z=float(held.height)), float(held.support)) if good else None
        return found[name]

    moves = np.round(step_actions(limits, spacing)[:, :2] / spacing).astype(int)
    reach = int(max(limits.forward, limits.max_width) / spacing) + 1
    anywhere = [(di, dj) for di in range(-reach, reach + 1) for dj in range(-reach, reach + 1)]  # from the start
    queue: list[tuple[float, int, str, tuple[object, ...]]] = [
        (0.0, k, side, ("start",)) for k, side in enumerate(start)
    ]
    closed, count = set(), 2
    while queue:
        g, _, side, key = heapq.heappop(queue)
        if (side, key) in closed:
            continue
        closed.add((side, key))
        if key[0] == "second":
            return g
        stance = foot(side, key)
        assert stance is not None
        other, sign = ("right", -1) if side == "left" else ("left", 1)
        keys: list[tuple[object, ...]] = [("second",)] if key[0] == "first" else [("first",)]
        if key[0] != "first":
            i, j = (round((stance[0].x - origin.x) / spacing), round((stance[0].y - origin.y) / spacing))
            tried = anywhere if key[0] == "start" else moves.tolist()
            keys += [(i + di, j + sign * dj) for di, dj in tried]
        for following in keys:
            if (other, following) in closed:
                continue
            landed = foot(other, following)
            if landed is None or abs(landed[0].z - stance[0].z) > rise:
                continue
            x, y, turn = landed[0].relative_to(stance[0])
            if limits.excess(other, (x, y, turn)) > 1e-9:
                continue
            move = np.hypot(x, y - sign * limits.width)
            step, length, width, height, support = list(COSTS.values())[:5]
            cost = step + length * move + width * abs(abs(y) - limits.width)
            cost += height * abs(landed[0].z - stance[0].z) + support * (1.0 - landed[1])
            count += 1
            heapq.heappush(queue, (g + cost, count, other, following))
    return np.inf


@pytest.mark.parametrize("seed", range(3))
def test_optimal_plans_cost_what_an_exhaustive_search_finds(body: Biped, limits: StepLimits, seed: int) -> None:
    rng = np.random.default_rng(seed)
    small = replace(limits, forward=0.13, backward=0.03, max_width=limits.width + 0.03, inward=0.0, outward=0.0)
    grid = np.zeros((130, 60))
    for _ in range(3):  # holes and boards, not below the start
        i, j = rng.integers(65, 100), rng.integers(0, 50)
        grid[i : i + rng.integers(4, 9), j : j + rng.integers(10, 40)] = rng.choice([-np.inf, 0.04])
    ground = HeightMap(grid, cell=0.01, origin=(-0.4, -0.3))
    rules = FootholdRules(min_support=0.6)
    terrain = TerrainLimits(max_rise=0.05, body_radius=0.1, obstacle=0.3, rules=rules)
    goal = (0.5, 0.0, 0.0)
    plan = plan_footsteps(body, ground, goal, limits=small, terrain_limits=terrain, optimal=True)
    expected = exhaustive_cost(body, ground, tuple(plan.goal), small, rules, 0.05)  # type: ignore[arg-type]
    assert plan.cost == pytest.approx(expected, abs=1e-9) if np.isfinite(expected) else not plan.success
    quick = plan_footsteps(body, ground, goal, limits=small, terrain_limits=terrain)
    assert quick.success == plan.success and plan.cost <= quick.cost + 1e-9
    if quick.success:
        assert quick.cost <= quick.weight * plan.cost + 1e-9


def test_costs_on_level_ground_are_nearly_those_of_the_best_plans(body: Biped, limits: StepLimits) -> None:
    ground = kd.terrain.flat().map(region=[[-1.5, -1.5], [1.5, 1.5]])
    table, per_metre = level_costs(limits, lattice_spacing(limits))
    n = round(np.sqrt(table.shape[0] / 2))
    cells = table.reshape(2, n, n, -1)
    middle = n // 2
    assert cells[:, middle, middle, 0].tolist() == [0.0, 0.0] and np.isfinite(cells).all()
    # mirrored poses cost the same from the other foot
    mirrored = np.roll(cells[::-1, :, ::-1, ::-1], 1, axis=3)
    np.testing.assert_allclose(cells, mirrored, atol=1e-9)
    for goal in ((0.5, 0.0, 0.0), (0.0, 0.0, np.pi / 2), (0.4, 0.3, -np.pi / 2), (-0.4, 0.0, np.pi)):
        plan = plan_footsteps(body, ground, goal, limits=limits, effort=500_000)
        x, y, yaw = (-goal[0], -goal[1], -goal[2])  # the start, seen from the goal
        c, s = np.cos(yaw), np.sin(yaw)
        i, j = (middle + round(a / (3.0 * lattice_spacing(limits))) for a in (c * x - s * y, s * x + c * y))
        level = cells[:, i, j, round(yaw / (2 * np.pi) * cells.shape[3]) % cells.shape[3]].min()
        assert 0.6 * plan.cost - 1.5 < level < plan.cost + 1.5
    assert per_metre == pytest.approx(COSTS["step"] / limits.forward + COSTS["length"])


CASES = [
    ("flat", (2.0, 1.0, 1.0)),
    ("flat", (0.0, 0.0, 3.1)),
    ("stairs:0.185,0.24,10", (3.3, 0.0, 0.0)),
    ("stairs:-0.185,0.24,10", (3.3, 0.0, 0.0)),
    ("slope:10", (3.0, 0.0, 0.0)),
    ("stones:0.3,0.1,0.02", (3.2, 0.0, 0.0)),
    ("boxes:0.08,seed=2", (3.0, 0.0, 0.0)),
]


@pytest.mark.parametrize(("text", "goal"), CASES)
def test_plans_keep_all_limits(
    body: Biped, limits: StepLimits, heights: TerrainLimits, text: str, goal: tuple[float, float, float]
) -> None:
    ground = kd.terrain.parse(text).map(region=[[-0.5, -0.8], [3.8, 1.6]])
    plan = plan_footsteps(body, ground, goal, limits=limits, terrain_limits=heights)
    assert plan.success and np.abs(plan.goal - goal).max() < 0.1 + 1e-9
    feet = dict(plan.start)
    for step in plan.steps:
        stance = feet["right" if step.side == "left" else "left"]
        assert limits.excess(step.side, step.relative_to(stance)) < 1e-9
        assert abs(step.z - stance.z) <= heights.max_rise
        foot = body.feet[step.side]
        held = footholds(ground, SoleOutline(foot.corners, foot.middle), (step.x, step.y, step.yaw), heights.rules)
        assert held.supported and held.height == step.z
        feet[step.side] = step
    for side, foot in standing_feet(body, plan.goal).items():
        assert max(map(abs, feet[side].relative_to(foot))) < 1e-9
    sides = [step.side for step in plan.steps]
    assert all(a != b for a, b in zip(sides, sides[1:], strict=False))


def test_a_wall_is_walked_around(body: Biped, limits: StepLimits, heights: TerrainLimits) -> None:
    wall = kd.terrain.Box.standing(1.0, 0.3, (0.1, 1.6, 1.0), 1.0)
    ground = kd.terrain.Terrain([kd.contact.Plane(), wall]).map(region=[[-0.5, -2.0], [3.0, 2.0]])
    plan = plan_footsteps(body, ground, (2.0, 0.0, 0.0), limits=limits, terrain_limits=heights)
    assert plan.success
    assert min(step.y for step in plan.steps) < -0.5  # past the near end of the wall
    straight = plan_footsteps(body, kd.terrain.flat().map(region=[[-0.5, -2.0], [3.0, 2.0]]), (2.0, 0.0, 0.0))
    assert plan.cost > straight.cost


def test_goals_that_cannot_be_reached_are_refused_with_the_reason(
    body: Biped, limits: StepLimits, heights: TerrainLimits
) -> None:
    region = [[-0.5, -0.8], [3.0, 0.8]]
    ditch = np.zeros((350, 160))
    ditch[150:270] = -np.inf
    shapes = [kd.contact.Plane(), kd.terrain.Box.standing(1.8, 0.0, (1.0, 4.0, 0.6), 0.5)]
    cases = [
        (kd.terrain.flat().map(region=region), (50.0, 0.0, 0.0), "off the map"),
        (HeightMap(ditch, cell=0.01, origin=(-0.5, -0.8)), (2.5, 0.0, 0.0), "degrees exist: a gap"),
        (HeightMap(ditch, cell=0.01, origin=(-0.5, -0.8)), (1.35, 0.0, 0.0), "no ground supports both feet"),
        (kd.terrain.Terrain(shapes).map(region=region), (1.8, 0.0, 0.0), "m up or down"),
    ]
    for ground, goal, words in cases:
        plan = plan_footsteps(body, ground, goal, limits=limits, terrain_limits=heights)
        assert plan.status == "unreachable" and words in plan.reason and plan.steps == ()


def test_a_search_that_ends_early_tells_the_limits_of_the_steps(
    body: Biped, limits: StepLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(footstep_search, "MAX_EFFORT", 2)
    plan = plan_footsteps(body, kd.terrain.stairs(0.1, 0.3, 3).map(), (1.8, 0.0, 0.0), limits=limits)
    assert plan.status == "budget"
    assert f"with steps of up to {limits.forward:.3g} m" in plan.reason
    assert plan.reason.endswith("were found in 2 entries of the queue")


def test_invalid_arguments_are_rejected(body: Biped) -> None:
    ground = kd.terrain.flat().map()
    for goal in ((0.0, 0.0), (np.nan, 0.0, 0.0), "there"):
        with pytest.raises(InputError):
            plan_footsteps(body, ground, goal)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cannot stand at its start"):
        plan_footsteps(body, HeightMap(np.full((50, 50), -np.inf), cell=0.02, origin=(-0.5, -0.5)), (0.2, 0.0, 0.0))


def test_more_effort_gives_no_worse_path_and_the_same_effort_the_same(body: Biped, limits: StepLimits) -> None:
    ground = kd.terrain.parse("stones:0.3,0.1").map()
    plans = [plan_footsteps(body, ground, (3.0, 0.0, 0.0), limits=limits, effort=k) for k in (1, 1, 20_000, 200_000)]
    assert plans[0].cost == plans[1].cost and plans[0].expanded == plans[1].expanded
    assert [step.pose.tolist() for step in plans[0].steps] == [step.pose.tolist() for step in plans[1].steps]
    costs = [plan.cost for plan in plans]
    assert costs == sorted(costs, reverse=True)
    with pytest.raises(kd.InputError, match="effort must be"):
        plan_footsteps(body, ground, (3.0, 0.0, 0.0), effort=0)
