"""Load robots by name, from a file, or from a Denavit-Hartenberg table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from kinodyn.argument_types import check_types
from kinodyn.arrays import MatrixLike
from kinodyn.description.base import Base
from kinodyn.description.catalogue import describe, is_known
from kinodyn.description.dh import DH, Convention, description_from_dh
from kinodyn.description.messages import one_warning
from kinodyn.description.packages import PackageDirs
from kinodyn.description.sdf import read_sdf
from kinodyn.description.srdf import read_srdf
from kinodyn.description.types import Description
from kinodyn.description.urdf import parse_urdf, read_urdf
from kinodyn.description.xacro import expand_xacro
from kinodyn.description.xml_tree import read_xml
from kinodyn.errors import DescriptionError, InputError
from kinodyn.garbage import collection_paused
from kinodyn.model.robot import Robot

SDF_SUFFIXES = (".sdf", ".world")
_SUFFIXES = (".urdf", ".xml", ".xacro", *SDF_SUFFIXES)


@check_types
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
    allow_outside: bool = False,
    model: str | None = None,
) -> Robot:
    """Load a robot by its name or from a file.

    Parameters
    ----------
    source
        A name from `robots()`, or the path of a URDF (.urdf, .xml), MJCF (.xml), SDF (.sdf, .world) or xacro (.xacro)
        file.
    base
        "fixed" or "floating"; by default that of the description.
    height, mass
        Height [m] and mass [kg] of the humanoid; no other robot accepts them.
    xacro
        True expands the file as xacro first, which evaluates Python expressions in it: only for files you trust.
    xacro_arguments
        Values for the `<xacro:arg>` elements of the file.
    packages
        Folder or folders for `package://` URIs; each is a package or contains packages.
    srdf
        An SRDF file with groups, end effectors and named configurations.
    allow_outside
        True also reads meshes, textures and included files outside of the folders of the robot, which are: the folder
        of the file, its package (found by `package.xml` or `model.config`), folders such as `meshes`, `assets` and
        `textures` below the three folders above the file, and `packages`. Only for files you trust. Expanded xacro
        files are not restricted.
    model
        Name of the model, for SDF files with several.

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
    with collection_paused(), one_warning(source):
        description = load_description(
            source,
            height=height,
            mass=mass,
            xacro=xacro,
            xacro_arguments=xacro_arguments,
            packages=packages,
            srdf=srdf,
            allow_outside=allow_outside,
            model=model,
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
    allow_outside: bool = False,
    model: str | None = None,
) -> Description:
    """Read the description that `load` compiles, before the base is chosen.

    Parameters
    ----------
    source, height, mass, xacro, xacro_arguments, packages, srdf, allow_outside, model
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
        _reject_model(source, model)
        description = describe(source, height=height, mass=mass)
    else:
        _reject_size(source, height, mass)
        path = _existing_file(source)
        if path.suffix.lower() in SDF_SUFFIXES:
            description = read_sdf(path, model=model, packages=packages, allow_outside=allow_outside)
        else:
            _reject_model(source, model)
            description = _read_file(path, xacro, xacro_arguments, packages, allow_outside)
    return description if srdf is None else read_srdf(srdf, description)


@check_types
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
    return not (set(source) & {"/", os.sep} or Path(source).suffix or _exists(Path(source)))


def _exists(path: Path) -> bool:
    """Return whether a path exists; one that no system accepts, too long or with a null byte, does not."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _existing_file(source: str | os.PathLike[str]) -> Path:
    path = Path(source)
    if _exists(path) and path.is_dir():
        raise DescriptionError("is a folder; pass the path of a file in it", file=path)
    if not _exists(path):
        raise DescriptionError("does not exist; pass the path of a file, or a name from kd.robots()", file=path)
    if path.suffix.lower() == ".mjcf":
        raise DescriptionError("has the suffix .mjcf, but MuJoCo opens only .xml files; rename it", file=path)
    if path.suffix.lower() not in _SUFFIXES:
        raise DescriptionError(f"has the suffix {path.suffix!r}; supported suffixes: {', '.join(_SUFFIXES)}", file=path)
    return path


def _reject_model(source: object, model: str | None) -> None:
    if model is not None:
        raise InputError(f"model names a model of an SDF file, and {str(source)!r} is none; remove it")


def _reject_size(source: object, height: float | None, mass: float | None) -> None:
    given = [key for key, value in (("height", height), ("mass", mass)) if value is not None]
    if given:
        raise InputError(f"{' and '.join(given)} cannot be set for the file {str(source)!r}, only for 'humanoid'")


def _read_file(
    path: Path, xacro: bool, xacro_arguments: Mapping[str, object] | None, packages: PackageDirs, allow_outside: bool
) -> Description:
    if xacro:
        text = expand_xacro(path, arguments=xacro_arguments, packages=packages)
        # the file was trusted to run expressions, and $(find package) makes paths that start at the root
        return parse_urdf(text, file=path, packages=packages, allow_outside=True)
    if path.suffix.lower() == ".xml" and read_xml(path).tag == "mujoco":
        # Not at the top: MuJoCo is slow to import, and most robots do not need it.
        from kinodyn.description.mjcf import read_mjcf

        return read_mjcf(path, packages=packages, allow_outside=allow_outside)
    return read_urdf(path, packages=packages, allow_outside=allow_outside)
