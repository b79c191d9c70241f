"""Conversion to and from ROS messages."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings

from kinodyn.errors import InputError
from kinodyn.model import convert

from .convert_robots import (
    BALL_ROBOT,
    ONE_HINGE,
    random_state,
    seeds,
    urdf_joint,
    urdf_robot,
)

FOUR = urdf_robot(
    urdf_joint("a", "revolute", "w", "x")
    + urdf_joint("b", "prismatic", "x", "y")
    + urdf_joint("m", "revolute", "x", "u", '<mimic joint="a"/>')
    + urdf_joint("c", "continuous", "w", "z"),
    links="wxyzu",
    base="floating",
)


POSE = {"position": {"x": 1, "y": 2, "z": 3}, "orientation": {"x": 0, "y": 0, "z": 0.6, "w": 0.8}}


TWIST = {"linear": {"x": 4, "y": 5, "z": 6}, "angular": {"x": 7, "y": 8, "z": 9}}


MESSAGE = {
    "name": ["c", "a", "m", "b"],
    "position": [3, 1, 9, 2],
    "velocity": [6, 4, 9, 5],
    "effort": [0.3, 0.1, 9, 0.2],
}


def as_object(message: dict) -> SimpleNamespace:
    parts = {key: as_object(value) if isinstance(value, dict) else value for key, value in message.items()}
    return SimpleNamespace(**parts)


@pytest.mark.parametrize("form", [dict, as_object])
def test_a_joint_state_in_any_order_is_read(form):
    state = convert.joint_state(FOUR, form(MESSAGE), pose=form(POSE), twist=form(TWIST))
    np.testing.assert_array_equal(state.q, [1, 2, 3, 0, 0, 0.6, 0.8, 1, 2, 3])
    np.testing.assert_array_equal(state.v, [4, 5, 6, 7, 8, 9, 4, 5, 6])
    np.testing.assert_array_equal(state.tau, [0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.3])


@settings(max_examples=40, deadline=None)
@given(seed=seeds)
def test_ros_messages_survive_a_round_trip(seed):
    q, v, _, tau = random_state(FOUR, seed)
    tau[:6] = 0  # a JointState has no efforts of the base
    message, odometry = convert.to_joint_state(FOUR, q, v, tau), convert.to_odometry(FOUR, q, v)
    state = convert.joint_state(FOUR, message, **odometry)
    for back, there in zip(state, (q, v, tau), strict=True):
        np.testing.assert_array_equal(back, there)


def test_a_joint_state_without_velocity_and_effort_has_none():
    message = convert.to_joint_state(FOUR, FOUR.random(seed=0))
    assert message["velocity"] == message["effort"] == []
    state = convert.joint_state(FOUR, message, pose=POSE)
    assert state.v is None and state.tau is None


def test_joints_missing_from_a_joint_state_take_the_default():
    default = np.arange(10.0)
    message = {"name": ["b"], "position": [20.0], "velocity": [3.0]}
    state = convert.joint_state(FOUR, message, default=default)
    np.testing.assert_array_equal(state.q, [0, 1, 2, 3, 4, 5, 6, 7, 20, 9])
    np.testing.assert_array_equal(state.v, [0, 0, 0, 0, 0, 0, 0, 3, 0])
    np.testing.assert_array_equal(default, np.arange(10.0))


def test_unknown_names_are_skipped_on_request():
    message = {"name": ["c", "lamp", "a", "b"], "position": [3, 8, 1, 2]}
    state = convert.joint_state(FOUR, message, pose=POSE, ignore_unknown=True)
    np.testing.assert_array_equal(state.q[7:], [1, 2, 3])


@pytest.mark.parametrize(
    ("message", "more", "text"),
    [
        ({"name": ["a", "c"], "position": [1, 2]}, {"pose": POSE}, "position of b; "),
        ({"name": ["a", "b", "c"], "position": [1, 2, 3]}, {}, "position of root_joint; pass pose="),
        ({"name": ["a", "b", "c", "lamp"], "position": [1, 2, 3, 4]}, {"pose": POSE}, "lamp; known: a, b, c, m"),
        ({"name": ["a", "b", "b", "c"], "position": [1, 2, 3, 4]}, {"pose": POSE}, "b more than once"),
        (
            {"name": ["a", "b", "c"], "position": [1, 2]},
            {"pose": POSE},
            r"the message's position must have shape \(..., 3\)",
        ),
        ({"name": ["a", "b", "c"], "position": [1, 2, np.nan]}, {"pose": POSE}, "NaN"),
        ({"name": ["a", "b", "c"]}, {"pose": POSE}, "position of a, b, c"),
        (MESSAGE, {"pose": POSE}, "pass twist="),
        (MESSAGE, {"pose": {"position": POSE["position"]}, "twist": TWIST}, "'orientation'"),
        (MESSAGE, {"pose": {**POSE, "orientation": {"x": 0, "y": 0, "z": 0, "w": 2}}, "twist": TWIST}, "norm 1"),
        ({"position": [1]}, {}, "'name'"),
        (None, {}, "'name'"),
        (MESSAGE, {"default": [1, 2]}, r"default must have shape \(..., 10\)"),
    ],
)
def test_invalid_joint_states_are_rejected(message, more, text):
    with pytest.raises(InputError, match=text):
        convert.joint_state(FOUR, message, **more)


def test_a_fixed_base_has_no_pose_twist_or_odometry():
    with pytest.raises(InputError, match="base is fixed"):
        convert.joint_state(ONE_HINGE, {"name": ["h"], "position": [1]}, pose=POSE)
    with pytest.raises(InputError, match="base is fixed"):
        convert.to_odometry(ONE_HINGE, [0.0])


def test_a_joint_state_cannot_hold_a_ball_joint():
    with pytest.raises(InputError, match="not enough for ball"):
        convert.to_joint_state(BALL_ROBOT, BALL_ROBOT.random(seed=0))


def test_a_joint_state_holds_a_single_state():
    with pytest.raises(InputError, match=r"a ROS message must be one state \(10,\)"):
        convert.to_joint_state(FOUR, np.stack([FOUR.random(seed=0)] * 2))
