"""The spine of the URDF reader: file or text, links and joints, the check, the warnings."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.base import floating_joint
from kinodyn.description.packages import PackageDirs, PackageFinder
from kinodyn.description.types import Description, Inertia, Link
from kinodyn.description.urdf.joints import JointReader
from kinodyn.description.urdf.shapes import ShapeReader, placement
from kinodyn.description.validate import validate
from kinodyn.description.xacro import find_xacro, xacro_refused
from kinodyn.description.xmlnode import Node, parse_xml, read_xml


def read_urdf(source: str | os.PathLike[str], *, package_dirs: PackageDirs = ()) -> Description:
    """Read a URDF file.

    Parameters
    ----------
    source
        Path of the file.
    package_dirs
        Folders in which to look for the packages of `package://` and `model://` names, before the folders above the
        file, `ROS_PACKAGE_PATH` and `AMENT_PREFIX_PATH`. A mesh not found is a warning.

    Raises
    ------
    DescriptionError
        When the file cannot be read or describes no robot that can exist, with file, line and element.
    """
    path = Path(source)
    if path.suffix.lower() == ".xacro":
        raise xacro_refused(path)
    return _describe(read_xml(path), path, package_dirs)


def parse_urdf(
    text: str | bytes, *, file: str | os.PathLike[str] | None = None, package_dirs: PackageDirs = ()
) -> Description:
    """Read a URDF from text.

    Parameters
    ----------
    text
        The XML document.
    file
        Where the text came from, if from a file: for messages, relative mesh names and the search for packages.
    package_dirs
        As for `read_urdf`.

    Examples
    --------
    >>> from kinodyn.description.urdf import parse_urdf
    >>> parse_urdf('<robot name="one"><link name="base"/></robot>').links[0].name
    'base'
    """
    path = None if file is None else Path(file)
    return _describe(parse_xml(text, path), path, package_dirs)


def _describe(robot: Node, file: Path | None, package_dirs: PackageDirs) -> Description:
    if robot.tag != "robot":
        raise robot.error(f"the outermost element is <{robot.tag}>; a URDF file has <robot>")
    written_in_xacro = find_xacro(robot)
    if written_in_xacro is not None:
        raise xacro_refused(file, written_in_xacro)
    shapes = ShapeReader(robot, PackageFinder(file, package_dirs))
    joints = JointReader()
    description = Description(
        name=robot.word("name"),
        links=tuple(_link(node, shapes) for node in robot.all("link")),
        joints=tuple(joints.read(node) for node in robot.all("joint")),
        source=file,
    )
    validate(description)
    shapes.warn_of_missing(file)
    joints.warn_of_doubts(description)
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
    """Read `<inertial>` and turn its matrix from the axes of its own frame into those of the link."""
    inertial = link.child("inertial")
    if inertial is None:
        return None
    T_link_inertial = placement(inertial)
    R_link_inertial = T_link_inertial[:3, :3]
    matrix = R_link_inertial @ _matrix(inertial.need("inertia")) @ R_link_inertial.T
    return Inertia(
        mass=inertial.need("mass").number("value"),
        com=T_link_inertial[:3, 3].copy(),
        # The products round differently on the two sides of the diagonal.
        matrix=(matrix + matrix.T) / 2.0,
    )


def _matrix(node: Node) -> Array:
    """Read the six numbers of a symmetric matrix [kg m^2]; products of inertia that are left out are 0."""
    ixx, iyy, izz = (node.number(key) for key in ("ixx", "iyy", "izz"))
    ixy, ixz, iyz = (node.number(key, 0.0) for key in ("ixy", "ixz", "iyz"))
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
