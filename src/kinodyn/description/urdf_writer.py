"""Write any description as URDF."""

from __future__ import annotations

import math
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import as_path
from kinodyn.description.mesh_files import stl_bytes
from kinodyn.description.meshes import TriangleMesh
from kinodyn.description.types import Description, Frame, Inertia, Joint, Link, Shape
from kinodyn.errors import DescriptionError, InputError
from kinodyn.tables.output import write_file, write_text

# A URDF limit must be a number, and parsers in C++ do not read "inf".
_NO_LIMIT = sys.float_info.max


@check_types
def write_urdf(description: Description, path: str | os.PathLike[str] | None = None) -> str:
    """Write a description as URDF.

    Parameters
    ----------
    description
        The description.
    path
        File to write to; none if not given. Meshes that the description itself contains are written to STL files in the
        folder `<name of the file>_meshes` beside it.

    Returns
    -------
    text : str
        The URDF document.

    Raises
    ------
    DescriptionError
        For what URDF cannot express: ball joints, ellipsoids, planes, and collision meshes of the description itself
        without a path.

    Notes
    -----
    A capsule becomes a cylinder and two spheres, a frame a link without inertia on a fixed joint, a revolute joint
    without position limits continuous; any other infinite limit becomes the largest number. URDF cannot express
    armature, gravity, chains, end effectors, named configurations and collision exclusions: they are not written.
    Without a path, a link whose visual shapes are meshes of the description itself is drawn with its collision shapes.

    Examples
    --------
    >>> from kinodyn.description.human import humanoid
    >>> write_urdf(humanoid()).splitlines()[1]
    '<robot name="humanoid">'
    """
    target = None if path is None else as_path("path", path)
    robot = Element("robot", name=description.name)
    beside = target if target is not None and (target.is_file() or not target.exists()) else None  # not of a device
    for link in description.links:
        _add_link(robot, link, beside)
    for joint in description.joints:
        _add_joint(robot, joint)
    for frame in description.frames:
        _add_frame(robot, frame)
    indent(robot)
    text = '<?xml version="1.0"?>\n' + tostring(robot, encoding="unicode") + "\n"
    if target is not None:
        write_text(target, text)
    return text


def _add_link(robot: Element, link: Link, target: Path | None) -> None:
    element = _child(robot, "link", name=link.name)
    if link.inertia is not None:
        _add_inertial(element, link.inertia)
    visuals = link.visuals
    if target is None and any(_contains_mesh(shape) for shape in visuals):
        visuals = link.collisions
    for tag, group in (("visual", visuals), ("collision", link.collisions)):
        for number, shape in enumerate(group):
            named = shape if target is None else _with_file(shape, target, f"{link.name}_{tag}_{number}")
            for piece in _expressible(named, link.name):
                _add_shape(element, tag, piece)


def _contains_mesh(shape: Shape) -> bool:
    return shape.kind == "mesh" and shape.triangles is not None


def _with_file(shape: Shape, target: Path, name: str) -> Shape:
    """Write the triangles of a shape to a file beside the document, and return the shape that names it."""
    if not _contains_mesh(shape) or shape.triangles is None:
        return shape
    folder = target.parent / f"{target.stem}_meshes"
    file = folder / f"{_file_name(name)}.stl"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as cause:
        raise InputError(f"{os.fspath(folder)} cannot be created: {cause.strerror}") from cause
    content = stl_bytes(TriangleMesh(*shape.triangles))
    write_file(file, lambda stream: stream.write(content))
    return replace(shape, triangles=None, mesh=file, uri=f"{folder.name}/{file.name}")


def _file_name(name: str) -> str:
    """Replace what is not a letter, a digit, a dot, a hyphen or an underscore: names of links may contain slashes."""
    return re.sub(r"[^\w.-]", "_", name)


def _add_inertial(link: Element, inertia: Inertia) -> None:
    inertial = _child(link, "inertial")
    _child(inertial, "origin", xyz=_numbers(inertia.com), rpy="0.0 0.0 0.0")
    _child(inertial, "mass", value=_number(inertia.mass))
    matrix = inertia.matrix
    entries = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    _child(inertial, "inertia", **{name: _number(matrix[index]) for name, index in entries.items()})


def _expressible(shape: Shape, link: str) -> list[Shape]:
    """Return shapes that URDF supports and that together form `shape`."""
    if shape.kind in ("box", "sphere", "cylinder", "mesh") and shape.triangles is None:
        return [shape]
    if shape.kind == "capsule":
        radius, length = shape.size
        ends = [shape.T_link_shape @ _shift(z) for z in (-0.5 * length, 0.5 * length)]
        middle = Shape("cylinder", (radius, length), shape.T_link_shape, rgba=shape.rgba)
        return [middle, *(Shape("sphere", (radius,), end, rgba=shape.rgba) for end in ends)]
    raise DescriptionError(
        f"link {link!r} has a shape of kind {shape.kind!r}; URDF has box, sphere, cylinder and mesh files: "
        "replace or remove the shape before writing"
    )


