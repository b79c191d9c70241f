"""Reactive motion: thrown balls never hit a moving robot that could know of them in time."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import robot_spheres
from kinodyn.errors import InputError
from kinodyn.planning import MovingObstacle, ReactiveMotion, ReactiveStep, plan

from .test_plan import LEFT, PANDA, RIGHT, assert_free, wall

SPHERES = robot_spheres(PANDA)
GRAVITY = np.array([0.0, 0.0, -9.81])
V = PANDA.limits.velocity


def no_time() -> float:
    """Return a clock that stands still: decisions do not depend on the machine."""
    return 0.0


def gaps(q: Array, ball: MovingObstacle, t: Array) -> Array:
    """Return the distance of a ball from the spheres of the moving links at configurations (n, nq) and times (n,)."""
    found = np.full(len(t), np.inf)
    centre = ball.at(t)
    for link in SPHERES.links[1:]:  # the first one is the base
        T, rows = kd.kinematics.pose(PANDA, q, link), SPHERES.of_link(link)
        spheres = np.einsum("tij,sj->tsi", T[:, :3, :3], rows[:, :3]) + T[:, None, :3, 3]
        distance = np.linalg.norm(spheres - centre[:, None], axis=-1) - rows[:, 3] - ball.radius
        found = np.minimum(found, distance.min(axis=1))
    return found


def thrown(seed: int, gravity: Array = GRAVITY) -> MovingObstacle:
    """Return a ball that would hit a link of the robot on its way, first seen half a second or more before."""
    rng = np.random.default_rng(seed)
    path = plan(PANDA, LEFT, RIGHT).trajectory(torque=False)
    contact, flight = rng.uniform(0.5, 1.2), rng.uniform(0.5, 0.9)
    link = rng.choice(["panda_link5", "panda_link6", "panda_link7"])
    target = kd.kinematics.pose(PANDA, path(contact), link)[:3, 3] + 0.03 * rng.normal(size=3)
    angle = rng.uniform(0.0, 2 * np.pi)
    start = target + 3.0 * np.array([np.cos(angle), np.sin(angle), rng.uniform(-0.2, 0.4)])
    velocity = (target - start) / flight - 0.5 * flight * gravity
    return MovingObstacle(start, velocity, 0.06, gravity, contact - flight)


@dataclass
class Outcome:
    """What happened in a run."""

    steps: list[ReactiveStep] = field(default_factory=list)
    hit_moving: bool = False
    hit_standing: bool = False
    q: list[Array] = field(default_factory=list)


def run(motion: ReactiveMotion, balls: list[MovingObstacle], seen: float = 0.0, duration: float = 3.0) -> Outcome:
    """Step until the goal; balls are known `seen` after they start."""
    outcome = Outcome()
    while motion.time < duration and not (motion.arrived and all(motion.time > ball.time + 1.5 for ball in balls)):
        t = motion.time
        outcome.steps.append(motion.step([ball for ball in balls if t >= ball.time + seen]))
        times = t + np.linspace(0.0, motion.period, 6)[1:]
        q, v = motion(times), motion(times, 1)
        outcome.q.append(q)
        moving = np.abs(v).max(axis=1) > 1e-9
        for ball in balls:
            hit = (gaps(q, ball, times) < 0.0) & (times > ball.time)
            outcome.hit_moving |= bool((hit & moving).any())
            outcome.hit_standing |= bool((hit & ~moving).any())
    return outcome


@pytest.mark.parametrize("seed", range(12))
def test_a_thrown_ball_never_hits_the_moving_robot(seed: int) -> None:
    motion = ReactiveMotion(PANDA, LEFT, clock=no_time, seed=seed)
    assert motion.go_to(RIGHT).success
    outcome = run(motion, [thrown(seed)])
    assert not outcome.hit_moving
    assert all(step.safe for step in outcome.steps)
    assert motion.arrived
    if outcome.hit_standing:  # it cannot be avoided, and is announced while the robot is not yet hit
        first = next(i for i, step in enumerate(outcome.steps) if step.threats)
        assert outcome.steps[first].threats == (0,)


def test_balls_that_would_hit_a_passive_robot_are_evaded() -> None:
    blind = plan(PANDA, LEFT, RIGHT).trajectory(torque=False)
    hits, standing, evaded = 0, 0, 0
    for seed in range(8):
        ball = thrown(seed)
        t = np.arange(max(ball.time, 0.0), blind.duration, 2e-3)
        hits += bool((gaps(blind(t), ball, t) < 0.0).any())
        motion = ReactiveMotion(PANDA, LEFT, clock=no_time, seed=seed)
        motion.go_to(RIGHT)
        outcome = run(motion, [ball])
        standing += outcome.hit_standing
        evaded += any(step.status == "evading" for step in outcome.steps)
    assert hits >= 6 and evaded >= 1
    assert standing <= hits // 2


def test_several_balls_at_constant_velocity_are_avoided() -> None:
    balls = [thrown(seed, np.zeros(3)) for seed in (20, 21, 22)]
    motion = ReactiveMotion(PANDA, LEFT, clock=no_time, margin=0.01)
    motion.go_to(RIGHT)
    outcome = run(motion, balls, duration=4.0)
    assert not outcome.hit_moving and motion.arrived


def test_a_ball_that_is_seen_too_late_is_reported() -> None:
    """Seen 30 ms before it hits the fastest part of the motion: no stop is possible."""
    ball = next(ball for ball in map(thrown, count()) if 0.6 < _contact(ball) < 0.9)
    motion = ReactiveMotion(PANDA, LEFT, clock=no_time)
    motion.go_to(RIGHT)
    outcome = run(motion, [ball], seen=_contact(ball) - 0.03 - ball.time)
    unsafe = [step for step in outcome.steps if not step.safe]
    assert unsafe and unsafe[0].threats == (0,)


def _contact(ball: MovingObstacle) -> float:
    """Return when a ball would first hit a robot that follows its path."""
    blind = plan(PANDA, LEFT, RIGHT).trajectory(torque=False)
    t = np.arange(0.01 + max(ball.time, 0.0), blind.duration, 2e-3)
    hit = np.flatnonzero(gaps(blind(t), ball, t) < 0.0)
    return float(t[hit[0]]) if len(hit) else np.inf


def test_without_obstacles_it_follows_the_plan() -> None:
    motion = ReactiveMotion(PANDA, LEFT, clock=no_time)
    found = motion.go_to(RIGHT)
    expected = found.trajectory(torque=False)
    outcome = run(motion, [])
    assert motion.arrived and motion.replans <= 1 and motion.missed == 0
    assert abs(motion.time - expected.duration) < 3 * motion.period
    q = np.concatenate(outcome.q)
    t = motion.period / 5 * np.arange(1, len(q) + 1) - motion.period
    np.testing.assert_allclose(q, expected(np.maximum(t, 0.0)), atol=1e-9)


def test_a_path_past_a_wall_is_not_replanned_at_every_stop_that_would_touch_it() -> None:
    """Next to the wall a stop, which brakes each joint by itself, would leave the path; nine plans without this."""
    motion = ReactiveMotion(PANDA, LEFT, world=wall(), clock=no_time)
    duration = motion.go_to(RIGHT).trajectory(torque=False).duration
    run(motion, [], duration=duration + 0.5)
    assert motion.arrived and motion.replans <= 1


def test_static_obstacles_count_and_limits_are_kept() -> None:
    world = wall()
    motion = ReactiveMotion(PANDA, LEFT, world=world, clock=no_time)
    assert motion.go_to(RIGHT).success
    outcome = run(motion, [thrown(3)], duration=6.0)
    assert motion.arrived and not outcome.hit_moving
    q = np.concatenate([LEFT[None], *outcome.q])
    assert_free(PANDA, world, q[::50])
    h = motion.period / 5
    v = np.diff(q, axis=0) / h
    a = np.diff(v, axis=0) / h
    assert (np.abs(v) <= V * 1.001).all() and (np.abs(a) <= 4 * V * 1.01).all()
    assert (np.abs(np.diff(a, axis=0) / h) <= 40 * V * 1.05).all()


def test_a_wall_that_appears_stops_the_robot() -> None:
    world = kd.collision.World()
    motion = ReactiveMotion(PANDA, LEFT, world=world, clock=no_time)
    motion.go_to(RIGHT)
    for _ in range(10):
        motion.step()
    world.add_box("wall", (0.3, 0.04, 0.6), ((0.65, 0.0, 0.3), None))
    outcome = run(motion, [], duration=6.0)
    assert motion.arrived and motion.replans >= 1
    assert kd.collision.free(PANDA, np.concatenate(outcome.q), world).all()


def test_late_decisions_continue_the_safe_motion_and_are_counted() -> None:
    times = count(step=1.0)
    motion = ReactiveMotion(PANDA, LEFT, clock=lambda: float(next(times)))
    motion.go_to(RIGHT)
    outcome = run(motion, [thrown(0)], duration=0.3)
    assert all(step.late for step in outcome.steps) and motion.missed == len(outcome.steps)
    np.testing.assert_array_equal(motion(motion.time), LEFT)  # no decision to move was in time


def test_one_late_decision_does_not_leave_the_path() -> None:
    late = iter([0.0] * 20 + [0.0, 1.0] + [1.0] * 10_000)
    motion = ReactiveMotion(PANDA, LEFT, clock=lambda: next(late))
    motion.go_to(RIGHT)
    outcome = run(motion, [])
    assert motion.missed == 1 and motion.replans == 0 and motion.arrived
    assert {step.status for step in outcome.steps} <= {"following", "standing"}


def test_a_ball_is_predicted() -> None:
    ball = MovingObstacle([1.0, 2.0, 3.0], [1.0, 0.0, 2.0], 0.1, GRAVITY, time=1.0)
    np.testing.assert_allclose(ball.at(1.0), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(ball.at([2.0]), [[2.0, 2.0, 5.0 - 0.5 * 9.81]])


def test_invalid_input_is_rejected() -> None:
    with pytest.raises(InputError, match="velocity"):
        MovingObstacle([0, 0, 0], [np.nan, 0, 0], 0.1)
    with pytest.raises(InputError, match="radius"):
        MovingObstacle([0, 0, 0], [0, 0, 0], 0.0)
    with pytest.raises(InputError, match="position"):
        MovingObstacle([[0, 0, 0]], [0, 0, 0], 0.1)
    with pytest.raises(InputError, match="q0"):
        ReactiveMotion(PANDA, [LEFT, RIGHT])
    with pytest.raises(InputError, match="period"):
        ReactiveMotion(PANDA, LEFT, period=0.0)
