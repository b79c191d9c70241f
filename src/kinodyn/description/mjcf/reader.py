"""Read MJCF: MuJoCo parses and compiles the file, and the compiled model becomes a `Description`.

MuJoCo resolves defaults, included files, units of angle, orientation variants, automatic limits and inertia from geoms.
Numbers come from the compiled model; only line numbers and mesh references come from the spec.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.checks import as_path
from kinodyn.description.messages import warn
from kinodyn.description.mjcf import constraints, keyframes, shapes, tree, unsupported
from kinodyn.description.mjcf.guard import check_file, check_mjcf, check_root
from kinodyn.description.mjcf.names import Names
from kinodyn.description.mjcf.poses import pose
from kinodyn.description.packages import PackageDirs, package_folders
from kinodyn.description.roots import Roots
from kinodyn.description.types import Description, Frame
from kinodyn.description.validation import validate
from kinodyn.description.xml_tree import parse_xml
from kinodyn.errors import DescriptionError

# tables of MuJoCo's model that the validation of descriptions does not see
_FINITE = (
    *("body_quat", "body_iquat", "geom_pos", "geom_quat", "geom_size", "site_pos", "site_quat"),
    *("mesh_pos", "mesh_quat", "mesh_vert", "key_qpos", "hfield_size", "hfield_data"),
)
_UNIT_QUATERNIONS = ("body_quat", "body_iquat", "geom_quat", "site_quat", "mesh_quat")
_LARGEST_QUATERNION = 1e100  # squares of its numbers do not overflow
_NO_NAME = "MuJoCo Model"
_LINE = re.compile(r"line(?: number)?[ =](\d+)", re.IGNORECASE)
_ELEMENT = re.compile(r"Element '(\w+)'")


@check_types
def read_mjcf(
    source: str | os.PathLike[str], *, packages: PackageDirs = (), allow_outside: bool = False
) -> Description:
    """Read an MJCF file with the files it includes and the meshes it names.

    Parameters
    ----------
    source
        Path of the file.
    packages
        Further folders from which it may read.
    allow_outside
        Whether it may read any file: by default only those in its own folder, its package, folders such as `meshes` and
        `assets` in the three folders above, and `packages`.

    Returns
    -------
    description : Description
        The world body is the root link "world"; joints are MuJoCo's, in its order, with its positions. What a
        description cannot express (springs, tendons, loop closures, ...) is omitted with a `DescriptionWarning`.
        Keyframes become configurations; "qpos0" is MuJoCo's initial one, with free bodies where the file places them.

    Raises
    ------
    DescriptionError
        If MuJoCo cannot read the file, with line and element where MuJoCo reports them; if it would make too much.
    """
    path = as_path("source", source)
    check_file(path, Roots(path, package_folders(packages), allow_outside=allow_outside))
    return describe_mjcf(lambda: mujoco.MjSpec.from_file(str(path)), path)


@check_types
def parse_mjcf(text: str) -> Description:
    """Read MJCF from text.

    Parameters
    ----------
    text
        The XML document; see `read_mjcf`.

    Returns
    -------
    description : Description

    Examples
    --------
    >>> text = "<mujoco><worldbody><body><joint name='elbow'/><geom size='0.1'/></body></worldbody></mujoco>"
    >>> [(joint.name, joint.kind) for joint in parse_mjcf(text).joints]
    [('elbow', 'continuous')]
    """
    check_root(root := parse_xml(text), None)
    check_mjcf(root, Path.cwd(), Roots(Path.cwd() / "model.xml"))
    return describe_mjcf(lambda: mujoco.MjSpec.from_string(text), None)


def describe_mjcf(parse: Callable[[], mujoco.MjSpec], path: Path | None) -> Description:
    """Compile what `parse` returns and convert it to a description; `path` is for messages."""
    try:
        spec = parse()
        model = spec.compile()
    except (ValueError, TypeError, RuntimeError, MemoryError, mujoco.FatalError) as cause:
        raise _with_location(cause, path) from cause
    _check_finite(spec, model, path)
    names = Names(model)
    mimics, unsupported_equalities = constraints.linear_equalities(model, names)
    links, joints = tree.links_and_joints(spec, model, names, mimics)
    for what in (
        *unsupported_equalities,
        *shapes.unsupported_geoms(spec, model),
        *unsupported.features(model, names),
    ):
        warn(what, path)
    description = Description(
        name=path.stem if path and spec.modelname == _NO_NAME else spec.modelname,
        links=links,
        joints=joints,
        frames=_sites(model, names),
        configurations=keyframes.configurations(model, names, followers=mimics.keys()),
        gravity=_gravity(model),
        base=tree.base_kind(joints),
        source=path,
    )
    validate(description)
    return description


def _with_location(cause: Exception, path: Path | None) -> DescriptionError:
    """Wrap MuJoCo's message, with line and element where it reports them."""
    text = " ".join(str(cause).split())
    line, element = _LINE.search(text), _ELEMENT.search(text)
    return DescriptionError(
        f"MuJoCo cannot read the file: {text}",
        file=path,
        # MuJoCo reports line 0 for elements of included files.
        line=int(line[1]) or None if line else None,
        element=element[1] if element else None,
    )


def _check_finite(spec: mujoco.MjSpec, model: mujoco.MjModel, path: Path | None) -> None:
    """Raise if a number of the compiled model is NaN or infinite: MuJoCo accepts quat="inf 0 0 0"."""
    for name in _FINITE:
        numbers = getattr(model, name)
        if not np.isfinite(numbers).all():
            row = int(np.argwhere(~np.isfinite(numbers))[0][0])
            raise DescriptionError(f"{name}[{row}] of MuJoCo's model must be finite, got {numbers[row]}", file=path)
    for name in _UNIT_QUATERNIONS:  # MuJoCo normalises quat="1e300 1e300 0 0" to zeros: its norm overflows
        zero = ~np.any(getattr(model, name), axis=1)
        if zero.any():
            raise DescriptionError(f"{name}[{int(zero.argmax())}] of MuJoCo's model must not be 0", file=path)
    for mesh in spec.meshes:
        _check_mesh_pose(mesh, path)


def _check_mesh_pose(mesh: mujoco.MjsMesh, path: Path | None) -> None:
    sizes = np.abs(mesh.refquat)
    if not np.isfinite([*mesh.refpos, *mesh.scale]).all() or not 0.0 < sizes.max() <= _LARGEST_QUATERNION:
        raise DescriptionError(f"refpos, refquat and scale of mesh {mesh.name!r} must be finite", file=path)


def _sites(model: mujoco.MjModel, names: Names) -> tuple[Frame, ...]:
    return tuple(
        Frame(names.sites[i], names.bodies[model.site_bodyid[i]], pose(model.site_pos[i], model.site_quat[i]))
        for i in range(model.nsite)
    )


def _gravity(model: mujoco.MjModel) -> tuple[float, float, float]:
    if model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY:
        return (0.0, 0.0, 0.0)
    x, y, z = (float(g) for g in model.opt.gravity)
    return (x, y, z)
