"""Read a URDF file or text: links and joints, validation, warnings."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import as_path
from kinodyn.description.base import floating_joint
from kinodyn.description.packages import PackageDirs, PackageFinder
from kinodyn.description.types import Description, Inertia, Link
from kinodyn.description.urdf.joints import JointReader
from kinodyn.description.urdf.shapes import ShapeReader, placement
from kinodyn.description.validation import validate
from kinodyn.description.xacro import find_xacro, xacro_not_allowed
from kinodyn.description.xml_tree import Node, parse_xml, read_xml
from kinodyn.description.zero_limits import without_zero_limits_of_file


@check_types
def read_urdf(
    source: str | os.PathLike[str], *, packages: PackageDirs = (), allow_outside: bool = False
) -> Description:
    """Read a URDF file.

    Parameters
    ----------
    source
        Path of the file.
    packages
        Folders that contain the packages of `package://` and `model://` URIs; searched before the folders above the
        file, `ROS_PACKAGE_PATH` and `AMENT_PREFIX_PATH`. A missing mesh is a warning.
    allow_outside
        Whether meshes outside of the folders of the file are read: outside of its own folder, its package, folders such
        as `meshes` and `assets` in the three folders above, and `packages`.

    Returns
    -------
    description : Description

    Raises
    ------
    DescriptionError
        If the file cannot be read or is not a valid robot, with file, line and element.
    """
    path = as_path("source", source)
    if path.suffix.lower() == ".xacro":
        raise xacro_not_allowed(path)
    return _describe(read_xml(path), path, PackageFinder(path, packages, allow_outside=allow_outside))


@check_types
def parse_urdf(
    text: str | bytes,
    *,
    file: str | os.PathLike[str] | None = None,
    packages: PackageDirs = (),
    allow_outside: bool = False,
) -> Description:
    """Read a URDF from text.

    Parameters
    ----------
    text
        The XML document.
    file
        The file that the text came from, if any: for messages, relative mesh names and the search for packages.
    packages, allow_outside
        As for `read_urdf`.

    Returns
    -------
    description : Description

    Examples
    --------
    >>> from kinodyn.description.urdf import parse_urdf
    >>> parse_urdf('<robot name="one"><link name="base"/></robot>').links[0].name
    'base'
    """
    path = None if file is None else as_path("file", file)
    return _describe(parse_xml(text, path), path, PackageFinder(path, packages, allow_outside=allow_outside))


def _describe(robot: Node, file: Path | None, finder: PackageFinder) -> Description:
    if robot.tag != "robot":
        raise robot.error(f"the root element is <{robot.tag}>; a URDF file has <robot>")
    xacro_element = find_xacro(robot)
    if xacro_element is not None:
        raise xacro_not_allowed(file, xacro_element)
    shapes = ShapeReader(robot, finder)
    joints = JointReader()
    description = Description(
        name=robot.word("name"),
        links=tuple(_link(node, shapes) for node in robot.all("link")),
        joints=tuple(joints.read(node) for node in robot.all("joint")),
        source=file,
    )
    validate(description)
    shapes.warn_missing_meshes(file)
    joints.warn_questionable(description)
    description = without_zero_limits_of_file(description)
    return replace(description, base="floating" if floating_joint(description) else "fixed")


def _link(node: Node, shapes: ShapeReader) -> Link:
    return Link(
        name=node.word("name"),
        inertia=_inertia(node),
        visuals=shapes.read(node, "visual"),
        collisions=shapes.read(node, "collision"),
        line=node.line,
    )


def _inertia(link: Node) -> Inertia | None:
    """Read `<inertial>` and rotate its matrix from its own frame to link axes."""
    inertial = link.child("inertial")
    if inertial is None:
        return None
    T_link_inertial = placement(inertial)
    R_link_inertial = T_link_inertial[:3, :3]
    matrix = R_link_inertial @ _matrix(inertial.need("inertia")) @ R_link_inertial.T
    return Inertia(
        mass=inertial.need("mass").number("value"),
        com=T_link_inertial[:3, 3].copy(),
        # The products are rounded differently on the two sides of the diagonal.
        matrix=(matrix + matrix.T) / 2.0,
    )


def _matrix(node: Node) -> Array:
    """Read the six entries of a symmetric matrix [kg m^2]; missing products of inertia are 0."""
    ixx, iyy, izz = (node.number(key) for key in ("ixx", "iyy", "izz"))
    ixy, ixz, iyz = (node.number(key, 0.0) for key in ("ixy", "ixz", "iyz"))
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
