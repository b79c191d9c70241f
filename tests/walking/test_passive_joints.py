"""Robots with joints without a motor outside the legs: toes, hands and other parts on springs."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco as mj
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.model.robot import Robot
from kinodyn.walking import Biped, GaitSettings
from kinodyn.walking.passive_joints import passive_joints, with_rigid_passive_joints
from kinodyn.walking.tracking import WholeBodyTracker

BOX, HINGE, TRUE = mj.mjtGeom.mjGEOM_BOX, mj.mjtJoint.mjJNT_HINGE, mj.mjtLimited.mjLIMITED_TRUE
TOE = 0.3  # of the length of the sole


def add_part(
    spec: mj.MjSpec,
    parent: str,
    name: str,
    place: tuple[float, float, float],
    *,
    mass: float,
    arm: float,
    spring: float,
) -> mj.MjsBody:
    """Add a body on a passive hinge about y, its CoM at `arm` [m] above or below it."""
    body = spec.body(parent).add_body(name=name, pos=place)
    body.explicitinertial, body.mass, body.ipos = True, mass, [0.0, 0.0, arm]
    body.inertia, body.iquat = np.full(3, mass * 1e-3), [1.0, 0.0, 0.0, 0.0]
    body.add_joint(
        name=f"{name}_joint", type=HINGE, axis=[0, 1, 0], limited=TRUE, range=[-0.5, 0.5], stiffness=[spring, 0, 0],
        damping=[0.02 * spring, 0, 0],
    )  # fmt: skip
    return body


def add_toes(spec: mj.MjSpec, spring: float, damping: float) -> None:
    """Put the front of both soles on toes of 0.1 kg."""
    for side in ("left", "right"):
        foot = spec.body(f"{side}_foot")
        sole = next(geom for geom in foot.geoms if geom.type == BOX and geom.contype)
        half, place, length = np.array(sole.size), np.array(sole.pos), 2.0 * TOE * sole.size[0]
        x = place[0] + half[0] - length
        sole.size, sole.pos = half - [0.5 * length, 0, 0], place - [0.5 * length, 0, 0]
        toe = add_part(spec, f"{side}_foot", f"{side}_toe", (x, place[1], place[2]), mass=0.1, arm=0.0, spring=spring)
        toe.ipos = [0.5 * length, 0.0, 0.0]
        toe.joints[0].damping = [damping, 0.0, 0.0]
        toe.add_geom(type=BOX, size=[0.5 * length, half[1], half[2]], pos=[0.5 * length, 0, 0], mass=0.0)


def written(folder: Path, spec: mj.MjSpec) -> Robot:
    spec.compile()
    file = folder / "robot.xml"
    file.write_text(spec.to_xml())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)  # springs are not part of the robot's model
        return kd.load(file, base="floating")


def humanoid() -> mj.MjSpec:
    return mj.MjSpec.from_string(kd.sim.to_mjcf(kd.load("humanoid"), floor=False))


@pytest.mark.parametrize(("spring", "damping"), [(10.0, 0.1), (100.0, 0.5)])
def test_a_robot_with_toes_without_motors_walks(tmp_path: Path, spring: float, damping: float) -> None:
    """Free in the model of the controller, such toes made it fall with 100 N m/rad, and almost stop with 10."""
    spec = humanoid()
    add_toes(spec, spring, damping)
    result = kd.walking.walk(written(tmp_path, spec), (0.4, 0.0, 0.0), duration=5.0)
    assert result.walked and result.speed == pytest.approx(0.4, rel=0.1)
    assert not any(result.recording.signals["relaxed"]) and result.slip < 2e-3


def test_a_robot_with_hands_antenna_and_backpack_on_springs_walks(tmp_path: Path) -> None:
    spec = humanoid()
    add_part(spec, "torso", "antenna", (0.0, 0.0, 0.4), mass=0.5, arm=0.3, spring=5.0)
    add_part(spec, "torso", "backpack", (-0.2, 0.0, 0.1), mass=5.0, arm=0.15, spring=100.0)
    for side in ("left", "right"):
        add_part(spec, f"{side}_hand", f"{side}_fingers", (0.0, 0.0, -0.1), mass=0.3, arm=-0.06, spring=2.0)
    result = kd.walking.walk(written(tmp_path, spec), (0.4, 0.0, 0.0), duration=3.5)
    assert result.walked and result.steps >= 2 and result.slip < 2e-3


def test_the_torques_do_not_depend_on_where_a_toe_is(tmp_path: Path) -> None:
    """Beyond its limits too, where the joint has no torque to return; the weight of the toe moves by millimetres."""
    spec = humanoid()
    add_toes(spec, 10.0, 0.1)
    body = Biped.from_robot(written(tmp_path, spec))
    tracker = WholeBodyTracker(body, GaitSettings.from_robot(body), 2e-3)
    (left, right), torques = passive_joints(body.robot), []
    for angle in (0.0, 0.52, -0.52):
        q = body.q.copy()
        q[left.q], q[right.q] = angle, angle
        found = tracker.solve(kd.State(body.robot, q))
        assert found.success and np.abs(found.a[[left.v.start, right.v.start]]).max() < 0.5
        torques.append(found.tau)
    assert np.abs(np.diff(torques, axis=0)).max() < 0.5
    assert tracker.qp.tasks["posture"].row_weights(body.robot)[left.v] == 0.0


def test_the_model_of_a_robot_without_passive_joints_is_the_robot() -> None:
    robot = kd.load("humanoid")
    assert passive_joints(robot) == () and with_rigid_passive_joints(robot) is robot


def test_an_ankle_on_a_spring_is_refused(tmp_path: Path) -> None:
    spec = humanoid()
    for motor in [motor for motor in spec.actuators if motor.target == "left_ankle_pitch"]:
        spec.delete(motor)
    spec.joint("left_ankle_pitch").stiffness = [500.0, 0.0, 0.0]
    with pytest.raises(
        kd.KinodynError, match="left leg .* has joints without a motor .left_ankle_pitch.: their effort"
    ):
        kd.walking.walk(written(tmp_path, spec), duration=4.0)
