"""Joints without a motor outside the legs, such as toes, hands or an antenna on springs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinodyn import dynamics
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

RIGIDITY = 1e3  # armature of a joint that is held, in multiples of the inertia that it moves


def passive_joints(robot: Robot) -> tuple[JointInfo, ...]:
    """List the joints of a robot with a floating base that have no motor, without those that follow others."""
    moving = (joint for joint in robot.joints[1:] if joint.mimic is None and joint.v.stop > joint.v.start)
    return tuple(joint for joint in moving if not robot.limits.effort[joint.v].any())


def with_rigid_passive_joints(robot: Robot) -> Robot:
    """Return the model of a robot for a controller: joints without a motor are as good as rigid.

    The ground or a spring holds them, of which the model knows nothing: by itself a toe would fall at each tick, and
    the QP would move the foot to keep it off its limits. They get a large armature and no limits, so that they keep
    their velocities whatever the others do.
    """
    passive = passive_joints(robot)
    if not passive:
        return robot
    armature = robot.armature.copy()
    inertia = np.diag(dynamics.mass_matrix(robot, robot.neutral()))
    names = {joint.name for joint in passive}
    for joint in passive:
        armature[joint.v] += RIGIDITY * inertia[joint.v]
    joints = tuple(
        replace(joint, lower=-np.inf, upper=np.inf, velocity=np.inf) if joint.name in names else joint
        for joint in robot.description.joints
    )
    changed = replace(robot.description, joints=joints)
    return Robot(changed, gravity=robot.gravity, armature=armature, damping=robot.damping)
