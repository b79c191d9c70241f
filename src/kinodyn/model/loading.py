"""Load robots by name, from a file, or from a Denavit-Hartenberg table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kinodyn.arrays import MatrixLike
from kinodyn.description.base import Base
from kinodyn.description.catalogue import describe, is_known
from kinodyn.description.dh import DH, Convention, description_from_dh
from kinodyn.description.packages import PackageDirs
from kinodyn.description.srdf import read_srdf
from kinodyn.description.types import Description
from kinodyn.description.urdf import parse_urdf, read_urdf
from kinodyn.description.xacro import expand_xacro
from kinodyn.description.xml_tree import read_xml
from kinodyn.errors import DescriptionError, InputError
from kinodyn.model.robot import Robot

_SUFFIXES = (".urdf", ".xml", ".xacro")


def load(
    source: str | os.PathLike[str],
    *,
    base: Base | None = None,
    height: float | None = None,
    mass: float | None = None,
    xacro: bool = False,
    xacro_arguments: Mapping[str, object] | None = None,
    packages: PackageDirs = (),
    srdf: str | os.PathLike[str] | None = None,
) -> Robot:
    """Load a robot by its name or from a file.

    Parameters
    ----------
    source
        A name from `robots()`, or the path of a URDF (.urdf, .xml), MJCF (.xml) or xacro (.xacro) file.
    base
        "fixed" or "floating"; by default what the description says.
    height, mass
        Height [m] and mass [kg] of the humanoid; no other robot accepts them.
    xacro
        True expands the file as xacro first, which evaluates Python expressions in it: only for files you trust.
    xacro_arguments
        Values for the `<xacro:arg>` elements of the file.
    packages
        Folders that contain the packages of `package://` URIs.
    srdf
        An SRDF file with groups, end effectors and named configurations.

    Returns
    -------
    robot : Robot

    Raises
    ------
    UnknownNameError
        If no robot has this name; the message suggests the nearest ones.
    DescriptionError
        If the file cannot be read as a robot, with line and element.
    InputError
        If arguments are inconsistent.

    Examples
    --------
    >>> load("panda")
    Robot('panda', nq=7, nv=7, base='fixed', mass=16.0621 kg)
    """
    description = load_description(
        source,
        height=height,
        mass=mass,
        xacro=xacro,
        xacro_arguments=xacro_arguments,
        packages=packages,
        srdf=srdf,
    )
    return Robot(description, base=base)


def load_description(
    source: str | os.PathLike[str],
    *,
    height: float | None = None,
    mass: float | None = None,
    xacro: bool = False,
    xacro_arguments: Mapping[str, object] | None = None,
    packages: PackageDirs = (),
    srdf: str | os.PathLike[str] | None = None,
) -> Description:
    """Read the description that `load` compiles, before the base is chosen.

    Parameters
    ----------
    source, height, mass, xacro, xacro_arguments, packages, srdf
        As for `load`.

    Returns
    -------
    description : Description
    """
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f"source must be the name of a robot or the path of a file, got {type(source).__name__}")
    if xacro_arguments and not xacro:
        raise InputError("xacro_arguments were given without xacro=True; pass it to allow the file to be evaluated")
    if isinstance(source, str) and _is_name(source):
        if xacro:
            raise InputError(f"xacro=True is for files, but {source!r} is the name of a robot; remove it")
        description = describe(source, height=height, mass=mass)
    else:
        _reject_size(source, height, mass)
        description = _read_file(_existing_file(source), xacro, xacro_arguments, packages)
    return description if srdf is None else read_srdf(srdf, description)


def from_dh(
    rows: Sequence[DH],
    *,
    convention: Convention = "standard",
    base: MatrixLike | None = None,
    tool: MatrixLike | None = None,
    name: str = "dh",
) -> Robot:
    """Create a robot from the rows of its Denavit-Hartenberg table.

    Parameters
    ----------
    rows
        One `DH` for each joint, from the base outwards.
    convention
        "standard" or "modified" (Craig).
    base, tool
        Poses `(4, 4)` of frame 0 in the world and of the tool in the last link; identity if not given.
    name
        Name of the robot.

    Returns
    -------
    robot : Robot

    Examples
    --------
    >>> from_dh([DH(a=1.0), DH(a=0.5)]).joint_names
    ('joint1', 'joint2')
    """
    return Robot(description_from_dh(rows, convention=convention, base=base, tool=tool, name=name))


def _is_name(source: str) -> bool:
    """Return whether `source` is a name: in the catalogue, or without folder and suffix and not an existing file."""
    if is_known(source):
        return True
    return not (set(source) & {"/", os.sep} or Path(source).suffix or Path(source).exists())


def _existing_file(source: str | os.PathLike[str]) -> Path:
    path = Path(source)
    if path.is_dir():
        raise DescriptionError("is a folder; pass the path of a file in it", file=path)
    if not path.exists():
        raise DescriptionError("does not exist; pass the path of a file, or a name from kd.robots()", file=path)
    if path.suffix.lower() == ".mjcf":
        raise DescriptionError("has the suffix .mjcf, but MuJoCo opens only .xml files; rename it", file=path)
    if path.suffix.lower() not in _SUFFIXES:
        raise DescriptionError(f"has the suffix {path.suffix!r}; supported suffixes: {', '.join(_SUFFIXES)}", file=path)
    return path


def _reject_size(source: object, height: float | None, mass: float | None) -> None:
    given = [key for key, value in (("height", height), ("mass", mass)) if value is not None]
    if given:
        raise InputError(f"{' and '.join(given)} cannot be set for the file {str(source)!r}, only for 'humanoid'")


def _read_file(
    path: Path, xacro: bool, xacro_arguments: Mapping[str, object] | None, packages: PackageDirs
) -> Description:
    if xacro:
        text = expand_xacro(path, arguments=xacro_arguments, packages=packages)
        return parse_urdf(text, file=path, packages=packages)
    if path.suffix.lower() == ".xml" and read_xml(path).tag == "mujoco":
        # Not at the top: MuJoCo is slow to import, and most robots do not need it.
        from kinodyn.description.mjcf import read_mjcf

        return read_mjcf(path)
    return read_urdf(path, packages=packages)
