"""Robots between processes and threads: pickled, copied, forked, shared; and memory over many calls."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import InputError, KinodynError
from kinodyn.model.robot import Robot

K, D, C = kd.kinematics, kd.dynamics, kd.centroidal


@pytest.fixture(autouse=True)
def same_threads_afterwards() -> Iterator[None]:
    before = kd.get_threads()
    yield
    kd.set_threads(before)


def everything(robot: Robot, q: Array, v: Array) -> list[Array]:
    """Call one function of each kind."""
    frame = robot.frame_names[-1]
    return [
        K.poses(robot, q),
        K.jacobian(robot, q, frame),
        K.com(robot, q),
        D.inverse(robot, q, v, v),
        D.forward(robot, q, v, v, {frame: np.ones(6)}),
        D.mass_matrix(robot, q),
        *D.forward_derivatives(robot, q, v, v),
        C.momentum(robot, q, v),
        robot.integrate(q, v),
        kd.State(robot, q, v).bias,
    ]


def assert_same_bits(found: list[Array], expected: list[Array]) -> None:
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)


def test_a_pickled_robot_is_the_same_robot(robot: Robot) -> None:
    for original in (robot, robot.replace(gravity=[1.0, 2.0, 3.0], damping=0.7)):
        again = pickle.loads(pickle.dumps(original))
        q, v = original.random(9), np.ones((9, original.nv))
        assert_same_bits(everything(again, q, v), everything(original, q, v))
        assert again.joint_names == original.joint_names and again.frame_names == original.frame_names
        for name in ("lower", "upper", "velocity", "effort"):
            np.testing.assert_array_equal(getattr(again.limits, name), getattr(original.limits, name))
        np.testing.assert_array_equal(again.damping, original.damping)


def test_copying_a_robot_returns_the_same_object(robot: Robot) -> None:
    assert copy.copy(robot) is robot
    assert copy.deepcopy({"robot": robot})["robot"] is robot


def test_a_robot_is_immutable(robot: Robot) -> None:
    for name in ("nq", "gravity", "name", "limits", "new"):
        with pytest.raises(AttributeError, match=f"a Robot is immutable: {name} cannot be set"):
            setattr(robot, name, 3)
    with pytest.raises(AttributeError, match="a Robot is immutable: nq cannot be deleted"):
        del robot.nq
    limits = robot.limits
    constants = ((robot, name) for name in ("gravity", "armature", "damping", "friction", "inertial_parameters"))
    for owner, name in ((limits, "lower"), (limits, "upper"), (limits, "velocity"), (limits, "effort"), *constants):
        before = getattr(owner, name)
        getattr(owner, name)[...] = 5.0
        np.testing.assert_array_equal(getattr(owner, name), before)
    with pytest.raises(AttributeError):
        limits.lower = np.zeros(robot.nq)  # type: ignore[misc]


def test_replacing_constants_leaves_the_robot_and_the_callers_array_alone() -> None:
    robot = kd.load("puma560")
    damping = np.arange(6.0)
    other = robot.replace(damping=damping)
    damping[:] = 9.0
    np.testing.assert_array_equal(other.damping, np.arange(6.0))
    assert robot.damping[0] == pytest.approx(1.48e-3 * 62.6111**2)
    assert other.replace(armature=0.0).damping[3] == 3.0
    again = Robot(robot.description, gravity=damping[:3])
    damping[:] = 0.0
    np.testing.assert_array_equal(again.gravity, [9.0, 9.0, 9.0])


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_another_process_computes_the_same(method: str) -> None:
    """Also after the parent has used its pool of threads, which no fork inherits."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    robot = kd.load("humanoid")
    kd.set_threads(2)
    q, v = robot.random(400), np.ones((400, robot.nv))
    expected = D.inverse(robot, q, v, v)
    with multiprocessing.get_context(method).Pool(1) as pool:
        for _ in range(2):
            found = pool.apply_async(D.inverse, (robot, q, v, v)).get(timeout=600)
            np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(D.inverse(robot, q, v, v), expected)


@pytest.mark.parametrize("n", [133, 161, 320, 1000, 1025])
def test_results_are_bit_identical_for_any_number_of_threads(n: int, instruction_set: str) -> None:
    """Batches are cut in pieces; the last one may hold a single state."""
    robot = kd.load("humanoid")
    q, v = robot.random(n), np.random.default_rng(1).normal(size=(n, robot.nv))
    kd.set_threads(1)
    expected = everything(robot, q, v)
    for threads in (2, 3):
        kd.set_threads(threads)
        assert_same_bits(everything(robot, q, v), expected)


