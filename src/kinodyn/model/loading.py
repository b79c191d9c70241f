"""The door to robots: by name, from a file, from a Denavit-Hartenberg table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from kinodyn.description.base import Base, with_base
from kinodyn.description.catalogue import describe, knows
from kinodyn.description.dh import DH, Convention, description_from_dh
from kinodyn.description.packages import PackageDirs
from kinodyn.description.srdf import read_srdf
from kinodyn.description.types import Description
from kinodyn.description.urdf import parse_urdf, read_urdf
from kinodyn.description.xacro import expand_xacro
from kinodyn.description.xmlnode import read_xml
from kinodyn.errors import DescriptionError, InputError

if TYPE_CHECKING:
    from scipy.spatial.transform import RigidTransform

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
    package_dirs: PackageDirs = (),
    srdf: str | os.PathLike[str] | None = None,
) -> Robot:
    """Load a robot by its name or from a file.

    Parameters
    ----------
    source
        A name from `robots()`, or the path of a URDF (.urdf, .xml), MJCF (.xml) or xacro (.xacro) file.
    base
        "fixed" or "floating"; what the robot is by nature unless given.
    height, mass
        Height [m] and mass [kg] of the humanoid; no other robot takes them.
    xacro
        True expands the file as xacro first, which evaluates Python expressions in it: only for files you trust.
    xacro_arguments
        Values for the `<xacro:arg>` elements of the file.
    package_dirs
        Folders in which to look for the packages of `package://` names.
    srdf
        An SRDF file with groups, end effectors and named configurations.

    Raises
    ------
    UnknownNameError
        For a name that no robot has; it offers the nearest ones.
    DescriptionError
        For a file that cannot be read as a robot, with line and element.
    InputError
        For arguments that do not go together.
    """
    from kinodyn.model.robot import Robot

    description = load_description(
        source,
        height=height,
        mass=mass,
        xacro=xacro,
        xacro_arguments=xacro_arguments,
        package_dirs=package_dirs,
        srdf=srdf,
    )
    return Robot(with_base(description, base))


def load_description(
    source: str | os.PathLike[str],
    *,
    height: float | None = None,
    mass: float | None = None,
    xacro: bool = False,
    xacro_arguments: Mapping[str, object] | None = None,
    package_dirs: PackageDirs = (),
    srdf: str | os.PathLike[str] | None = None,
) -> Description:
    """Read what `load` reads, without compiling it and before the base is chosen; arguments as there."""
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f"source is a {type(source).__name__}; give the name of a robot or the path of a file")
    if xacro_arguments and not xacro:
        raise InputError("xacro_arguments were given without xacro=True, which says that the file may be evaluated")
    if isinstance(source, str) and _is_name(source):
        if xacro:
            raise InputError(f"xacro=True is for files, but {source!r} is the name of a robot; leave it out")
        description = describe(source, height=height, mass=mass)
    else:
        _refuse_size(source, height, mass)
        description = _read_file(_existing_file(source), xacro, xacro_arguments, package_dirs)
    return description if srdf is None else read_srdf(srdf, description)


def from_dh(
    rows: Sequence[DH],
    *,
    convention: Convention = "standard",
    base: ArrayLike | RigidTransform | None = None,
    tool: ArrayLike | RigidTransform | None = None,
    name: str = "dh",
) -> Robot:
    """Make a robot from the rows of its Denavit-Hartenberg table.

    Parameters
    ----------
    rows
        One `DH` for each joint, from the base outwards.
    convention
        "standard" or "modified" (Craig).
    base, tool
        Poses `(4, 4)` of frame 0 in the world and of the tool in the last link; none unless given.
    name
        Name of the robot.
    """
    from kinodyn.model.robot import Robot

    return Robot(description_from_dh(rows, convention=convention, base=base, tool=tool, name=name))


def _is_name(source: str) -> bool:
    """Tell a name from a path: what the catalogue knows, and what has neither a folder nor the suffix of a file."""
    if knows(source):
        return True
    return not (set(source) & {"/", os.sep} or Path(source).suffix or Path(source).exists())


def _existing_file(source: str | os.PathLike[str]) -> Path:
    path = Path(source)
    if path.is_dir():
        raise DescriptionError("is a folder; give the robot's file in it", file=path)
    if not path.exists():
        raise DescriptionError("does not exist; give the path of a file, or a name from kd.robots()", file=path)
    if path.suffix.lower() == ".mjcf":
        raise DescriptionError("is MJCF, which MuJoCo opens only under the suffix .xml; rename the file", file=path)
    if path.suffix.lower() not in _SUFFIXES:
        raise DescriptionError(
            f"has the suffix {path.suffix!r}; files of robots end in {', '.join(_SUFFIXES)}", file=path
        )
    return path


def _refuse_size(source: object, height: float | None, mass: float | None) -> None:
    given = [key for key, value in (("height", height), ("mass", mass)) if value is not None]
    if given:
        raise InputError(f"{' and '.join(given)} cannot be chosen for the file {str(source)!r}, only for 'humanoid'")


def _read_file(
    path: Path, xacro: bool, xacro_arguments: Mapping[str, object] | None, package_dirs: PackageDirs
) -> Description:
    if xacro:
        text = expand_xacro(path, arguments=xacro_arguments, package_dirs=package_dirs)
        return parse_urdf(text, file=path, package_dirs=package_dirs)
    if path.suffix.lower() == ".xml" and read_xml(path).tag == "mujoco":
        # Not at the top: MuJoCo takes longer to import than all the rest, and most robots do not need it.
        from kinodyn.description.mjcf import read_mjcf

        return read_mjcf(path)
    return read_urdf(path, package_dirs=package_dirs)
