"""Variants of a robot with the same motion: other axes of the base, another root link."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.base import floating_joint, root_link
from kinodyn.description.types import Description, Inertia, Link, Shape


def grounded(description: Description) -> Description:
    """Remove the world and the floating joint, and what names the joints of the description."""
    free = floating_joint(description)
    assert free is not None
    return replace(
        description,
        links=tuple(link for link in description.links if link.name != free.parent),
        joints=tuple(joint for joint in description.joints if joint is not free),
        configurations={},
        chains={},
        end_effectors={},
    )


def with_base_frame(description: Description, T_old_new: Array) -> Description:
    """Move and turn the frame of the root link within the link; nothing else changes."""
    rooted = grounded(description)
    return _reframed(rooted, {root_link(rooted).name: T_old_new})


def with_root(description: Description, root: str) -> Description:
    """Reverse the joints from a link to the root, so that it becomes the root.

    The frame of a link that was a parent moves to its joint, as files need it. Joint positions keep their meaning.
    """
    rooted = grounded(description)
    above = {joint.child: joint for joint in rooted.joints}
    frames: dict[str, Array] = {}
    reversed_joints, T_old_new, at = [], np.eye(4), root
    while at in above:
        joint = above[at]
        frames[joint.parent] = joint.T_parent_child
        back = np.linalg.inv(T_old_new)
        reversed_joints.append(
            replace(joint, parent=joint.child, child=joint.parent, T_parent_child=back, axis=-joint.axis)
        )
        T_old_new, at = joint.T_parent_child, joint.parent
    turned = {joint.name for joint in reversed_joints}
    others = _reframed(replace(rooted, joints=tuple(j for j in rooted.joints if j.name not in turned)), frames)
    return replace(others, joints=(*reversed_joints, *others.joints))


def _reframed(description: Description, frames: dict[str, Array]) -> Description:
    """Change the frames of links that are not children, given by T_old_new (4, 4)."""
    back = {name: np.linalg.inv(T) for name, T in frames.items()}
    return replace(
        description,
        links=tuple(_link(link, back[link.name]) if link.name in back else link for link in description.links),
        joints=tuple(
            replace(joint, T_parent_child=back[joint.parent] @ joint.T_parent_child) if joint.parent in back else joint
            for joint in description.joints
        ),
        frames=tuple(
            replace(frame, T_link_frame=back[frame.link] @ frame.T_link_frame) if frame.link in back else frame
            for frame in description.frames
        ),
    )


def _link(link: Link, T_new_old: Array) -> Link:
    def moved(shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
        return tuple(replace(shape, T_link_shape=T_new_old @ shape.T_link_shape) for shape in shapes)

    R, p, own = T_new_old[:3, :3], T_new_old[:3, 3], link.inertia
    inertia = None if own is None else Inertia(own.mass, R @ own.com + p, R @ own.matrix @ R.T)
    return replace(link, inertia=inertia, visuals=moved(link.visuals), collisions=moved(link.collisions))
