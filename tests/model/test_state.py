"""State: one pass, the same answers as the functions; update in place without allocation."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

Close = Callable[..., None]
Draw = Callable[..., tuple[Array, Array, Array, Array]]
K, D, C = kd.kinematics, kd.dynamics, kd.centroidal
ARRAYS = ("q", "v", "poses", "mass_matrix", "bias", "com", "com_velocity", "com_jacobian")
ARRAYS += ("momentum_matrix", "momentum", "momentum_bias")


def check(state: kd.State, q: Array, v: Array, assert_close: Close) -> None:
    robot = state.robot
    np.testing.assert_array_equal(state.q, q)
    np.testing.assert_array_equal(state.v, v)
    assert_close(state.poses, K.poses(robot, q), 1e-13)
    assert_close(state.mass_matrix, D.mass_matrix(robot, q), 1e-13)
    assert_close(state.bias, D.bias(robot, q, v))
    assert_close(state.com, K.com(robot, q), 1e-13)
    assert_close(state.com_velocity, K.com_velocity(robot, q, v), 1e-13)
    assert_close(state.com_jacobian, K.com_jacobian(robot, q), 1e-13)
    assert_close(state.momentum_matrix, C.momentum_matrix(robot, q), 1e-13)
    assert_close(state.momentum, C.momentum(robot, q, v), 1e-13)
    assert_close(state.momentum_bias, C.momentum_rate(robot, q, v, 0 * v))
    for frame in (robot.frame_names[-1], 0, len(robot.frame_names) // 2):
        assert_close(state.pose(frame), K.pose(robot, q, frame), 1e-13)
        for reference in ("local_world_aligned", "local", "world"):
            expected = K.jacobian(robot, q, frame, reference=reference)  # type: ignore[arg-type]
            assert_close(state.jacobian(frame, reference=reference), expected, 1e-13)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [None, 1, 9])
def test_a_state_agrees_with_the_functions(
    robot: Robot, states: Draw, assert_close: Close, instruction_set: str, n: int | None
) -> None:
    q, v, _, _ = states(robot, n)
    check(kd.State(robot, q, v), q, v, assert_close)


def test_a_state_is_updated_in_place(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, v, _, _ = states(robot, 9)
    state = kd.State(robot, q, v)
    before = {name: getattr(state, name) for name in ARRAYS}
    for seed in (1, 2):
        q, v, _, _ = states(robot, 9, seed=seed)
        assert state.update(q, v) is state
        check(state, q, v, assert_close)
    for name, array in before.items():
        assert getattr(state, name) is array


def test_a_state_without_v_has_zero_velocity(robot: Robot, assert_close: Close) -> None:
    q = robot.random(3)
    check(kd.State(robot, q), q, np.zeros((3, robot.nv)), assert_close)


def test_one_velocity_serves_many_configurations(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, v, _, _ = states(robot, 5)
    state = kd.State(robot, q, v[0])
    check(state, q, np.broadcast_to(v[0], v.shape), assert_close)
    check(state.update(q[1], v), np.broadcast_to(q[1], q.shape), v, assert_close)


def test_update_does_not_allocate() -> None:
    """One mass matrix of the humanoid would be 10 kB."""
    robot = kd.load("humanoid")
    q, v = robot.random(2), np.ones((2, robot.nv))
    state = kd.State(robot, q[0], v[0])
    state.update(q[1], v[1])
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for i in range(100):
            state.update(q[i % 2], v[i % 2])
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert now - start < 1000
    assert peak - start < 2000


def test_a_jacobian_with_out_does_not_allocate() -> None:
    robot = kd.load("humanoid")
    state, out = kd.State(robot, robot.random()), np.empty((6, robot.nv))
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        assert state.jacobian("left_foot", out=out) is out
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - start < 1000


def test_what_is_written_into_the_arrays_of_a_state_lasts_until_the_next_update(robot: Robot) -> None:
    q, v = robot.random(3), np.ones((3, robot.nv))
    state = kd.State(robot, q, v)
    for name in ARRAYS:
        getattr(state, name)[...] = 0.0
    state.update(q, v)
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(state, name), getattr(kd.State(robot, q, v), name))


def test_a_state_keeps_its_own_copy_of_q_and_v() -> None:
    robot = kd.load("puma560")
    q, v = robot.random(), np.ones(6)
    kept, state = q.copy(), kd.State(robot, q, v)
    q[:], v[:] = 5.0, 5.0
    np.testing.assert_array_equal(state.q, kept)
    np.testing.assert_array_equal(state.v, np.ones(6))


def test_a_state_can_be_updated_with_its_own_arrays() -> None:
    """state.update(integrate(state.q, ...), state.v), and even its own views, without a copy in between."""
    robot = kd.load("humanoid")
    q, v = robot.random(), np.ones(robot.nv)
    state = kd.State(robot, q, v)
    mass = state.mass_matrix.copy()
    state.update(state.q, state.v)
    np.testing.assert_array_equal(state.mass_matrix, mass)


def test_a_robot_without_mass_has_poses_and_jacobians_but_no_com() -> None:
    robot = kd.from_dh([kd.DH(a=0.4), kd.DH(a=0.3)])
    q = robot.random(seed=1)
    state = kd.State(robot, q, np.ones(2))
    np.testing.assert_allclose(state.pose("link2"), K.pose(robot, q, "link2"), atol=1e-15)
    np.testing.assert_allclose(state.jacobian("link2"), K.jacobian(robot, q, "link2"), atol=1e-15)
    assert not state.mass_matrix.any() and not state.bias.any()
    for name in ("com", "com_jacobian", "com_velocity", "momentum_matrix", "momentum", "momentum_bias"):
        with pytest.raises(kd.SingularError, match=f"no moving mass, so it has no {name}"):
            getattr(state, name)
    with pytest.raises(AttributeError, match="no attribute 'mass'"):
        _ = state.mass