def _add_shape(link: Element, tag: str, shape: Shape) -> None:
    element = _child(link, tag, **({"name": shape.name} if shape.name else {}))
    _add_origin(element, shape.T_link_shape)
    geometry = _child(element, "geometry")
    if shape.kind == "box":
        _child(geometry, "box", size=_numbers(shape.size))
    elif shape.kind == "sphere":
        _child(geometry, "sphere", radius=_number(shape.size[0]))
    elif shape.kind == "cylinder":
        _child(geometry, "cylinder", radius=_number(shape.size[0]), length=_number(shape.size[1]))
    else:
        _child(geometry, "mesh", filename=shape.uri or str(shape.mesh), scale=_numbers(shape.size))
    if tag == "visual" and shape.rgba is not None:
        material = _child(element, "material", name="rgba_" + "_".join(f"{part:.3f}" for part in shape.rgba))
        _child(material, "color", rgba=_numbers(shape.rgba))


def _add_joint(robot: Element, joint: Joint) -> None:
    if joint.kind == "ball":
        raise DescriptionError(
            f"joint {joint.name!r} is a ball joint, which URDF cannot express: "
            "replace it by three revolute joints whose axes meet, or keep the description as MJCF"
        )
    unlimited = joint.kind == "revolute" and math.isinf(joint.lower) and math.isinf(joint.upper)
    element = _child(robot, "joint", name=joint.name, type="continuous" if unlimited else joint.kind)
    _add_origin(element, joint.T_parent_child @ _back_from_reference(joint))
    _child(element, "parent", link=joint.parent)
    _child(element, "child", link=joint.child)
    if joint.kind in ("fixed", "floating"):
        return
    _child(element, "axis", xyz=_numbers(joint.axis))
    if joint.kind != "planar":
        _add_limit(element, joint, positions=joint.kind != "continuous" and not unlimited)
    if joint.damping or joint.friction:
        _child(element, "dynamics", damping=_number(joint.damping), friction=_number(joint.friction))
    if joint.mimic is not None:
        multiplier, offset = _number(joint.mimic.multiplier), _number(joint.mimic.offset)
        _child(element, "mimic", joint=joint.mimic.joint, multiplier=multiplier, offset=offset)


def _add_limit(element: Element, joint: Joint, positions: bool) -> None:
    values = {"effort": joint.effort, "velocity": joint.velocity}
    if positions:
        values = {"lower": joint.lower, "upper": joint.upper, **values}
    _child(element, "limit", **{name: _number(_finite(value)) for name, value in values.items()})


def _add_frame(robot: Element, frame: Frame) -> None:
    _child(robot, "link", name=frame.name)
    joint = _child(robot, "joint", name=f"{frame.name}_joint", type="fixed")
    _add_origin(joint, frame.T_link_frame)
    _child(joint, "parent", link=frame.link)
    _child(joint, "child", link=frame.name)


def _add_origin(element: Element, T: Array) -> None:
    _child(element, "origin", xyz=_numbers(T[:3, 3]), rpy=_numbers(_roll_pitch_yaw(T[:3, :3])))


def _back_from_reference(joint: Joint) -> Array:
    """Return the joint's motion from its reference to zero: URDF places the child at joint position zero."""
    T = np.eye(4)
    if joint.kind == "prismatic":
        T[:3, 3] = -joint.reference * joint.axis
    elif joint.reference:
        x, y, z = joint.axis
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        T[:3, :3] -= math.sin(joint.reference) * cross - (1.0 - math.cos(joint.reference)) * (cross @ cross)
    return T


def _roll_pitch_yaw(R: Array) -> tuple[float, float, float]:
    """Return the angles about the fixed axes x, y, z; at pitch +-90 degrees roll is 0."""
    cos_pitch = math.hypot(R[0, 0], R[1, 0])
    pitch = math.atan2(-R[2, 0], cos_pitch)
    if cos_pitch < 1e-9:
        return 0.0, pitch, math.atan2(-R[0, 1], R[1, 1])
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def _shift(z: float) -> Array:
    T = np.eye(4)
    T[2, 3] = z
    return T


def _finite(value: float) -> float:
    return max(-_NO_LIMIT, min(_NO_LIMIT, value))


def _child(parent: Element, tag: str, **attributes: str) -> Element:
    return SubElement(parent, tag, attributes)


def _numbers(values: Array | tuple[float, ...]) -> str:
    return " ".join(_number(value) for value in values)


def _number(value: float) -> str:
    # repr gives the shortest digits that read back as the same number, whatever the locale.
    return repr(float(value))
