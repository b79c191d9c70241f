"""Robots that were read from MJCF, simulated as their files describe them.

Bodies, geoms, contact filters, equality constraints, tendons, springs, armature and friction are those of the file.
What belongs to the simulation is replaced: the solver's options, the ground, sensors, and the actuators, in whose place
each joint gets a motor with its effort limit, because controllers command joint torques.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import mujoco as mj
import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.mjcf.actuation import drives
from kinodyn.description.mjcf.guard import check_file
from kinodyn.description.mjcf.names import Names
from kinodyn.description.roots import Roots
from kinodyn.description.xml_tree import read_xml
from kinodyn.errors import DescriptionError
from kinodyn.model.compile import Place, compile_tree
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose

ALL_BITS = 2**31 - 1  # of contype and conaffinity


def read_spec(robot: Robot) -> mj.MjSpec | None:
    """Read the specification of a robot from its MJCF file.

    Joints of the file that are fixed in the robot are removed. Returns None if it was not read from an MJCF file, if
    the file is gone, or if the robot is not the one that the file describes: another base, other joints or other links.
    """
    source = robot.description.source
    if source is None or source.suffix.lower() != ".xml":
        return None
    try:
        if read_xml(source).tag != "mujoco":
            return None
        check_file(source, Roots(source, allow_outside=True))  # the caller has loaded the robot with its files
        spec = mj.MjSpec.from_file(str(source))
        for key in list(spec.keys):  # their size is that of the file's own joints
            spec.delete(key)
        base = robot.joints[0]
        if robot.base == "floating" and spec.joint(base.name) is None and not _has_free_joint(spec):
            for joint in list(spec.body(base.child).joints):  # those that the floating joint replaces
                spec.delete(joint)
            spec.body(base.child).add_freejoint(name=base.name)
        model = _without_fixed_joints(spec, robot)
    except (DescriptionError, OSError, ValueError, AttributeError, mj.FatalError):
        return None
    names = Names(model)
    moving = [joint.name for joint in robot.joints]
    links = {link.name for link in robot.description.links}
    if set(names.joints) != set(moving) or not set(names.bodies) <= links:
        return None
    if abs(float(model.body_mass[1:].sum()) - robot.mass) > 1e-6 * robot.mass:  # such as a payload
        return None
    _name_elements(spec, names)
    return spec


def _without_fixed_joints(spec: mj.MjSpec, robot: Robot) -> mj.MjModel:
    """Remove the joints that are fixed in the robot, with what refers to them, and compile."""
    model = spec.compile()
    names = Names(model)
    fixed = {joint.name for joint in robot.description.joints if joint.kind == "fixed"} & set(names.joints)
    if not fixed:
        return model
    _name_elements(spec, names)
    for sensor in list(spec.sensors):  # the simulator has its own
        spec.delete(sensor)
    for joint in [joint for joint in spec.joints if joint.name in fixed]:
        spec.delete(joint)
    return spec.compile()


def _has_free_joint(spec: mj.MjSpec) -> bool:
    return any(joint.type == mj.mjtJoint.mjJNT_FREE for joint in spec.joints)


def _name_elements(spec: mj.MjSpec, names: Names) -> None:
    """Name elements without a name as the reader of descriptions does."""
    for elements, given in ((spec.bodies, names.bodies), (spec.joints, names.joints)):
        for element in elements:
            if not element.name:
                element.name = given[element.id]


def remove_actuators(spec: mj.MjSpec) -> None:
    """Remove actuators and what refers to them; their armature and damping stay, on the joints."""
    model = spec.compile()
    added = drives(model)
    for joint in spec.joints:
        drive = added[joint.id]
        joint.armature += drive.armature
        joint.damping = np.asarray(joint.damping) + [drive.damping, 0.0, 0.0]
    for elements in (spec.sensors, spec.tuples, spec.actuators):
        for element in list(elements):
            spec.delete(element)


def remove_limits(spec: mj.MjSpec) -> None:
    """Remove the joint limits."""
    for joint in spec.joints:
        joint.limited = mj.mjtLimited.mjLIMITED_FALSE


def remove_friction(spec: mj.MjSpec) -> None:
    """Remove the Coulomb friction of the joints."""
    for joint in spec.joints:
        joint.frictionloss = 0.0


def set_joint_constants(spec: mj.MjSpec, robot: Robot) -> None:
    """Write armature and damping that the robot was given in place of those of the file."""
    original = Robot(robot.description)
    for joint in spec.joints:
        info = robot.joint(joint.name)
        if info.mimic is not None or info.v.start == info.v.stop:
            continue
        k = info.v.start
        if robot.armature[k] != original.armature[k]:
            joint.armature += float(robot.armature[k] - original.armature[k])
        if robot.damping[k] != original.damping[k]:
            joint.damping = np.asarray(joint.damping) + [float(robot.damping[k] - original.damping[k]), 0.0, 0.0]


def bodies_of(spec: mj.MjSpec, robot: Robot) -> dict[str, tuple[Any, Array]]:
    """Find for each link the moving body that carries it, and its pose in that body.

    Links that move with only some of the joints of a body have no MuJoCo body and are omitted.
    """
    places = compile_tree(robot.description).places
    carriers: dict[int, Any] = {-1: spec.worldbody}
    for body in spec.bodies:
        carriers.setdefault(places[body.name].body, body)
    found: dict[str, tuple[Any, Array]] = {}
    for link in robot.description.links:
        carrier = carriers.get(places[link.name].body)
        if carrier is not None:
            T_carrier_link = inverse_pose(_pose(places[carrier.name])) @ _pose(places[link.name])
            found[link.name] = (carrier, T_carrier_link)
    return found


def _pose(place: Place) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = place.R, place.p
    return T


def remove_floors(spec: mj.MjSpec) -> set[str]:
    """Remove the planes and height fields of the world, and return their names."""
    kinds = (mj.mjtGeom.mjGEOM_PLANE, mj.mjtGeom.mjGEOM_HFIELD)
    floors = [geom for geom in spec.worldbody.geoms if geom.type in kinds]
    names = {geom.name for geom in floors if geom.name}
    for geom in floors:
        spec.delete(geom)
    return names


def prefer_ground(spec: mj.MjSpec, ground: Sequence[Any], floors: Collection[str]) -> None:
    """Make every colliding geom collide with the ground, with the contact parameters of the ground.

    Contact pairs that name one of the removed `floors` then name the first geom of the ground.
    """
    for exclude in list(spec.excludes):
        if "world" in (exclude.bodyname1, exclude.bodyname2):
            spec.delete(exclude)
    highest = max(int(geom.priority) for geom in spec.geoms)
    for geom in ground:
        geom.priority, geom.contype, geom.conaffinity = highest + 1, ALL_BITS, ALL_BITS
    for pair in spec.pairs:
        for side in ("geomname1", "geomname2"):
            if getattr(pair, side) in floors:
                setattr(pair, side, ground[0].name)
                pair.condim, pair.solref = ground[0].condim, ground[0].solref
                pair.friction = np.repeat(ground[0].friction, [2, 1, 2])


def touches_ground(spec: mj.MjSpec, bodies: Collection[str], floor: str) -> bool:
    """Return whether a geom of one of the bodies collides with the ground, by its contact bits or by a pair."""
    geoms = [geom for body in spec.bodies if body.name in bodies for geom in body.geoms]
    if any(geom.contype or geom.conaffinity for geom in geoms):
        return True
    names = {geom.name for geom in geoms if geom.name}
    sides = [{pair.geomname1, pair.geomname2} for pair in spec.pairs]
    return any(floor in pair and pair & names for pair in sides)


def remove_contacts(spec: mj.MjSpec, bodies: Collection[str]) -> None:
    """Disable the contacts of the geoms of bodies."""
    for body in spec.bodies:
        if body.name in bodies:
            for geom in body.geoms:
                geom.contype = geom.conaffinity = 0


def scale_inertias(model: mj.MjModel, robot: Robot, scale: float) -> None:
    """Scale all masses and inertias of the robot in a compiled model."""
    if scale != 1.0:
        own = [model.body(link.name).id for link in robot.description.links if _has_body(model, link.name)]
        model.body_mass[own] *= scale
        model.body_inertia[own] *= scale
        mj.mj_setConst(model, mj.MjData(model))


def _has_body(model: mj.MjModel, name: str) -> bool:
    return int(mj.mj_name2id(model, mj.mjtObj.mjOBJ_BODY, name)) > 0
