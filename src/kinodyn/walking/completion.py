"""What a description may leave out and walking needs: inertia of every joint, and limits of its motors."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from kinodyn import dynamics
from kinodyn.balance.legs import find_legs, moving_chain
from kinodyn.description.types import Joint
from kinodyn.errors import DescriptionWarning
from kinodyn.model.robot import Robot

MIN_INERTIA = 1e-5  # [kg m^2] that a joint has to move
LEG_EFFORT, OTHER_EFFORT = (
    0.5,
    0.15,
)  # default effort limits, as fractions of the weight times the height of the base


def completed(robot: Robot) -> Robot:
    """Complete a robot for walking.

    Joints that move nothing with inertia, such as fingers without mass, get armature. Joints of which the effort limit
    is not stated get one from the weight and the length of the legs: infinite ones, and those of a file that gives 0
    for both effort and velocity, which many exporters write for unknown.

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
    moving = {joint.name for joint in robot.joints if joint.mimic is None and joint.v.stop - joint.v.start == 1}
    unknown = [joint.name for joint in robot.description.joints if joint.name in moving and _unstated(joint)]
    if not unknown:
        return robot
    legs = find_legs(robot)
    chains = [set(moving_chain(robot, foot)) for foot in legs.feet]
    base = legs.pose[robot.joints[0].child][2, 3] - min(legs.pose[foot][2, 3] for foot in legs.feet)
    scale = robot.mass * float(np.linalg.norm(robot.gravity)) * float(base)
    joints = []
    for joint in robot.description.joints:
        if joint.name in unknown:
            part = LEG_EFFORT if any(joint.child in chain for chain in chains) else OTHER_EFFORT
            joint = replace(joint, effort=part * scale, velocity=joint.velocity or np.inf)
        elif joint.mimic is not None and _unstated(joint):  # a follower's limits bind its leader
            joint = replace(joint, effort=np.inf, velocity=joint.velocity or np.inf)
        joints.append(joint)
    listed = ", ".join(unknown[:6]) + (f" and {len(unknown) - 6} others" if len(unknown) > 6 else "")
    warnings.warn(
        f"joints of {robot.name!r} without an effort limit get {LEG_EFFORT * scale:.3g} N m in the legs and "
        f"{OTHER_EFFORT * scale:.3g} N m elsewhere: {listed}",
        DescriptionWarning,
        stacklevel=4,
    )
    changed = replace(robot.description, joints=tuple(joints))
    return Robot(changed, gravity=robot.gravity, armature=robot.armature, damping=robot.damping)


def _unstated(joint: Joint) -> bool:
    return bool(np.isinf(joint.effort)) or (joint.effort == 0.0 and joint.velocity == 0.0)


def _with_inertia(robot: Robot) -> Robot:
    inertia = np.diag(dynamics.mass_matrix(robot, robot.neutral()))
    light = np.flatnonzero(inertia < MIN_INERTIA)
    if not len(light):
        return robot
    names = [joint.name for joint in robot.joints if joint.mimic is None and joint.v.start in light]
    text = f"joints of {robot.name!r} without inertia get an armature of {MIN_INERTIA:g} kg m^2: {', '.join(names)}"
    warnings.warn(text, DescriptionWarning, stacklevel=4)
    armature = robot.armature.copy()
    armature[light] += MIN_INERTIA
    return robot.replace(armature=armature)
