"""Shared by the bundled arms: a DH table with shapes, and named configurations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.bundled.parts import GREY, LinkShapes, capsule
from kinodyn.description.dh import DH, Convention, description_from_dh
from kinodyn.description.types import Description, Frame, Inertia, Link, Shape


def dh_arm(
    rows: Sequence[DH],
    bodies: Sequence[Inertia],
    shapes: Sequence[LinkShapes],
    *,
    name: str,
    convention: Convention = "standard",
    configurations: Mapping[str, Sequence[float]] | None = None,
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
) -> Description:
    """Describe an arm by its DH table, the inertia of each link, and the shapes of the base and of each link.

    `configurations` has one position for each moving joint, in the order of the rows.
    """
    description = description_from_dh(rows, convention=convention, name=name, gravity=gravity)
    inertias = {f"link{number}": body for number, body in enumerate(bodies, start=1)}
    names = ("base", *inertias)
    parts = dict(zip(names, shapes, strict=True))
    links = (_completed(link, inertias.get(link.name), parts.get(link.name)) for link in description.links)
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


def capsule_shapes(
    rows: Sequence[DH], radii: Sequence[float], convention: Convention = "standard"
) -> tuple[LinkShapes, ...]:
    """Return capsules of the given radii [m] along the links, with which links of simple arms are drawn and collide."""
    paths = _standard_paths(rows) if convention == "standard" else _modified_paths(rows)
    links = [_capsules(path, radius) for path, radius in zip(paths, radii, strict=True)]
    return (LinkShapes(), *(LinkShapes(shapes, shapes) for shapes in links))


def _completed(link: Link, inertia: Inertia | None, shapes: LinkShapes | None) -> Link:
    parts = shapes or LinkShapes()
    return replace(link, inertia=inertia or link.inertia, visuals=parts.visuals, collisions=parts.collisions)


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
        return (Shape("sphere", (radius,), np.eye(4), rgba=GREY),)
    return tuple(capsule(a, b, radius) for a, b in pieces)
