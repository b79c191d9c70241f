"""The part of a robot up to given joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.description.types import Description
from kinodyn.model.robot import Robot


@check_types
def cut(robot: Robot, *joints: str) -> Robot:
    """Return the part of a robot that ends with the links of the named joints.

    Links fixed to kept links are kept too. Gravity, armature and damping are those of the whole robot.

    Parameters
    ----------
    robot : Robot
    *joints : str
        Names of the last joints that are kept.

    Returns
    -------
    Robot

    Examples
    --------
    >>> import kinodyn as kd
    >>> kd.derivation.cut(kd.load("puma560"), "joint3").joint_names
    ('joint1', 'joint2', 'joint3')
    """
    ends = {robot.joint(name).name for name in joints}
    description = _without(robot.description, _links_beyond(robot.description, ends))
    names = {joint.name for joint in description.joints}
    places = [j for info in robot.joints if info.name in names for j in range(info.v.start, info.v.stop)]
    return Robot(
        description,
        gravity=robot.gravity,
        armature=np.asarray(robot.armature)[places],
        damping=np.asarray(robot.damping)[places],
    )


def _links_beyond(description: Description, ends: set[str]) -> set[str]:
    """Find the links beyond the moving joints on the links of `ends`."""
    kept = {joint.child for joint in description.joints if joint.name in ends}
    removed: set[str] = set()
    waiting = list(description.joints)
    while waiting:
        later = []
        for joint in waiting:
            if joint.parent in removed or (joint.parent in kept and joint.kind != "fixed"):
                removed.add(joint.child)
            elif joint.parent in kept:
                kept.add(joint.child)
            else:
                later.append(joint)
        if len(later) == len(waiting):
            break
        waiting = later
    return removed


def _without(description: Description, removed: set[str]) -> Description:
    joints = tuple(joint for joint in description.joints if joint.child not in removed)
    frames = tuple(frame for frame in description.frames if frame.link not in removed)
    links = tuple(link for link in description.links if link.name not in removed)
    names = {joint.name for joint in joints}
    places = {*(frame.name for frame in frames), *(link.name for link in links)}
    return replace(
        description,
        links=links,
        joints=joints,
        frames=frames,
        configurations={
            key: {name: value for name, value in positions.items() if name in names}
            for key, positions in description.configurations.items()
        },
        chains={key: chain for key, chain in description.chains.items() if names.issuperset(chain)},
        end_effectors={key: frame for key, frame in description.end_effectors.items() if frame in places},
        collision_exclusions=tuple(pair for pair in description.collision_exclusions if places.issuperset(pair)),
    )
