"""Build a Pinocchio model from a kinodyn description, so that both engines compute with the same robot.

Joints keep kinodyn's order and coordinates (document order, depth first; one coordinate per continuous joint), so
q, v, a and torques need no conversion. Axis-aligned joints get Pinocchio's specialised joint types, as its own URDF
reader gives them, and fixed links are merged into the link that carries them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin

from kinodyn.description.types import Description, Joint, Link

ALIGNED = {
    ("revolute", 0): pin.JointModelRX,
    ("revolute", 1): pin.JointModelRY,
    ("revolute", 2): pin.JointModelRZ,
    ("prismatic", 0): pin.JointModelPX,
    ("prismatic", 1): pin.JointModelPY,
    ("prismatic", 2): pin.JointModelPZ,
}


def build(description: Description) -> Any:
    """Build the `pinocchio.Model` of `description` with the frames that kinodyn has: links and named frames."""
    model = pin.Model()
    model.name = description.name
    model.gravity.linear = np.array(description.gravity)
    place = {}
    for link, joint in depth_first(description):
        if joint is None:
            place[link.name] = 0, pin.SE3.Identity()
        else:
            parent, T_body_parent = place[joint.parent]
            place[link.name] = add_joint(model, joint, parent, T_body_parent * pin.SE3(joint.T_parent_child))
        add_link(model, link, *place[link.name])
    for frame in description.frames:
        body, T_body_link = place[frame.link]
        add_frame(model, frame.name, body, T_body_link * pin.SE3(frame.T_link_frame))
    return model


def depth_first(description: Description) -> Iterator[tuple[Link, Joint | None]]:
    """Walk the links with the joint that carries each, parents first, siblings in document order."""
    links = {link.name: link for link in description.links}
    children: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in description.joints:
        children[joint.parent].append(joint)
    carried = {joint.child for joint in description.joints}
    waiting: list[tuple[str, Joint | None]] = [(name, None) for name in links if name not in carried]
    while waiting:
        name, via = waiting.pop()
        yield links[name], via
        waiting.extend((child.child, child) for child in reversed(children[name]))


def joint_model(joint: Joint) -> Any:
    """Choose Pinocchio's joint type, or None for a fixed joint."""
    if joint.mimic is not None or joint.reference != 0.0:
        raise ValueError(f"joint {joint.name!r}: mimic joints and references are not part of this benchmark")
    if joint.kind == "fixed":
        return None
    if joint.kind == "floating":
        return pin.JointModelFreeFlyer()
    if joint.kind == "ball":
        return pin.JointModelSpherical()
    kind = "revolute" if joint.kind == "continuous" else joint.kind
    if kind not in ("revolute", "prismatic"):
        raise ValueError(f"joint {joint.name!r}: kind {joint.kind!r} is not part of this benchmark")
    for index in range(3):
        if np.array_equal(joint.axis, np.eye(3)[index]):
            return ALIGNED[kind, index]()
    unaligned = {"revolute": pin.JointModelRevoluteUnaligned, "prismatic": pin.JointModelPrismaticUnaligned}
    return unaligned[kind](np.asarray(joint.axis))


def add_joint(model: Any, joint: Joint, parent: int, T_parent_child: Any) -> tuple[int, Any]:
    """Add a joint; return the body that carries the child and its placement. A fixed joint adds no body."""
    kind = joint_model(joint)
    if kind is None:
        return parent, T_parent_child
    index = model.addJoint(parent, kind, T_parent_child, joint.name)
    first, count = model.joints[index].idx_v, model.joints[index].nv
    model.armature[first : first + count] = joint.armature
    return index, pin.SE3.Identity()


def add_link(model: Any, link: Link, body: int, T_body_link: Any) -> None:
    """Add the link's mass to the body that carries it, and its frame."""
    if link.inertia is not None:
        inertia = pin.Inertia(link.inertia.mass, link.inertia.com, link.inertia.matrix)
        model.appendBodyToJoint(body, inertia, T_body_link)
    add_frame(model, link.name, body, T_body_link)


def add_frame(model: Any, name: str, body: int, T_body_frame: Any) -> None:
    """Add a frame that sits in a body."""
    model.addFrame(pin.Frame(name, body, 0, T_body_frame, pin.FrameType.BODY), False)
