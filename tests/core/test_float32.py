"""Batches in float32 against float64 on every robot of the zoo, within the bounds of the page "Conventions".

The states are numbers of float32, so that the errors are those of the arithmetic alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import InputError, SingularError
from kinodyn.model.compile import compile_tree, frame_table
from kinodyn.model.robot import Robot

from ..laws import Draw, frames
from .float32_bounds import MASS, ROTATION, TORQUE, Magnitudes, U, length

K, D = kd.kinematics, kd.dynamics
N = 37  # states: they fill packs of four, eight and sixteen lanes and leave a remainder
SINGLE: dict[str, Any] = {"dtype": np.float32}


@pytest.fixture
def rounded(states: Draw) -> Callable[[Robot], tuple[Array, Array, Array, Array]]:
    """Return the function that draws states which float32 represents exactly, with angles within a turn."""

    def draw(robot: Robot) -> tuple[Array, Array, Array, Array]:
        q, v, a, tau = states(robot, N)
        return tuple(x.astype(np.float32).astype(float) for x in (q, v, a, tau))  # type: ignore[return-value]

    return draw


def within(found: Any, expected: Array, bound: Array | float) -> None:
    """Require float32 numbers within a bound of the others."""
    assert found.dtype == np.float32
    assert found.shape == expected.shape
    excess = np.abs(found.astype(float) - expected) - bound
    assert excess.max(initial=0.0) <= 0, f"beyond the bound by {excess.max():.1e}"


@pytest.mark.usefixtures("instruction_set")
def test_poses_are_within_the_bound(robot: Robot, rounded: Callable[[Robot], Any]) -> None:
    q, v, a, _ = rounded(robot)
    m = Magnitudes(robot, q, v, a)
    T = K.poses(robot, q)
    found = K.poses(robot, q, **SINGLE)
    error = ROTATION * (m.depth + 1)
    reach = np.max([body.reach for body in m.bodies], axis=0) + _frame_offset(robot)
    within(found[..., :3, :3], T[..., :3, :3], error)
    within(found[..., :3, 3], T[..., :3, 3], (error * reach)[:, None, None])
    np.testing.assert_array_equal(found[..., 3, :], np.broadcast_to([0, 0, 0, 1], found[..., 3, :].shape))
    np.testing.assert_array_equal(K.pose(robot, q, 1, **SINGLE), found[:, 1])


@pytest.mark.parametrize("reference", ["aligned", "local", "world"])
def test_jacobians_are_within_the_bound(robot: Robot, rounded: Callable[[Robot], Any], reference: Any) -> None:
    q, v, a, _ = rounded(robot)
    m = Magnitudes(robot, q, v, a)
    reach = np.max([body.reach for body in m.bodies], axis=0) + _frame_offset(robot)
    joint_scale = np.zeros(robot.nv)
    for record in m.records:
        joint_scale[record["iv"]] += abs(record["scale"])
    error = 4 * ROTATION * (m.depth + 1) * max(1.0, joint_scale.max())
    for frame in frames(robot):
        J = K.jacobian(robot, q, frame, reference=reference)
        found = K.jacobian(robot, q, frame, reference=reference, **SINGLE)
        within(found[:, 3:], J[:, 3:], error)
        within(found[:, :3], J[:, :3], (error * np.maximum(reach, 1.0))[:, None, None])


def test_the_com_is_within_the_bound(robot: Robot, rounded: Callable[[Robot], Any]) -> None:
    q, v, a, _ = rounded(robot)
    m = Magnitudes(robot, q, v, a)
    moment = sum(b.record["mass"] * b.reach + length(b.record["h"]) for b in m.bodies)
    bound = ROTATION * (m.depth + 1) * moment / robot.mass + U * len(m.bodies) * moment / robot.mass
    within(K.com(robot, q, **SINGLE), K.com(robot, q), bound[:, None])


@pytest.mark.usefixtures("instruction_set")
def test_inverse_dynamics_is_within_the_bound(robot: Robot, rounded: Callable[[Robot], Any]) -> None:
    q, v, a, _ = rounded(robot)
    within(D.inverse(robot, q, v, a, **SINGLE), D.inverse(robot, q, v, a), _torque_bound(robot, q, v, a))


def test_wrenches_count_in_float32(robot: Robot, rounded: Callable[[Robot], Any]) -> None:
    q, v, a, _ = rounded(robot)
    frame = frames(robot)[0]
    wrench = np.arange(6.0)
    m = Magnitudes(robot, q, v, a)
    arm = np.max([body.reach for body in m.bodies], axis=0) + _frame_offset(robot)
    share = ROTATION * 2 * (m.depth + 1) * length(wrench) * (1 + arm)
    scale = sum(abs(record["scale"]) for record in m.records)
    found = D.inverse(robot, q, v, a, {frame: wrench}, **SINGLE)
    within(found, D.inverse(robot, q, v, a, {frame: wrench}), _torque_bound(robot, q, v, a) + scale * share[:, None])


@pytest.mark.usefixtures("instruction_set")
def test_mass_matrices_are_within_the_bound(robot: Robot, rounded: Callable[[Robot], Any]) -> None:
    q, v, a, _ = rounded(robot)
    m = Magnitudes(robot, q, v, a)
    within(D.mass_matrix(robot, q, **SINGLE), D.mass_matrix(robot, q), MASS * (m.depth + 1) * m.mass_matrix())


@pytest.mark.usefixtures("instruction_set")
def test_accelerations_balance_the_torques_within_the_bound(robot: Robot, rounded: Callable[[Robot], Any]) -> None:
    q, v, _, tau = rounded(robot)
    a = D.forward(robot, q, v, tau)
    found = D.forward(robot, q, v, tau, **SINGLE)
    assert found.dtype == np.float32
    missing = np.einsum("nij,nj->ni", D.mass_matrix(robot, q), found - a)
    m = Magnitudes(robot, q, v, a)
    by_mass = MASS * (m.depth + 1) * np.einsum("nij,nj->ni", m.mass_matrix(), np.abs(a))
    assert (np.abs(missing) <= 4 * _torque_bound(robot, q, v, a) + by_mass + 4 * U * np.abs(tau)).all()


def _torque_bound(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    m = Magnitudes(robot, q, v, a)
    joints = np.abs(robot.damping * v) + np.abs(robot.armature * a)
    return np.asarray(TORQUE * (m.depth + 1) * m.torques() + 4 * U * joints)


def _frame_offset(robot: Robot) -> float:
    """Return the largest distance of a frame from the origin of its body."""
    places = compile_tree(robot.description).places.values()
    return float(length(frame_table(list(places))["p"]).max())


@pytest.mark.usefixtures("instruction_set")
def test_large_angles_lose_no_more_than_their_rounding() -> None:
    robot = kd.load("planar2r")
    angles = np.array([3.0, 100.0, 8000.0, 9000.0, 1e6, 1e12], dtype=np.float32)
    q = np.stack([angles, np.zeros_like(angles)], axis=-1)
    T = K.pose(robot, q.astype(float), "link2")
    within(K.pose(robot, q, "link2", **SINGLE)[:, :2, :2], T[:, :2, :2], 4 * U + 2e-7)


@pytest.mark.parametrize("dtype", [np.float32, "float32", np.dtype("float32"), np.dtype("<f4")])
def test_every_name_of_float32_is_understood(dtype: Any) -> None:
    robot = kd.load("panda")
    assert K.pose(robot, robot.neutral(), "panda_link7", dtype=dtype).dtype == np.float32


@pytest.mark.parametrize("dtype", [None, np.float64, "float64", float])
def test_other_calls_stay_in_float64(dtype: Any) -> None:
    robot = kd.load("panda")
    q = robot.random(3, seed=1)
    found = K.pose(robot, q, "panda_link7", dtype=dtype)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, K.pose(robot, q, "panda_link7"))


@pytest.mark.parametrize("dtype", [np.float16, np.int32, "double precision", 3, object(), np.complex64])
def test_other_dtypes_are_refused(dtype: Any) -> None:
    robot = kd.load("panda")
    with pytest.raises(InputError, match="dtype must be float32 or float64"):
        K.pose(robot, robot.neutral(), "panda_link7", dtype=dtype)
    with pytest.raises(InputError, match="dtype must be float32 or float64"):
        D.mass_matrix(robot, robot.neutral(), dtype=dtype)


def test_out_must_have_the_dtype_of_the_call() -> None:
    robot = kd.load("panda")
    q = robot.random(5, seed=1)
    out = np.empty((5, 7, 7), np.float32)
    assert D.mass_matrix(robot, q, dtype=np.float32, out=out) is out
    np.testing.assert_array_equal(out, D.mass_matrix(robot, q, dtype=np.float32))
    with pytest.raises(InputError, match="float32 array"):
        D.mass_matrix(robot, q, dtype=np.float32, out=np.empty((5, 7, 7)))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="float64 array"):
        D.mass_matrix(robot, q, out=out)  # type: ignore[arg-type]


@pytest.mark.usefixtures("instruction_set")
def test_invalid_numbers_are_found_where_they_are() -> None:
    robot = kd.load("humanoid")
    q = robot.random(40, seed=1).astype(np.float32)
    q[33, 9] = np.nan
    with pytest.raises(InputError, match=r"q\[33, 9\] is not finite in float32"):
        K.poses(robot, q, dtype=np.float32)
    q[33, 9] = 0.0
    q[21, 3:7] *= 1.5
    with pytest.raises(InputError, match=r"unit quaternion.*norm is 1\.5.* at state \[21\]"):
        D.inverse(robot, q, np.zeros(robot.nv), np.zeros(robot.nv), dtype=np.float32)


def test_numbers_that_float32_cannot_hold_are_reported() -> None:
    robot = kd.load("planar2r")
    with pytest.raises(InputError, match="v\\[0\\] is not finite in float32"):
        D.inverse(robot, [0.0, 0.0], [1e39, 0.0], [0.0, 0.0], dtype=np.float32)
    with pytest.raises(InputError, match="too large for float32"):
        D.inverse(robot, [0.0, 0.0], [1e30, 0.0], [0.0, 0.0], dtype=np.float32)


def test_a_joint_without_inertia_is_singular_in_float32() -> None:
    description = kd.load("planar2r").description
    links = tuple(link.__class__(link.name) if link.name == "link2" else link for link in description.links)
    robot = Robot(description.__class__(description.name, links, description.joints))
    with pytest.raises(SingularError, match="link2"):
        D.forward(robot, np.zeros((3, 2)), np.zeros(2), np.zeros(2), dtype=np.float32)


def test_batches_broadcast_and_large_results_are_streamed() -> None:
    robot = kd.load("humanoid")
    q = robot.random(900, seed=2).astype(
        np.float32
    )  # 900 mass matrices exceed the size from which the cache is bypassed
    M = D.mass_matrix(robot, q, dtype=np.float32)
    np.testing.assert_array_equal(M[700:703], D.mass_matrix(robot, q[700:703], dtype=np.float32))
    tau = D.inverse(robot, q[:6].reshape(2, 3, -1), np.zeros(robot.nv), np.ones((3, robot.nv)), dtype=np.float32)
    assert tau.shape == (2, 3, robot.nv)
    expected = D.inverse(robot, q[4], np.zeros(robot.nv), np.ones(robot.nv), dtype=np.float32)
    np.testing.assert_array_equal(tau[1, 1], expected)
