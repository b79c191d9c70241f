"""Walks over terrain: swings clear edges, the CoM follows the ground, legs reach, and wrong requests are refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.walking import Biped, ContactSchedule, GaitSettings, Planner
from kinodyn.walking.biped import SIDES
from kinodyn.walking.feasibility import require_strong
from kinodyn.walking.reference import FootReference
from kinodyn.walking.terrain_feasibility import takes_long_steps
from kinodyn.walking.terrain_plan import TerrainPlan
from kinodyn.walking.terrain_swing import APEXES, HEIGHTS, SAMPLES, VERTICAL, TerrainSwings
from kinodyn.walking.tracking import WholeBodyTracker


def planned(body: Biped, text: str, goal: tuple[float, float, float], *, quick: bool = True) -> TerrainPlan:
    terrain = kd.terrain.parse(text)
    planner = Planner(body)
    ground = terrain.map(region=[[-0.6, -0.8], [4.0, 0.8]])
    return TerrainPlan(body, ground, goal, speed=0.3, settings=planner.settings, limits=planner.limits, quick=quick)


@pytest.fixture(scope="module")
def climb(body: Biped) -> TerrainPlan:
    return planned(body, "stairs:0.15,0.28,3", (2.0, 0.0, 0.0))


@pytest.mark.parametrize("text", ["stairs:0.15,0.28,3", "stairs:-0.15,0.28,3"])
def test_swings_clear_the_edges_of_stairs(body: Biped, text: str) -> None:
    terrain, plan = kd.terrain.parse(text), planned(body, text, (2.0, 0.0, 0.0))
    feet = dict(plan.plan.start)
    for step in plan.steps:
        swing = plan.swings.plan(step.side, feet[step.side].pose, step.pose, 0.0, 1.0, 0.0)
        T = swing(np.linspace(0.0, 1.0, 200))
        corners = np.column_stack([body.feet[step.side].corners, np.zeros(4), np.ones(4)])
        points = np.einsum("tij,pj->tpi", T[:, :3], corners)
        gap = points[..., 2] - terrain.height(points[..., :2])
        assert gap.min() > -1e-3  # of the sole's corners, at any time
        feet[step.side] = step


def test_all_shapes_of_a_swing_are_compared_as_if_each_were_made(body: Biped, climb: TerrainPlan) -> None:
    own, step = climb.settings, climb.steps[3]
    swings, corners = TerrainSwings(body, climb.ground, own), body.feet[step.side].corners
    T_start, T_end = climb.steps[1].pose, step.pose
    T_end[:3, :3] = kd.spatial.from_euler([0.3, 0.2, -0.1], "ZYX")
    gaps = swings._gaps(T_start, T_end, 0.8, corners, 0.01)
    away = np.clip((np.minimum(SAMPLES, 1.0 - SAMPLES) - 0.1) / 0.15, 0.0, 1.0)
    for h, v, a in ((0, 0, 0), (1, 4, 2), (3, 11, 1)):
        swing = kd.walking.SwingTrajectory(
            T_start,
            T_end,
            1.0,
            1.8,
            height=HEIGHTS[h] * own.swing_height,
            vertical_fraction=VERTICAL[v],
            apex_fraction=APEXES[a],
            descent_speed=own.touchdown_speed,
        )
        above = swings._above(swing(1.0 + 0.8 * SAMPLES), corners, 0.01)
        resting = np.where(SAMPLES < 0.5, min(above[0], 0.0), min(above[-1], 0.0)) - 0.005
        required = away * 0.4 * own.swing_height + (1.0 - away) * resting
        assert gaps[h, v, a] == pytest.approx((above - required).min(), abs=1e-9)


def test_the_zmp_stays_on_the_part_of_a_sole_that_the_ground_bears(body: Biped) -> None:
    terrain, plan = kd.terrain.parse("stairs:0.185,0.24,4"), planned(body, "stairs:0.185,0.24,4", (1.8, 0.0, 0.0))
    schedule = ContactSchedule(body, plan.plan.start, plan.steps)
    partial = [step for step in plan.steps if step.support is not None]
    assert partial  # the treads are shorter than the feet
    for step in partial:
        outline = schedule.builder.soles.polygon(step)
        np.testing.assert_allclose(terrain.height(outline), step.z, atol=1e-9)
        assert kd.balance.margin(outline, schedule.builder.soles.centre(step)) > 0.0


def test_the_com_moves_smoothly_and_the_legs_reach(body: Biped, climb: TerrainPlan) -> None:
    schedule = ContactSchedule(body, climb.plan.start, climb.steps)
    for phase, following in pairwise(schedule.phases):
        end, start = climb.posture.com_height(phase, phase.end), climb.posture.com_height(following, following.start)
        np.testing.assert_allclose(end, start, atol=1e-9)
        steps = np.linspace(phase.start, phase.end, 50)
        z, vz, _ = np.array([climb.posture.com_height(phase, t) for t in steps]).T
        np.testing.assert_allclose(np.gradient(z, steps)[1:-1], vz[1:-1], atol=0.02)
        assert (z - max(foot.z for foot in phase.feet.values()) > 0.5 * body.com_height).all()
    last = schedule.phases[-1]
    assert climb.posture.com_height(last, last.start)[0] == pytest.approx(body.com_height + 0.45)


def test_higher_steps_take_more_time_and_none_exceeds_the_speed(body: Biped, climb: TerrainPlan) -> None:
    feet = dict(climb.plan.start)
    own = GaitSettings.from_robot(body)
    for step in climb.steps:
        assert step.timing is not None
        advance = 0.5 * np.hypot(step.x - feet[step.side].x, step.y - feet[step.side].y)
        assert advance <= 0.3 * step.timing.step_time + 1e-9
        if abs(step.z - feet[step.side].z) > 0.1:
            assert step.timing.step_time > 1.3 * own.step_time
        feet[step.side] = step


def test_changed_steps_move_to_the_nearest_foothold(climb: TerrainPlan) -> None:
    step = next(step for step in climb.steps if step.z > 0.1)
    moved = climb.snapped(replace(step, x=step.x + 0.03))
    assert moved is not None and abs(moved.x - step.x) < 0.06 and moved.z == pytest.approx(step.z)
    assert climb.snapped(replace(step, y=40.0)) is None


@pytest.mark.parametrize("text", ["stairs:0.15,0.3,2", "stairs:-0.1,0.3,2"])
def test_a_robot_too_weak_for_the_steps_is_refused_with_the_joint(text: str) -> None:
    """Strong enough for level ground: knees bend further on stairs."""
    strong = kd.load("humanoid")
    joints = tuple(
        replace(joint, effort=100.0) if "knee" in joint.name else joint for joint in strong.description.joints
    )
    weak = Robot(replace(strong.description, joints=joints))
    require_strong(Biped.from_robot(weak))
    with pytest.raises(kd.KinodynError, match="too weak to bear a step of 0.1.* m .*knee needs .* 90 % of 100 N m"):
        kd.walking.walk(weak, terrain=text, goal=(1.5, 0.0, 0.0))


def test_wrong_requests_are_refused_before_the_walk() -> None:
    robot = kd.load("humanoid")
    walk = kd.walking.walk
    with pytest.raises(InputError, match="unknown terrain"):
        walk(robot, terrain="hills")
    with pytest.raises(InputError, match="map must be"):
        walk(robot, terrain="slope:5", map="seen")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="off the map"):
        walk(robot, terrain="slope:5", goal=(90.0, 0.0, 0.0))
    with pytest.raises(InputError, match="give a goal"):
        walk(robot, (0.3, 0.0, 0.2), terrain="slope:5")
    with pytest.raises(InputError, match="no footsteps to the goal .* exist"):
        walk(robot, terrain="stairs:0.6,0.3,3", goal=(1.5, 0.0, 0.0))
    with pytest.raises(InputError, match="cannot stand at its start"):
        walk(robot, terrain=kd.terrain.Terrain([kd.contact.Plane(normal=(1.0, 0.0, 1.0))]))


def test_the_humanoid_walks_up_a_slope_of_ten_degrees() -> None:
    result = kd.walking.walk(kd.load("humanoid"), (0.3, 0.0, 0.0), terrain="slope:10", goal=(1.6, 0.0, 0.0))
    assert result.walked
    com = kd.kinematics.com(result.body.robot, result.recording.q[-1])
    assert com[2] - result.body.com_height > 0.8 * np.tan(np.deg2rad(10.0)) * 1.1 - 0.05
    assert result.recording.terrain["vertices"][:, 2].max() > 0.3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "distance"),
    [
        ("slope:-10", 2.5),
        ("slope:10,across", 3.0),
        ("stones:0.3,0.1", 3.2),
        ("boxes:0.08,seed=1", 3.0),
        ("boxes:0.08,seed=4138", 3.8),  # a foot that its ankle inclines passes a box
        ("stairs:0.185,0.24,3", 1.7),
        ("stairs:-0.185,0.24,3", 1.7),
    ],
)
def test_the_humanoid_walks_over_known_terrain(text: str, distance: float) -> None:
    result = kd.walking.walk(kd.load("humanoid"), (0.3, 0.0, 0.0), terrain=text, goal=(distance, 0.0, 0.0))
    assert result.walked, result.reason


def test_the_posture_of_the_stance_does_not_hold_back_the_com_over_terrain(body: Biped) -> None:
    soles = {"left": np.eye(4), "right": np.eye(4)}
    soles["left"][:3, 3], soles["right"][:3, 3] = (0.0, 0.085, 0.0), (0.1, -0.085, 0.0)
    found = body.solve_posture(soles, np.array([0.05, 0.0, 0.83]), np.array(0.0))
    assert found.success
    state = kd.State(body.robot, found.q)
    errors = []
    for terrain in (False, True):
        tracker = WholeBodyTracker(body, GaitSettings.from_robot(body), 2e-3)
        if terrain:
            tracker.prepare_for_terrain()
        for side in SIDES:
            tracker.stand_on(side, 2.0 * body.weight)
        tracker.track_com(state.com, np.zeros(3), np.array([0.3, 0.0, 0.0]))
        tracker.track_trunk(0.0, 0.0, 0.0, np.zeros(3))
        result = tracker.solve(state)
        errors.append(float(np.abs(result.errors["CoM"]).max()))
    assert errors[1] < 0.01 < errors[0]  # [m/s^2]


def test_a_swing_foot_that_its_ankle_inclines_keeps_its_lowest_point(body: Biped) -> None:
    tracker = WholeBodyTracker(body, GaitSettings.from_robot(body), 2e-3)
    tracker.prepare_for_terrain()
    q = body.q.copy()
    ankle, knee = body.robot.joint("left_ankle_pitch"), body.robot.joint("left_knee")
    q[knee.q], q[ankle.q] = 1.4, body.robot.limits.lower[ankle.q]
    foot, state = body.feet["left"], kd.State(body.robot, q)
    level = kd.walking.Footstep("left", 0.0, 0.085, 0.0, 0.2).pose
    reference = FootReference(level, np.zeros(6), np.zeros(6), False)
    pose, _, _, limited = tracker._within_ankle("left", reference, state)
    T = pose @ foot.T_frame_sole
    corners = np.column_stack([foot.corners, np.zeros(len(foot.corners)), np.ones(len(foot.corners))]) @ T[:3].T
    assert limited and abs(T[2, 0]) > 0.1  # inclined
    np.testing.assert_allclose(corners[:, 2].min(), 0.2, atol=1e-9)


def test_a_foot_that_is_held_up_draws_back_and_is_lifted_higher_once(body: Biped) -> None:
    planner = Planner(body)
    planner.command((0.3, 0.0, 0.0))
    planner.update(0.0)
    phase = next(phase for phase in planner.schedule.phases if phase.swing is not None)
    assert phase.swing is not None
    t, side = phase.start + 0.3 * phase.length, phase.swing.side
    times = np.linspace(t, phase.end, 50)
    planned_path = [planner.reference(float(s)).feet[side].pose for s in times]
    T = planned_path[0].copy()
    assert not planner.stumble(phase.start - 1e-3, side, T, (-50.0, 0.0))  # both feet stand
    assert planner.stumble(t, side, T, (-50.0, 0.0))
    path = [planner.reference(float(s)).feet[side].pose for s in times]
    np.testing.assert_allclose(path[0][:2, 3], T[:2, 3] - (0.01, 0.0), atol=1e-9)
    assert max(T[2, 3] for T in path) > max(T[2, 3] for T in planned_path) + 0.01
    np.testing.assert_allclose(path[-1][:3, 3], planned_path[-1][:3, 3], atol=1e-9)
    assert not planner.stumble(t + 0.01, side, T, (-50.0, 0.0))


def longest_step(plan: TerrainPlan) -> float:
    """Return the largest distance ahead of the other foot [m]."""
    feet, lengths = dict(plan.plan.start), []
    for step in plan.steps:
        other = feet["left" if step.side == "right" else "right"]
        lengths.append(step.relative_to(other)[0])
        feet[step.side] = step
    return float(max(lengths))


def test_slow_joints_take_short_steps(body: Biped) -> None:
    settings, goal = GaitSettings.from_robot(body), (1.5, 0.0, 0.0)
    short = 0.3 * settings.step_time
    assert longest_step(planned(body, "slope:3", goal)) > short + 0.05
    assert longest_step(planned(body, "slope:3", goal, quick=False)) <= short + 1e-9


def test_joints_are_takes_long_steps_for_long_steps_by_their_velocity_limits(body: Biped) -> None:
    assert takes_long_steps(Planner(body), 0.3)
    joints = [replace(joint, velocity=0.15 * joint.velocity) for joint in body.robot.description.joints]
    slow = Robot(replace(body.robot.description, joints=tuple(joints)))
    assert not takes_long_steps(Planner(Biped.from_robot(slow)), 0.3)


def test_no_tick_computes_the_soles_of_the_planned_steps(
    body: Biped, climb: TerrainPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller = kd.walking.WalkingController(body)
    controller.follow(climb)
    soles = controller.planner.schedule.builder.soles

    def computed(*_: object) -> None:
        raise AssertionError("computed in a tick")

    monkeypatch.setattr(soles, "_borne", computed)
    monkeypatch.setattr(soles, "_edge", computed)
    partial = [step for step in climb.steps if step.support is not None]
    assert partial
    for step in climb.steps:
        assert len(soles.polygon(step)) > 2
        assert len(soles.edge(step, "toe")) == 4


@pytest.mark.slow
def test_a_walk_over_terrain_may_be_over_before_its_own_goal() -> None:
    """Without a goal the footsteps are planned straight ahead for the duration; higher steps take more time."""
    result = kd.walking.walk(kd.load("humanoid"), duration=6.0, terrain="stairs:0.1,0.4,4")
    assert result.walked, result.reason
    assert result.steps > 3
