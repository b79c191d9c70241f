"""The base of a robot: fixed to the world or floating."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import one_of
from kinodyn.description.free_name import free_name
from kinodyn.description.types import Description, Joint, Link
from kinodyn.description.virtual_base import virtual_base, with_floating_joint
from kinodyn.spatial import as_quaternion, from_quaternion, pose

Base = Literal["fixed", "floating"]

ROOT_JOINT = "root_joint"
WORLD = "world"  # name of the root link of MJCF files, and of URDF files that stand for a robot in the world


def check_base(base: object) -> None:
    """Raise unless `base` is "fixed", "floating" or None."""
    if base is not None:
        one_of("base", base, ("fixed", "floating"))


@check_types
def with_base(description: Description, base: Base | None = None) -> Description:
    """Return the description with the requested base, and its attribute `base` set accordingly.

    Parameters
    ----------
    description
        A valid description.
    base
        "floating": the robot moves freely in the world; unless it already does, a floating joint `root_joint` is added:
        in place of the fixed joint between a massless root `world` and the robot, in place of three prismatic joints
        and three revolute ones or a ball that move it freely (`virtual_base`), or from a new link `world` (`universe`
        if that name is taken) to the old root. An origin of the floating joint is moved into its coordinates: they are
        the pose of the base in the world. "fixed": floating joints from a massless root to the robot become fixed.
        None: as in the description.

    Returns
    -------
    description : Description
        Named configurations and chains no longer mention a root joint that the robot does not have.
    """
    check_base(base)
    is_floating = floating_joint(description) is not None
    if base == "floating" or (base is None and (is_floating or description.base == "floating")):
        floating = _with_base_in_world(description) if is_floating else _add_floating_joint(description)
        return replace(_without_missing_joints(floating), base="floating")
    fixed = _fix_floating_joints(description) if base == "fixed" else description
    return replace(_without_missing_joints(fixed), base="fixed")


def root_link(description: Description) -> Link:
    """Return the root link, which is not the child of any joint."""
    children = {joint.child for joint in description.joints}
    return next(link for link in description.links if link.name not in children)


def floating_joint(description: Description) -> Joint | None:
    """Return the floating joint that connects the robot to a root that only represents the world, else None.

    Such a root has no mass, and its other joints are fixed (a table) or floating as well (a ball); then the first
    floating joint counts.
    """
    joints = list(_joints_of_massless_root(description))
    floating = [joint for joint in joints if joint.kind == "floating"]
    others_fixed = all(joint.kind in ("fixed", "floating") for joint in joints)
    return floating[0] if floating and others_fixed else None


def _with_base_in_world(description: Description) -> Description:
    """Put the floating joint before all others, without an origin: q starts with the pose of the base in the world."""
    first = floating_joint(description)
    if first is None:
        return description
    T = first.T_parent_child
    if np.array_equal(T, np.eye(4)):
        others = (joint for joint in description.joints if joint is not first)
        return description if description.joints[0] is first else replace(description, joints=(first, *others))
    placed = {label: _placed(positions, first.name, T) for label, positions in description.configurations.items()}
    centred = replace(first, T_parent_child=np.eye(4))
    joints = (centred, *(joint for joint in description.joints if joint is not first))
    return replace(description, joints=joints, configurations=placed)


def _placed(positions: Mapping[str, tuple[float, ...]], name: str, T: Array) -> dict[str, tuple[float, ...]]:
    """Return a configuration with the pose of a floating joint, if it has one, moved by a pose (4, 4)."""
    if name not in positions:
        return dict(positions)
    x, y, z, *quaternion = positions[name]
    moved = T @ pose((x, y, z), from_quaternion(quaternion))
    values = (*map(float, moved[:3, 3]), *map(float, as_quaternion(moved[:3, :3])))
    return {**positions, name: values}


def _joints_of_massless_root(description: Description) -> Iterator[Joint]:
    """Yield the joints below the root, none if the root has mass."""
    root = root_link(description)
    if root.inertia is None or root.inertia.mass == 0.0:
        yield from (joint for joint in description.joints if joint.parent == root.name)


def _add_floating_joint(description: Description) -> Description:
    name = free_name(ROOT_JOINT, {joint.name for joint in description.joints})
    if chain := virtual_base(description, root_link(description)):
        return with_floating_joint(description, chain, name)
    root = root_link(description).name
    below = list(_joints_of_massless_root(description))
    if root == WORLD and len(below) == 1 and below[0].kind == "fixed":  # a body fixed to the world becomes floating
        free = Joint(name, "floating", root, below[0].child, line=below[0].line)
        return replace(description, joints=(free, *(joint for joint in description.joints if joint is not below[0])))
    links = {link.name for link in description.links}
    world = free_name("universe" if "world" in links else "world", links)
    return replace(
        description,
        links=(Link(world), *description.links),
        joints=(Joint(name, "floating", world, root), *description.joints),
    )


def _fix_floating_joints(description: Description) -> Description:
    floating = {joint.name for joint in _joints_of_massless_root(description) if joint.kind == "floating"}
    joints = (_fixed(joint) if joint.name in floating else joint for joint in description.joints)
    return replace(description, joints=tuple(joints)) if floating else description


def _fixed(joint: Joint) -> Joint:
    return replace(
        joint,
        kind="fixed",
        lower=-math.inf,
        upper=math.inf,
        velocity=math.inf,
        effort=math.inf,
        damping=0.0,
        friction=0.0,
        armature=0.0,
    )


def _without_missing_joints(description: Description) -> Description:
    """Remove root joints that do not exist, or have become fixed, from configurations and chains."""
    missing = {joint.name for joint in _joints_of_massless_root(description) if joint.kind == "fixed"}
    if all(joint.name != ROOT_JOINT for joint in description.joints):
        missing.add(ROOT_JOINT)
    configurations = {
        name: {joint: position for joint, position in positions.items() if joint not in missing}
        for name, positions in description.configurations.items()
    }
    chains = {name: tuple(one for one in chain if one not in missing) for name, chain in description.chains.items()}
    return replace(description, configurations=configurations, chains=chains)
