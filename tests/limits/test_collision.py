"""Collision avoidance as a limit: rows are derivatives of distances, and the margin is kept."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import Box, Capsule, Cylinder, World
from kinodyn.description.types import Description, Joint, Link, Mimic, Shape
from kinodyn.limits import CollisionLimit, PositionLimit, TorqueLimit, VelocityLimit
from kinodyn.model.robot import Robot
from kinodyn.spatial import from_euler, pose

TURNED = from_euler([0.4, -0.7, 1.1])
H = 2.5e-4


def rate(f: object) -> Array:
    return np.asarray((8 * (f(H) - f(-H)) - (f(2 * H) - f(-2 * H))) / (12 * H))  # type: ignore[operator]


def every_joint() -> Robot:
    """A robot with every kind of joint, with a ball at each link: distances have no edges."""
    kinds = ("floating", "revolute", "prismatic", "ball", "continuous", "revolute")
    links, joints = [Link("l0")], []
    for k, kind in enumerate(kinds, start=1):
        links.append(Link(f"l{k}", collisions=(Shape("sphere", (0.05,), np.eye(4)),)))
        mimic = Mimic("j2", 0.5, 0.1) if k == len(kinds) else None
        place, axis = pose([0.3, 0.05, 0.1]), np.array([0.0, 0.6, 0.8])
        joints.append(Joint(f"j{k}", kind, f"l{k - 1}", f"l{k}", T_parent_child=place, axis=axis, mimic=mimic))
    return Robot(Description("every joint", tuple(links), tuple(joints)))


def obstacles() -> World:
    world = World()
    world.add("box", Box((0.4, 0.3, 0.2)), pose([1.0, 0.5, 0.0], TURNED))
    world.add_sphere("ball", 0.1, [-1.0, 0.3, 0.2])
    world.add("cylinder", Cylinder(0.2, 0.3), pose([0.2, -1.0, 0.4], TURNED))
    world.add("capsule", Capsule(0.1, 0.5), pose([0.3, 0.2, 1.2], TURNED))
    return world


@pytest.mark.parametrize("kind", ["box", "ball", "cylinder", "capsule", "self"])
def test_jacobians_and_drifts_are_derivatives_of_the_distances(kind: str) -> None:
    robot = every_joint()
    pairs = [("l1", "l4"), ("l1", "l6"), ("l2", "l5")] if kind == "self" else [(f"l{k}", kind) for k in range(1, 7)]
    limit = CollisionLimit(obstacles(), pairs=pairs, slow_down=100.0, rows=len(pairs))
    q, v = robot.random(40, seed=1), np.random.default_rng(1).normal(size=(40, robot.nv))

    def margins(h: float) -> Array:
        return limit.margins(robot, robot.integrate(q, h * v))

    def times_v(h: float) -> Array:
        return (limit.jacobian(robot, robot.integrate(q, h * v)) @ v[..., None])[..., 0]

    np.testing.assert_allclose(limit.margins(robot, q).min(axis=-1), limit.distance(robot, q).distance - limit.margin)
    first = np.abs(times_v(0.0) + rate(margins))
    second = np.abs(limit.drift(robot, q, v) - rate(times_v))
    # the surface of a box or a cylinder has edges, where the second derivative jumps
    share = 1.0 if kind in ("ball", "self") else 0.9
    assert np.quantile(first, share) < 1e-7
    assert np.quantile(second, share) < 1e-4


def reaching(robot: Robot, hands: tuple[str, ...], q: Array) -> list[kd.tasks.FrameTask]:
    return [kd.tasks.FrameTask(hand, kd.kinematics.pose(robot, q, hand)[..., :3, 3], priority=1) for hand in hands]


def test_the_humanoid_keeps_the_margin_for_any_hand_targets() -> None:
    robot, rng = kd.load("humanoid"), np.random.default_rng(0)
    stand, world = robot.configuration("standing"), World()
    world.add("table", Box((0.5, 1.2, 0.05)), pose([0.6, 0.0, 0.9]))
    world.add("pillar", Cylinder(0.1, 2.0), pose([0.1, 0.7, 1.0]))
    limit = CollisionLimit(world, allowed=[("left_thigh", "right_thigh")])
    q = np.tile(stand, (10, 1))
    hands = reaching(robot, ("left_palm", "right_palm"), q)
    feet = [kd.tasks.ContactTask("left_sole"), kd.tasks.ContactTask("right_sole")]
    tasks = [*feet, *hands, kd.tasks.PostureTask(stand, priority=2)]
    solver = kd.ik.WholeBody(robot, tasks, [PositionLimit(), VelocityLimit(), limit])
    assert (limit.distance(robot, q).distance >= limit.margin).all()
    nearest = []
    for k in range(300):
        if k % 60 == 0:
            for hand in hands:
                hand.target = rng.uniform([-0.6, -1.0, 0.2], [1.2, 1.0, 1.9], size=(10, 3))
        q = solver.step(q, 0.005).q
        nearest.append(limit.distance(robot, q).distance)
    assert np.min(nearest) >= limit.margin - 1e-8
    assert np.min(nearest) < limit.margin + 1e-3  # it was needed


def test_parts_that_start_within_the_margin_leave_it() -> None:
    robot = kd.load("humanoid")
    stand = robot.configuration("standing")
    world = World()
    palm = kd.kinematics.pose(robot, stand, "left_palm")[:3, 3]
    world.add_sphere("ball", 0.08, palm + [0.0, 0.1, 0.0])
    limit = CollisionLimit(world, margin=0.03, allowed=[("left_thigh", "right_thigh")])
    before = limit.distance(robot, stand)
    assert before.distance < -0.01
    feet = [kd.tasks.ContactTask("left_sole"), kd.tasks.ContactTask("right_sole")]
    solver = kd.ik.WholeBody(
        robot, [*feet, kd.tasks.PostureTask(stand, priority=1)], [PositionLimit(), VelocityLimit(), limit]
    )
    q, distances = np.asarray(stand), []
    for _ in range(200):
        q = solver.step(q, 0.01).q
        distances.append(float(limit.distance(robot, q).distance))
    assert distances[0] > before.distance and distances[-1] >= 0.03 - 1e-6
    assert kd.kinematics.pose(robot, q, "left_sole")[2, 3] == pytest.approx(
        kd.kinematics.pose(robot, stand, "left_sole")[2, 3], abs=1e-6
    )


def panda_over_ball() -> tuple[Robot, World, kd.tasks.FrameTask]:
    robot, world = kd.load("panda"), World()
    world.add_sphere("ball", 0.1, [0.5, 0.0, 0.4])
    return robot, world, kd.tasks.FrameTask("panda_link6", [0.5, 0.0, 0.4])


def test_conflicts_name_the_pair() -> None:
    robot, world, reach = panda_over_ball()
    limit = CollisionLimit(world, margin=0.02)
    solver = kd.ik.WholeBody(robot, [reach], [PositionLimit(), VelocityLimit(), limit])
    q = robot.configuration("ready")
    for _ in range(300):
        step = solver.step(q, 0.01)
        q = step.q
    against = [name for conflict in step.conflicts for name in conflict.against]
    assert any(name.endswith(" near ball") for name in against)
    result = kd.ik.WholeBody(robot, [reach], [PositionLimit(), limit]).solve(robot.configuration("ready"))
    assert limit.distance(robot, result.q).distance >= 0.02 - 1e-5
    assert result.status == "conflict"
    assert any(" near ball" in name for name in result.conflicts[0].against)


def test_an_obstacle_that_moves_pushes_the_arm_away() -> None:
    robot, world, _ = panda_over_ball()
    ready = np.asarray(robot.configuration("ready"))
    limit = CollisionLimit(world, margin=0.02)
    solver = kd.ik.WholeBody(robot, [kd.tasks.PostureTask(ready)], [PositionLimit(), VelocityLimit(), limit])
    hand, q = kd.kinematics.pose(robot, ready, "panda_link6")[:3, 3], ready
    for k in range(300):
        # 0.2 m/s; at 0.3 m/s the ball would push the flange aside faster than the velocity limits of the wrist allow
        world.move("ball", pose(hand + [0.4 - 0.001 * k, 0.0, 0.0]))
        q = solver.step(q, 0.005).q
        # the world moves after the limit was kept: by 1 mm in a step
        assert kd.collision.distance(robot, q, world).distance >= 0.02 - 0.001 - 1e-6
    assert np.abs(q - ready).max() > 0.05
    limit.world = None
    for _ in range(300):
        q = solver.step(q, 0.02).q
    np.testing.assert_allclose(q, ready, atol=1e-3)


def test_a_disabled_limit_does_not_count() -> None:
    robot, world, reach = panda_over_ball()
    limit = CollisionLimit(world)
    limit.enabled = False
    result = kd.ik.WholeBody(robot, [reach], [PositionLimit(), limit]).solve(robot.configuration("ready"))
    assert result.success and limit.distance(robot, result.q).distance < 0.0


def test_inverse_dynamics_stops_before_the_margin() -> None:
    robot, world, reach = panda_over_ball()
    limit = CollisionLimit(world, margin=0.02)
    limits = [PositionLimit(), VelocityLimit(), TorqueLimit(), limit]
    q = np.asarray(robot.configuration("ready"))
    tasks = [reach, kd.tasks.PostureTask(q, weights=0.1)]
    controller = kd.control.InverseDynamicsQP(robot, tasks, limits=limits, dt=0.002)
    run = kd.sim.simulate(robot, controller, 2.0, q0=q, control_dt=0.002)
    distances = limit.distance(robot, run.q).distance
    assert distances.min() >= 0.02 - 5e-4  # the rows are a local model: this is what an interval of control misses
    assert distances[-1] < 0.025
    result = controller.solve(kd.State(robot, run.q[-1], run.v[-1]))
    assert any(name.endswith(" near ball") for name in result.at_limits)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": 0}, "rows"),
        ({"rows": 65}, "rows"),
        ({"margin": np.nan}, "margin"),
        ({"slow_down": 0.0}, "slow_down"),
        ({"gain": -1.0}, "gain"),
        ({"braking": 0.0}, "braking"),
        ({"world": "table"}, "world"),
        ({"priority": -1}, "priority"),
    ],
)
def test_errors_name_the_invalid_setting(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(kd.KinodynError, match=message):
        CollisionLimit(**arguments)  # type: ignore[arg-type]


def test_unknown_names_are_found_when_a_solver_is_made() -> None:
    limit = CollisionLimit(pairs=[("panda_link6", "nobody")])
    with pytest.raises(kd.KinodynError, match="nobody"):
        kd.ik.WholeBody(kd.load("panda"), [kd.tasks.FrameTask("panda_hand_tcp", [0.5, 0.0, 0.4])], [limit])


def test_what_a_solver_remembers_does_not_change_its_steps() -> None:
    """Steps of a solver that has seen other configurations and worlds are those of a new one."""
    robot, rng = kd.load("humanoid"), np.random.default_rng(3)
    stand, world = robot.configuration("standing"), World()
    world.add("table", Box((0.5, 1.2, 0.05)), pose([0.6, 0.0, 0.9]))
    limit = CollisionLimit(world, allowed=[("left_thigh", "right_thigh")])
    hand = kd.tasks.FrameTask("left_palm", kd.kinematics.com(robot, stand))
    tasks = [hand, kd.tasks.PostureTask(stand, priority=1)]
    limits = [PositionLimit(), VelocityLimit(), limit]
    solver, q, fewest = kd.ik.WholeBody(robot, tasks, limits), stand, np.inf
    for k in range(60):
        if k % 10 == 0:
            hand.target = kd.kinematics.com(robot, stand) + rng.uniform([-0.2, -0.5, -0.4], [0.8, 0.5, 0.4])
        if k % 15 == 7:
            world.move("table", pose([0.6 + 0.1 * rng.uniform(-1, 1), 0.0, 0.9]))
        if k == 25:
            world.add_sphere("ball", 0.1, [0.4, 0.5, 1.1])  # more pairs than the solver was made for
        if k in (30, 45):
            q = robot.integrate(stand, 0.05 * rng.normal(size=robot.nv))  # far from the configuration before
        before = solver._velocity
        step, fresh = solver.step(q, 0.01), kd.ik.WholeBody(robot, tasks, limits).step(q, 0.01, v=before)
        np.testing.assert_allclose(step.q, fresh.q, atol=1e-6)
        fewest, q = min(fewest, float(limit.distance(robot, q).distance)), step.q
    assert fewest < limit.margin + limit.slow_down  # rows were needed


def test_a_solve_ends_outside_the_margin_whatever_its_status() -> None:
    robot, rng = kd.load("panda"), np.random.default_rng(0)
    q0, statuses = robot.configuration("ready"), set()
    for goal in kd.kinematics.pose(robot, robot.random(60, seed=3), "panda_hand_tcp"):
        world = World()
        for k in range(3):
            world.add_sphere(f"ball {k}", rng.uniform(0.05, 0.15), goal[:3, 3] + 0.15 * rng.normal(size=3))
        limit = CollisionLimit(world, margin=0.02)
        if limit.distance(robot, q0).distance < limit.margin:
            continue
        reach = kd.tasks.FrameTask("panda_hand_tcp", goal)
        result = kd.ik.WholeBody(robot, [reach], [PositionLimit(), limit]).solve(q0)
        assert limit.distance(robot, result.q).distance >= limit.margin
        statuses.add(str(result.status))
        if result.status == "budget":
            assert result.iterations == 2000  # the default
    assert {"solved", "conflict"} <= statuses


def crowded() -> Robot:
    """An arm whose balls on both sides of a short link are close in every configuration, and a second arm."""
    ball = (Shape("sphere", (0.05,), np.eye(4)),)
    links = [Link("base"), Link("upper", collisions=ball), Link("short"), Link("lower", collisions=ball)]
    links += [Link("other", collisions=ball), Link("tip", collisions=ball)]
    y, z = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    joints = [
        Joint("j1", "revolute", "base", "upper", axis=z),
        Joint("j2", "revolute", "upper", "short", T_parent_child=pose([0.05, 0.0, 0.0]), axis=y),
        Joint("j3", "revolute", "short", "lower", T_parent_child=pose([0.052, 0.0, 0.0]), axis=y),
        Joint("j4", "revolute", "base", "other", T_parent_child=pose([0.0, 0.5, 0.0]), axis=z),
        Joint("j5", "revolute", "other", "tip", T_parent_child=pose([0.2, 0.0, 0.0]), axis=y),
    ]
    return Robot(Description("crowded", tuple(links), tuple(joints)))


CROWDED = frozenset({frozenset({"upper", "lower"}), frozenset({"lower", "other"}), frozenset({"lower", "tip"})})


def test_links_that_cannot_keep_the_margin_keep_a_smaller_distance_and_do_not_hold_the_robot() -> None:
    robot = crowded()
    limit = CollisionLimit(margin=0.01, pairs=CROWDED)
    ((pair, kept),) = limit.reduced_margins(robot).items()
    assert set(pair) == {"upper", "lower"}
    assert kept < 0.002
    assert CollisionLimit(margin=-0.1, pairs=CROWDED).reduced_margins(robot) == {}
    goal = np.array([0.4, -0.9, 0.2, 0.8, 0.3])
    solver = kd.ik.WholeBody(robot, [kd.tasks.PostureTask(goal)], [PositionLimit(), VelocityLimit(), limit])
    q, d0 = np.zeros(5), float(limit.distance(robot, np.zeros(5)).distance)
    for _ in range(400):
        q = solver.step(q, 0.01).q
        assert limit.distance(robot, q).distance >= min(kept, d0)
    np.testing.assert_allclose(q[[0, 3, 4]], goal[[0, 3, 4]], atol=1e-6)


def test_pairs_that_are_close_at_the_reference_keep_that_distance() -> None:
    robot = crowded()
    start = np.array([0.0, 0.1, 0.1, 0.2, -0.3])
    there = {frozenset(names): float(kd.collision.distance(robot, start, pairs=[names]).distance) for names in CROWDED}
    limit = CollisionLimit(margin=0.35, pairs=CROWDED, reference=start)
    reduced = {frozenset(names): kept for names, kept in limit.reduced_margins(robot).items()}
    assert {names for names, distance in there.items() if distance < 0.35} == set(reduced)
    assert all(kept < there[names] for names, kept in reduced.items())
    assert limit.margins(robot, start).min() >= 0
    with pytest.raises(kd.InputError, match="reference of 'collision' must be one configuration"):
        kd.ik.WholeBody(robot, [kd.tasks.PostureTask(start)], [CollisionLimit(reference=np.zeros((2, 5)))])
    for wrong in ("standing", np.full(5, np.nan)):
        with pytest.raises(kd.InputError, match="reference of 'collision'"):
            CollisionLimit(reference=wrong)


@pytest.mark.parametrize("margin", [0.005, 0.01])
def test_hands_of_a_robot_with_overlapping_spheres_reach_their_targets(margin: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load("talos")
        limit = CollisionLimit(margin=margin)
        q = robot.configuration("half_sitting")
        start = float(limit.distance(robot, q).distance)
    assert start < 0.0  # of the spheres of its legs
    goal = robot.random(1, seed=0)[0]
    goal[:7] = q[:7]
    hands = ("gripper_left_base_link", "gripper_right_base_link")
    tasks = [kd.tasks.FrameTask(hand, kd.kinematics.pose(robot, goal, hand)) for hand in hands]
    posture = kd.tasks.PostureTask(q)
    solver = kd.ik.WholeBody(robot, [*tasks, posture], [PositionLimit(), VelocityLimit(), limit])
    for _ in range(500):
        step = solver.step(q, 0.005)
        q = step.q
        assert limit.distance(robot, q).distance >= start
    assert np.abs(step.v).max() < 1e-4
    assert all(np.abs(task.error(robot, q)).max() < 1e-5 for task in tasks)
