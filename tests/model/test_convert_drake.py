"""Conversion of states to Drake and back: velocities of its free base and of its ball joint, and layouts of plants."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kinodyn.model import convert
from kinodyn.model.convert import DrakeJoint, DrakeLayout

from .convert_robots import (
    BALL_ROBOT,
    ROBOT,
    drake_layout,
    random_state,
)


@pytest.mark.parametrize("seed", range(5))
def test_drakes_free_base_velocity_is_the_derivative_of_its_pose(seed):
    c = convert.drake(ROBOT, drake_layout(ROBOT))
    place = drake_layout(ROBOT).joints["root_joint"]
    q, v, *_ = random_state(ROBOT, seed)
    h = 1e-6
    before, after = (c.q_to(ROBOT.integrate(q, s * h * v))[place.position_start :][:7] for s in (-1, 1))
    turn = Rotation.from_quat(after[[1, 2, 3, 0]]) * Rotation.from_quat(before[[1, 2, 3, 0]]).inv()
    w = c.v_to(q, v)[place.velocity_start :][:6]
    np.testing.assert_allclose(w[:3], turn.as_rotvec() / (2 * h), atol=1e-7)
    np.testing.assert_allclose(w[3:], (after[4:] - before[4:]) / (2 * h), atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_drakes_ball_joint_velocity_is_the_derivative_of_its_rotation(seed):
    c = convert.drake(BALL_ROBOT, drake_layout(BALL_ROBOT))
    place = drake_layout(BALL_ROBOT).joints["ball"]
    q, v, *_ = random_state(BALL_ROBOT, seed)
    h = 1e-6
    before, after = (
        Rotation.from_euler("xyz", c.q_to(BALL_ROBOT.integrate(q, s * h * v))[place.position_start :][:3])
        for s in (-1, 1)
    )
    w = c.v_to(q, v)[place.velocity_start :][:3]
    np.testing.assert_allclose(w, (after * before.inv()).as_rotvec() / (2 * h), atol=1e-7)


@pytest.mark.parametrize("pitch", [-np.pi / 2, np.pi / 2, np.pi / 2 - 1e-9, 0.3])
def test_drakes_ball_joint_is_converted_at_gimbal_lock(pitch):
    c = convert.drake(BALL_ROBOT, drake_layout(BALL_ROBOT))
    q = BALL_ROBOT.random(seed=0)
    ball = next(joint for joint in BALL_ROBOT.joints if joint.kind == "ball")
    q[ball.q] = Rotation.from_euler("xyz", [2.0, pitch, -1.0]).as_quat()
    back = Rotation.from_quat(c.q_from(c.q_to(q))[ball.q])
    assert (back * Rotation.from_quat(q[ball.q]).inv()).magnitude() < 1e-12


def test_a_drake_layout_is_read_from_a_plant():
    def joint(name: str, start: int, kind: str, nv: int) -> SimpleNamespace:
        values = {
            "name": name,
            "position_start": start,
            "velocity_start": start,
            "type_name": kind,
            "num_velocities": nv,
        }
        return SimpleNamespace(**{key: lambda value=value: value for key, value in values.items()})

    joints = [joint("weld", 0, "weld", 0), joint("b", 0, "revolute", 1), joint("a", 1, "prismatic", 1)]
    plant = SimpleNamespace(
        GetJointIndices=lambda: [0, 1, 2],
        get_joint=lambda index: joints[index],
        num_positions=lambda: 2,
        num_velocities=lambda: 2,
    )
    expected = DrakeLayout({"b": DrakeJoint(0, 0), "a": DrakeJoint(1, 1, "prismatic")}, 2, 2)
    assert DrakeLayout.from_plant(plant) == expected
