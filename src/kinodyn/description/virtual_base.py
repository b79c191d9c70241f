"""Several joints in place of a floating joint, as models from OpenSim and many training environments have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.types import Description, Joint, Link
from kinodyn.spatial import as_quaternion, from_angle_axis, from_quaternion, pose

TRANSLATIONS = ("prismatic",)
ROTATIONS = ("revolute", "continuous")
BALL = "ball"  # three rotations in one
MIN_INDEPENDENCE = 1e-6  # least singular value of three unit axes that are linearly independent


def virtual_base(description: Description, root: Link) -> tuple[Joint, ...]:
    """Find the joints by which a body moves freely without a floating joint.

    Parameters
    ----------
    description
        A valid description.
    root
        Its root link.

    Returns
    -------
    joints : tuple of Joint
        From the root on: three prismatic and three revolute joints with linearly independent axes, or a ball joint in
        place of the latter, in any order, and fixed joints, through links without mass. Empty if there are none.
    """
    below: dict[str, list[Joint]] = {}
    for joint in description.joints:
        below.setdefault(joint.parent, []).append(joint)
    links = {link.name: link for link in description.links}
    chain: list[Joint] = []
    link = root
    while _is_massless(link):
        moving = below.get(link.name, [])
        if link is root:  # beside the robot: a floor or a table, balls
            moving = [joint for joint in moving if joint.kind not in ("fixed", "floating")] or moving
        if len(moving) != 1 or moving[0].kind not in (*TRANSLATIONS, *ROTATIONS, BALL, "fixed") or moving[0].mimic:
            return ()
        chain += moving
        link = links[moving[0].child]
    return tuple(chain) if _moves_freely(chain) else ()


def with_floating_joint(description: Description, chain: Sequence[Joint], name: str) -> Description:
    """Replace the joints of a virtual base by a floating joint, and the links between them.

    Parameters
    ----------
    description
        A valid description.
    chain
        Joints that `virtual_base` found.
    name
        Name of the floating joint.

    Returns
    -------
    description : Description
        In named configurations the floating joint has the pose that the replaced joints gave the body.
    """
    replaced = {joint.name for joint in chain}
    between = {joint.child for joint in chain[:-1]}
    free = Joint(name, "floating", chain[0].parent, chain[-1].child, line=chain[0].line)
    return replace(
        description,
        links=tuple(link for link in description.links if link.name not in between),
        joints=(free, *(joint for joint in description.joints if joint.name not in replaced)),
        frames=tuple(frame for frame in description.frames if frame.link not in between),
        configurations={
            label: _with_pose(positions, chain, name) for label, positions in description.configurations.items()
        },
        chains={
            label: tuple(one for one in names if one not in replaced) for label, names in description.chains.items()
        },
    )


def _is_massless(link: Link) -> bool:
    return link.inertia is None or link.inertia.mass == 0.0


def _moves_freely(chain: Sequence[Joint]) -> bool:
    """Return whether the chain has three translations and three rotations about independent axes."""
    axes: dict[bool, list[Array]] = {True: [], False: []}
    R = np.eye(3)
    for joint in chain:
        R = R @ joint.T_parent_child[:3, :3]
        if joint.kind != "fixed":
            axes[joint.kind in TRANSLATIONS] += list(R.T) if joint.kind == BALL else [R @ joint.axis]
    return all(len(found) == 3 and _independent(found) for found in axes.values())


def _independent(axes: Sequence[Array]) -> bool:
    return bool(np.linalg.svd(np.array(axes), compute_uv=False)[-1] > MIN_INDEPENDENCE)


def _with_pose(
    positions: Mapping[str, tuple[float, ...]], chain: Sequence[Joint], name: str
) -> dict[str, tuple[float, ...]]:
    """Return a configuration with the pose of the floating joint, if it has positions of the joints in its place."""
    others = {joint: values for joint, values in positions.items() if joint not in {one.name for one in chain}}
    if len(others) == len(positions):
        return dict(positions)
    T = np.eye(4)
    for joint in chain:
        T = T @ joint.T_parent_child @ _motion(joint, positions.get(joint.name))
    return {name: (*map(float, T[:3, 3]), *map(float, as_quaternion(T[:3, :3]))), **others}


def _motion(joint: Joint, position: tuple[float, ...] | None) -> Array:
    if position is None:
        return np.eye(4)
    if joint.kind in TRANSLATIONS:
        return pose((position[0] - joint.reference) * joint.axis)
    if joint.kind in ROTATIONS:
        return pose(rotation=from_angle_axis(position[0] - joint.reference, joint.axis))
    return pose(rotation=from_quaternion(position)) if joint.kind == BALL else np.eye(4)
