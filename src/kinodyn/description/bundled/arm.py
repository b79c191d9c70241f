"""Shared by the bundled arms: a DH table with capsules as shapes, and named configurations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.dh import DH, Convention, description_from_dh
from kinodyn.description.types import Description, Frame, Inertia, Link, Shape

_GREY = (0.70, 0.72, 0.76, 1.0)


def dh_arm(
    rows: Sequence[DH],
    bodies: Sequence[Inertia],
    radii: Sequence[float],
    *,
    name: str,
    convention: Convention = "standard",
    configurations: Mapping[str, Sequence[float]] | None = None,
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
) -> Description:
    """Describe an arm by its DH table, the inertia of each link, and the radius [m] of the capsules along each link.

    `configurations` has one position for each moving joint, in the order of the rows.
    """
    description = description_from_dh(rows, convention=convention, name=name, gravity=gravity)
    paths = _standard_paths(rows) if convention == "standard" else _modified_paths(rows)
    parts = {
        f"link{number}": (body, _capsules(path, radius))
        for number, (body, path, radius) in enumerate(zip(bodies, paths, radii, strict=True), start=1)
    }
    links = (_with_shapes(link, *parts[link.name]) if link.name in parts else link for link in description.links)
    joints = description.chains["arm"]
    named = {
        key: {joint: (float(value),) for joint, value in zip(joints, values, strict=True)}
        for key, values in (configurations or {}).items()
    }
    return replace(description, links=tuple(links), configurations=named)


def renamed(description: Description, names: Mapping[str, str]) -> Description:
    """Return the description with renamed links, old name to new.

    A link "old/joint" and a joint "old_fixed", which a DH table adds in between, are renamed with their link.
    """

    def new(name: str) -> str:
        owner, slash, joint = name.partition("/")
        return names.get(owner, owner) + slash + joint

    def new_joint(name: str) -> str:
        owner = name.removesuffix("_fixed")
        return f"{names[owner]}_fixed" if owner != name and owner in names else name

    return replace(
        description,
        links=tuple(replace(link, name=new(link.name)) for link in description.links),
        joints=tuple(
            replace(joint, name=new_joint(joint.name), parent=new(joint.parent), child=new(joint.child))
            for joint in description.joints
        ),
        end_effectors={key: new(frame) for key, frame in description.end_effectors.items()},
    )


def frame(name: str, link: str, z: float, yaw: float = 0.0) -> Frame:
    """Return a frame translated by `z` [m] along and rotated by `yaw` [rad] about the link's z axis."""
    cos, sin = math.cos(yaw), math.sin(yaw)
    T = np.array([[cos, -sin, 0.0, 0.0], [sin, cos, 0.0, 0.0], [0.0, 0.0, 1.0, z], [0.0, 0.0, 0.0, 1.0]])
    return Frame(name, link, T)


def _with_shapes(link: Link, inertia: Inertia, shapes: tuple[Shape, ...]) -> Link:
    return replace(link, inertia=inertia, visuals=shapes, collisions=shapes)


def _standard_paths(rows: Sequence[DH]) -> list[list[Array]]:
    """Return for each link the points from the previous frame, along d, then along a, to its own frame."""
    paths = []
    for row in rows:
        corner = np.array([-row.a, 0.0, 0.0])
        axis = np.array([0.0, math.sin(row.alpha), math.cos(row.alpha)])
        paths.append([corner - row.d * axis, corner, np.zeros(3)])
    return paths


def _modified_paths(rows: Sequence[DH]) -> list[list[Array]]:
    """Return for each link the points from the start of d, to its own frame, to the next joint's axis along a."""
    following = [row.a for row in rows[1:]] + [0.0]
    return [
        [np.array([0.0, 0.0, -row.d]), np.zeros(3), np.array([a, 0.0, 0.0])]
        for row, a in zip(rows, following, strict=True)
    ]


def _capsules(path: Sequence[Array], radius: float) -> tuple[Shape, ...]:
    """Return a capsule along each segment of the path with a length, or a sphere if none has."""
    pieces = [(a, b) for a, b in itertools.pairwise(path) if not np.allclose(a, b)]
    if not pieces:
        return (Shape("sphere", (radius,), np.eye(4), rgba=_GREY),)
    return tuple(_capsule(a, b, radius) for a, b in pieces)


def _capsule(start: Array, end: Array, radius: float) -> Shape:
    T = np.eye(4)
    T[:3, 3] = 0.5 * (start + end)
    length = float(np.linalg.norm(end - start))
    T[:3, :3] = _turn_z_to((end - start) / length)
    return Shape("capsule", (radius, length), T, rgba=_GREY)


def _turn_z_to(direction: Array) -> Array:
    """Return a rotation matrix whose third column is the unit vector `direction`."""
    helper = np.eye(3)[int(np.argmin(np.abs(direction)))]
    x = np.cross(helper, direction)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(direction, x), direction])
