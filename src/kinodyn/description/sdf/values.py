"""Values of SDF, which are texts of elements: numbers, vectors, flags, poses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.urdf.shapes import pose_matrix
from kinodyn.description.xml_tree import Node
from kinodyn.spatial.rotations import from_quaternion

UNLIMITED = 1e16  # numbers of this size or more stand for infinity
TRUE, FALSE = ("true", "1"), ("false", "0")


def numbers(node: Node, count: int) -> tuple[float, ...]:
    """Return the text of an element as `count` numbers."""
    try:
        values = tuple(map(float, node.text.split()))
    except ValueError:
        raise node.error(f"must be numbers such as 0.5 or -1e-3, got {node.text.strip()!r:.60}") from None
    if len(values) != count:
        raise node.error(f"must be {count} number{'s' * (count > 1)}, got {len(values)}")
    if any(map(math.isnan, values)):
        raise node.error(f"must be numbers, got {node.text.strip()!r:.60}")
    return values


def number(node: Node | None, tag: str, default: float, *, finite: bool = True) -> float:
    """Return the number in a child, the default without one; infinite ones are an error unless allowed."""
    found = None if node is None else node.child(tag)
    if found is None:
        return default
    value = numbers(found, 1)[0]
    if abs(value) >= UNLIMITED:
        if finite:
            raise found.error(f"must be finite, got {value:g}")
        return math.copysign(math.inf, value)
    return value


def vector(node: Node, tag: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
    """Return the finite numbers in a child; without one the default, or an error if that is None."""
    found = node.child(tag)
    if found is None and default is not None:
        return default
    found = node.need(tag) if found is None else found
    values = numbers(found, count)
    if not all(map(math.isfinite, values)):
        raise found.error(f"must be finite, got {found.text.strip()!r:.60}")
    return values


def flag(node: Node, tag: str, default: bool = False) -> bool:
    """Return a boolean in a child."""
    found = node.child(tag)
    return default if found is None else boolean(found, found.text)


def boolean(node: Node, text: str) -> bool:
    """Return a text as a boolean."""
    word = text.strip().lower()
    if word not in TRUE + FALSE:
        raise node.error(f"must be true or false, got {text.strip()!r:.60}")
    return word in TRUE


def text(node: Node, tag: str) -> str:
    """Return the text of a child, which must not be blank."""
    found = node.need(tag)
    if not found.text.strip():
        raise found.error("must not be empty")
    return found.text.strip()


@dataclass(frozen=True, eq=False)
class Pose:
    """A pose (4, 4) and the name of the frame that it is relative to, empty for the default."""

    T: Array
    relative_to: str = ""


def pose(node: Node) -> Pose:
    """Read the `<pose>` of an element: identity without one.

    Six numbers are x y z [m] and roll pitch yaw [rad, or degrees if it says so], seven x y z and a quaternion x y z w.
    """
    found = node.child("pose")
    if found is None:
        return Pose(np.eye(4))
    relative_to = found.attributes.get("relative_to", found.attributes.get("frame", "")).strip()
    form = found.attributes.get("rotation_format", "euler_rpy")
    if form == "quat_xyzw":
        return Pose(_from_quaternion(found), relative_to)
    if form != "euler_rpy":
        raise found.error(f"rotation_format must be euler_rpy or quat_xyzw, got {form!r}")
    values = numbers(found, 6) if found.text.strip() else (0.0,) * 6
    if not all(map(math.isfinite, values)):
        raise found.error(f"must be finite, got {found.text.strip()!r:.60}")
    unit = math.pi / 180.0 if boolean(found, found.attributes.get("degrees", "false")) else 1.0
    return Pose(pose_matrix(values[:3], tuple(unit * angle for angle in values[3:])), relative_to)


def _from_quaternion(node: Node) -> Array:
    x, y, z, *quaternion = numbers(node, 7)
    length = math.hypot(*quaternion)
    if not math.isfinite(length + x + y + z) or abs(length - 1.0) > 1e-3:
        raise node.error(f"must end with a unit quaternion, got one of length {length:g}")
    T = np.eye(4)
    T[:3, 3] = x, y, z
    T[:3, :3] = from_quaternion(np.array(quaternion) / length)
    return T


def version(sdf: Node) -> tuple[int, int]:
    """Return the version of a document as (1, 7); it decides what defaults mean."""
    written = sdf.word("version")
    try:
        major, minor = (int(part) for part in written.strip().split(".")[:2])
    except ValueError:
        raise sdf.error(f"version must be a number such as 1.7, got {written!r:.40}") from None
    if major != 1 or minor < 4:
        raise sdf.error(f"version must be 1.4 or later, got {written!r:.40}")
    return major, minor
