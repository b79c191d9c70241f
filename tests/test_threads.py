"""Results do not depend on the threads of the core, nor on other Python threads that call it at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array

PYTHON_THREADS = 3


@pytest.fixture(autouse=True)
def threads_of_the_core() -> Iterator[None]:
    """Let batches use three threads, also on a machine with one core."""
    before = kd.get_threads()
    kd.set_threads(3)
    yield
    kd.set_threads(before)


def batch() -> Array:
    robot = kd.load("humanoid")
    q = robot.random(500, seed=0)
    v = np.ones((500, robot.nv))
    return np.concatenate([kd.dynamics.inverse(robot, q, v, v), kd.kinematics.com(robot, q)], axis=-1)


def inverse_kinematics() -> Array:
    robot = kd.load("panda")
    frame = robot.frame_names[-1]
    return kd.ik.solve(robot, {frame: kd.kinematics.pose(robot, robot.random(200, seed=0), frame)}, seed=0).q


def whole_body() -> Array:
    robot = kd.load("humanoid")
    T = kd.kinematics.pose(robot, robot.configuration("standing"), "left_palm").copy()
    T[2, 3] += 0.1
    feet = [kd.tasks.ContactTask(f"{side}_sole") for side in ("left", "right")]
    solver = kd.ik.WholeBody(robot, [*feet, kd.tasks.FrameTask("left_palm", T)], [kd.limits.PositionLimit()])
    return solver.solve(np.repeat(robot.configuration("standing")[None], 70, axis=0), iterations=10).q


def collision() -> Array:
    robot = kd.load("panda")
    world = kd.collision.World()
    world.add_sphere("ball", 0.2, [0.4, 0.0, 0.5])
    q = robot.random(2000, seed=0)
    return np.concatenate([kd.collision.free(robot, q, world), kd.collision.distance(robot, q[:300], world).distance])


def planning() -> Array:
    robot = kd.load("panda")
    world = kd.collision.World()
    world.add_sphere("ball", 0.1, [0.5, 0.0, 0.5])
    q = robot.random(300, seed=0)
    start, goal = q[kd.collision.free(robot, q, world)][:2]
    plan = kd.planning.plan(robot, start, goal, world, seed=0, time_budget=600.0)
    assert plan.success
    return plan.path


def retargeting() -> Array:
    return kd.retarget.retarget(kd.retarget.example_motion(), kd.load("humanoid")).q


CALLS = [batch, inverse_kinematics, whole_body, collision, planning, retargeting]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_python_threads_that_call_at_the_same_time_get_what_one_gets(call: Callable[[], Array]) -> None:
    alone = call()
    with ThreadPoolExecutor(PYTHON_THREADS) as pool:
        together = list(pool.map(lambda _: call(), range(PYTHON_THREADS)))
    kd.set_threads(1)
    for found in (*together, call()):
        np.testing.assert_array_equal(found, alone)