def test_python_threads_share_one_robot() -> None:
    """Four at once, each with its own states, in batches that use the pool, small ones, and one by one."""
    robot = kd.load("humanoid")
    kd.set_threads(2)
    states = [(robot.random(200, seed=i), np.random.default_rng(i).normal(size=(200, robot.nv))) for i in range(4)]

    def work(i: int) -> list[Array]:
        q, v = states[i]
        small = everything(robot, q[:5], v[:5])
        single = [array for k in range(10) for array in everything(robot, q[k], v[k])]
        return [*everything(robot, q, v), *small, *single]

    expected = [work(i) for i in range(4)]
    found: list[list[Array]] = [[] for _ in range(4)]
    faults: list[BaseException] = []
    barrier = threading.Barrier(4)

    def run(i: int) -> None:
        try:
            for _ in range(5):
                barrier.wait(timeout=60)
                found[i] = work(i)
                assert_same_bits(found[i], expected[i])
        except BaseException as error:  # a failing thread must fail the test, not vanish
            faults.append(error)
            barrier.abort()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="for Python without the GIL")
def test_the_core_does_not_enable_the_gil() -> None:
    code = "import sys, kinodyn as kd; kd.load('panda'); print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n" and not done.stderr


def test_the_number_of_threads_may_change_while_others_work() -> None:
    robot = kd.load("humanoid")
    q = robot.random(300)
    expected, stop, wrong = K.com(robot, q), threading.Event(), []

    def run() -> None:
        while not stop.is_set():
            if not np.array_equal(K.com(robot, q), expected):
                wrong.append(True)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for i in range(100):
        kd.set_threads(1 + i % 3)
        assert np.array_equal(K.com(robot, q), expected)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_error_in_a_batch_names_the_first_invalid_state() -> None:
    robot = kd.load("humanoid")
    kd.set_threads(2)
    q = robot.random(1000)
    q[[950, 731, 500], [3, 4, 5]] = np.nan
    for _ in range(20):
        with pytest.raises(InputError, match=r"q\[500, 5\] is not finite"):
            K.com(robot, q)


STATM = Path("/proc/self/statm")
MEGABYTE = 2**20


def resident() -> int:
    """Bytes of memory in use by this process."""
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(work: Callable[[int], Any], rounds: int) -> int:
    work(rounds // 20)
    before = resident()
    work(rounds)
    return resident() - before


@pytest.mark.skipif(not STATM.exists(), reason="memory is read from /proc")
def test_a_million_calls_do_not_grow_memory() -> None:
    robot = kd.load("planar2r")
    q, v, frame = robot.random(), np.ones(2), robot.frame_names[-1]
    state = kd.State(robot, q, v)

    def work(rounds: int) -> None:
        for _ in range(rounds):
            K.com(robot, q)
            robot.integrate(q, v)
            D.forward(robot, q, v, v)
            K.jacobian(robot, q, frame)
            state.update(q, v)

    assert growth(work, 200_000) < MEGABYTE


@pytest.mark.skipif(not STATM.exists(), reason="memory is read from /proc")
def test_many_batches_states_and_robots_do_not_grow_memory() -> None:
    robot = kd.load("planar2r")
    q, v = robot.random(100), np.ones((100, 2))
    description = robot.description

    def work(rounds: int) -> None:
        for _ in range(rounds):
            D.forward(robot, q, v, v, {"link2": np.ones((100, 6))})
            D.inverse(robot, q[:, None], v[:5], v[:5])
            kd.State(robot, q, v).jacobian("link2")
            D.factorize(robot, q.tolist()).solve(v)
            Robot(description)

    assert growth(work, 1000) < MEGABYTE


@pytest.mark.skipif(not STATM.exists(), reason="memory is read from /proc")
def test_a_hundred_thousand_errors_do_not_grow_memory() -> None:
    robot = kd.load("humanoid")
    q, v = robot.random(), np.zeros(robot.nv)
    bad, flat = q.copy(), q.copy()
    bad[9] = np.nan
    flat[3:7] = 0.5, 0.5, 0.5, 0.6
    wrong: list[Callable[[], Any]] = [
        lambda: K.com(robot, bad),
        lambda: K.com(robot, flat),
        lambda: K.com(robot, q[1:]),
        lambda: K.com(robot, None),  # type: ignore[arg-type]
        lambda: K.com(robot, q, out=v),
        lambda: K.pose(robot, q, -1),
        lambda: D.inverse(robot, q, v, v[1:]),
        lambda: D.inverse(robot, q, v, v, {"head": bad[:5]}),
        lambda: D.bias(robot, q, 1e200 * np.ones(robot.nv)),
        lambda: K.jacobian(robot, q, 0, reference="x"),  # type: ignore[arg-type]
    ]

    def work(rounds: int) -> None:
        for _ in range(rounds):
            for function in wrong:
                try:
                    function()
                except KinodynError:
                    continue
                raise AssertionError("no error")

    assert growth(work, 10_000) < MEGABYTE
