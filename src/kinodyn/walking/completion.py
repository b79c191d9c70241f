"""The robot as walking needs it: without play in its gears, with inertias and limits that a description may omit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinodyn import dynamics, kinematics
from kinodyn.balance.knees import find_knee
from kinodyn.balance.legs import find_legs
from kinodyn.balance.limbs import limb
from kinodyn.description.types import Joint
from kinodyn.description.zero_limits import without_zero_limits
from kinodyn.errors import warn
from kinodyn.model.robot import Robot

MIN_INERTIA = 1e-5  # [kg m^2] that a joint has to move while all others stand still
MIN_FREE_INERTIA = 1e-6  # [kg m^2] that it has to move while all others are free
# Inertia of a joint of a leg, in masses times squared heights of the hips: least one, and default below it.
MIN_LEG_INERTIA, LEG_INERTIA = 1e-5, 5e-5
MAX_PLAY = {"revolute": 0.02, "prismatic": 5e-4}  # [rad, m] range of a joint without a motor that is play of a gear
SINGULAR = 1e-12  # [kg, kg m^2] added to a mass matrix that may be singular
# Effort limits as fractions of the weight times the height of the hips: defaults, and what no motor of a robot has.
LEG_EFFORT, OTHER_EFFORT, MAX_EFFORT = 0.5, 0.15, 5.0
SLIDES = 4.0  # for forces of slides, as a multiple of the weight, in place of the weight times that height


def completed(robot: Robot) -> Robot:
    """Complete a robot for walking.

    Joints without a motor that only model the play of gears, with a range of a degree, are locked. Joints that move
    nothing with inertia, such as fingers without mass, get armature. Joints of which the effort limit
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
    return _with_inertia(_with_limits(_without_play(robot)))


def _without_play(robot: Robot) -> Robot:
    """Lock the joints that model the play of gears: the controller neither measures nor controls them."""
    joints = {joint.name: joint for joint in robot.description.joints}
    leaders = {joint.mimic.joint for joint in joints.values() if joint.mimic is not None}
    locked = {name for name, joint in joints.items() if name not in leaders and _is_play(joint)}
    if not locked:
        return robot
    kept = [k for joint in robot.joints if joint.name not in locked for k in range(joint.v.start, joint.v.stop)]
    description = replace(
        robot.description,
        joints=tuple(replace(joint, kind="fixed") if name in locked else joint for name, joint in joints.items()),
        configurations={
            name: {joint: value for joint, value in values.items() if joint not in locked}
            for name, values in robot.description.configurations.items()
        },
    )
    warn(
        f"joints of {robot.name!r} without a motor that move by {np.rad2deg(MAX_PLAY['revolute']):.2g} degrees or "
        f"{1e3 * MAX_PLAY['prismatic']:g} mm at most are locked, as play of gears: {_listed(sorted(locked))}"
    )
    return Robot(description, gravity=robot.gravity, armature=robot.armature[kept], damping=robot.damping[kept])


def _is_play(joint: Joint) -> bool:
    """Return whether a joint has no motor and hardly moves, about the position in which it is locked."""
    return (
        joint.mimic is None
        and joint.effort == 0.0
        and joint.reference == 0.0
        and joint.lower <= 0.0 <= joint.upper
        and joint.upper - joint.lower <= MAX_PLAY.get(joint.kind, -1.0)
    )


def _with_limits(robot: Robot) -> Robot:
    legs = find_legs(robot)
    if len(legs.feet) < 2:  # it cannot walk, which `walk` reports
        return robot
    in_legs = _leg_joints(robot)
    scale = robot.mass * float(np.linalg.norm(robot.gravity)) * _leg_height(robot)
    moving = {joint.name for joint in robot.joints if joint.mimic is None and joint.v.stop - joint.v.start == 1}
    stated = without_zero_limits(robot.description).joints
    force = SLIDES * robot.mass * float(np.linalg.norm(robot.gravity))
    scales = {joint.name: force if joint.kind == "prismatic" else scale for joint in stated}
    unknown = [
        joint.name for joint in stated if joint.name in moving and joint.effort > MAX_EFFORT * scales[joint.name]
    ]
    if not unknown:
        return robot
    joints = []
    for joint in stated:
        if joint.name in unknown:
            joint = replace(joint, effort=scales[joint.name] * (LEG_EFFORT if joint.name in in_legs else OTHER_EFFORT))
        elif joint.mimic is not None and joint.effort > MAX_EFFORT * scale:  # a follower's limits bind its leader
            joint = replace(joint, effort=np.inf)
        joints.append(joint)
    slides = any(joint.kind == "prismatic" for joint in stated if joint.name in unknown)
    forces = f" (slides {LEG_EFFORT * force:.3g} N and {OTHER_EFFORT * force:.3g} N)" if slides else ""
    warn(
        f"joints of {robot.name!r} without an effort limit get {LEG_EFFORT * scale:.3g} N m in the legs and "
        f"{OTHER_EFFORT * scale:.3g} N m elsewhere{forces}: {_listed(unknown)}"
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
    heights = [0.0]
    for foot in legs.feet:
        chain, pose = limb(robot, legs.trunk, foot), legs.pose
        if any(joint.info.kind == "prismatic" for joint in chain):  # a telescopic leg counts when it is long
            knee, q = find_knee(robot, legs.q, foot, legs.feet), legs.q.copy()
            q[knee.joint.q] = knee.straight
            pose = dict(zip(robot.frame_names, kinematics.poses(robot, q), strict=True))
        places = [float(pose[joint.info.child][2, 3]) for joint in chain]
        heights += [max(places) - places[-1]] if places else []
    return max(heights)


def _listed(names: list[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} others" if len(names) > most else "")
