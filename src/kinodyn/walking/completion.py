"""Defaults for values that walking needs and a description may omit: joint inertias, and limits of the motors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinodyn import dynamics
from kinodyn.balance.legs import find_legs
from kinodyn.balance.limbs import limb
from kinodyn.description.zero_limits import without_zero_limits
from kinodyn.errors import warn
from kinodyn.model.robot import Robot

MIN_INERTIA = 1e-5  # [kg m^2] that a joint has to move while all others stand still
MIN_FREE_INERTIA = 1e-6  # [kg m^2] that it has to move while all others are free
# Inertia of a joint of a leg, in masses times squared heights of the hips: least one, and default below it.
MIN_LEG_INERTIA, LEG_INERTIA = 1e-5, 5e-5
SINGULAR = 1e-12  # [kg, kg m^2] added to a mass matrix that may be singular
# Effort limits as fractions of the weight times the height of the hips: defaults, and what no motor of a robot has.
LEG_EFFORT, OTHER_EFFORT, MAX_EFFORT = 0.5, 0.15, 5.0


def completed(robot: Robot) -> Robot:
    """Complete a robot for walking.

    Joints that move nothing with inertia, such as fingers without mass, get armature. Joints of which the effort limit
    is not stated get one from the weight and the length of the legs: infinite ones, those that are several times as
    large as any motor needs, such as 20,000 N m, and zeros that stand for unknown ones.

    Parameters
    ----------
    robot
        With a floating base.

    Returns
    -------
    Robot
        The same robot if nothing is missing.

    Warns
    -----
    DescriptionWarning
        With the joints and what they got.
    """
    return _with_inertia(_with_limits(robot))


def _with_limits(robot: Robot) -> Robot:
    legs = find_legs(robot)
    if len(legs.feet) < 2:  # it cannot walk, which `walk` reports
        return robot
    in_legs = _leg_joints(robot)
    scale = robot.mass * float(np.linalg.norm(robot.gravity)) * _leg_height(robot)
    moving = {joint.name for joint in robot.joints if joint.mimic is None and joint.v.stop - joint.v.start == 1}
    stated = without_zero_limits(robot.description).joints
    unknown = [joint.name for joint in stated if joint.name in moving and joint.effort > MAX_EFFORT * scale]
    if not unknown:
        return robot
    joints = []
    for joint in stated:
        if joint.name in unknown:
            joint = replace(joint, effort=scale * (LEG_EFFORT if joint.name in in_legs else OTHER_EFFORT))
        elif joint.mimic is not None and joint.effort > MAX_EFFORT * scale:  # a follower's limits bind its leader
            joint = replace(joint, effort=np.inf)
        joints.append(joint)
    listed = ", ".join(unknown[:6]) + (f" and {len(unknown) - 6} others" if len(unknown) > 6 else "")
    warn(
        f"joints of {robot.name!r} without an effort limit get {LEG_EFFORT * scale:.3g} N m in the legs and "
        f"{OTHER_EFFORT * scale:.3g} N m elsewhere: {listed}"
    )
    changed = replace(robot.description, joints=tuple(joints))
    return Robot(changed, gravity=robot.gravity, armature=robot.armature, damping=robot.damping)


def _with_inertia(robot: Robot) -> Robot:
    M = dynamics.mass_matrix(robot, robot.neutral())
    # M_kk is what joint k moves while the others stand still; while they are free it may be nothing, where the link
    # between joints has no mass.
    others_free = 1.0 / np.diag(np.linalg.inv(M + SINGULAR * np.eye(len(M))))
    light = (np.diag(M) < MIN_INERTIA) | (others_free < MIN_FREE_INERTIA)
    added = np.where(light, MIN_INERTIA, 0.0)
    in_legs = _leg_coordinates(robot)
    scale = robot.mass * _leg_height(robot) ** 2
    light[in_legs] |= others_free[in_legs] < MIN_LEG_INERTIA * scale
    added[in_legs] = np.where(light[in_legs], LEG_INERTIA * scale, 0.0)
    if not light.any():
        return robot
    listed = [
        f"{joint.name} {added[joint.v.start]:.2g}"
        for joint in robot.joints
        if joint.mimic is None and light[joint.v].any()
    ]
    warn(f"joints of {robot.name!r} without inertia get an armature [kg m^2]: {', '.join(listed)}")
    return robot.replace(armature=robot.armature + added)


def _leg_coordinates(robot: Robot) -> list[int]:
    """List the coordinates of the joints from the trunk to the feet."""
    in_legs = _leg_joints(robot)
    moving = [joint for joint in robot.joints[1:] if joint.name in in_legs and joint.mimic is None]
    return [k for joint in moving for k in range(joint.v.start, joint.v.stop)]


def _leg_joints(robot: Robot) -> set[str]:
    """Name the joints from the trunk to the feet."""
    legs = find_legs(robot)
    return {joint.info.name for foot in legs.feet for joint in limb(robot, legs.trunk, foot)}


def _leg_height(robot: Robot) -> float:
    """Measure the height of the highest joint of a leg above the lowest one [m]; 0 without legs."""
    legs = find_legs(robot)
    chains = [limb(robot, legs.trunk, foot) for foot in legs.feet]
    places = [[legs.pose[joint.info.child][2, 3] for joint in chain] for chain in chains if chain]
    return float(max((max(place) - place[-1] for place in places), default=0.0))
