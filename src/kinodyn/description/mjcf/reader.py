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

from kinodyn.description.messages import warn
from kinodyn.description.mjcf import constraints, keyframes, shapes, tree, unsupported
from kinodyn.description.mjcf.names import Names
from kinodyn.description.mjcf.poses import pose
from kinodyn.description.types import Description, Frame
from kinodyn.description.validation import validate
from kinodyn.errors import DescriptionError

_NO_NAME = "MuJoCo Model"
_LINE = re.compile(r"line(?: number)?[ =](\d+)", re.IGNORECASE)
_ELEMENT = re.compile(r"Element '(\w+)'")


def read_mjcf(source: str | os.PathLike[str]) -> Description:
    """Read an MJCF file with the files it includes and the meshes it names.

    Parameters
    ----------
    source
        Path of the file.

    Returns
    -------
    description : Description
        The world body is the root link "world"; joints are MuJoCo's, in its order, with its positions. What a
        description cannot express (springs, tendons, loop closures, ...) is omitted with a `DescriptionWarning`.
        Keyframes become configurations; "qpos0" is MuJoCo's initial one, with free bodies where the file places them.

    Raises
    ------
    DescriptionError
        If MuJoCo cannot read the file, with line and element where MuJoCo reports them.
    """
    path = Path(source)
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except OSError as cause:
        raise DescriptionError(f"cannot be opened: {cause.strerror}", file=path) from cause
    _check_root(text, path)
    return describe_mjcf(lambda: mujoco.MjSpec.from_file(str(path)), path)


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
    _check_root(text, None)
    return describe_mjcf(lambda: mujoco.MjSpec.from_string(text), None)


def _check_root(text: str, path: Path | None) -> None:
    """Reject other formats: MuJoCo would also read URDF here and ignore half of it."""
    tag = re.search(r"<([A-Za-z][\w.:-]*)", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))
    if tag is None:
        raise DescriptionError("no XML element found; MJCF begins with <mujoco>", file=path)
    if tag[1] != "mujoco":
        hint = "; this looks like URDF, read it with read_urdf" if tag[1] == "robot" else ""
        raise DescriptionError(f"the root element is <{tag[1]}>; MJCF begins with <mujoco>{hint}", file=path)


def describe_mjcf(parse: Callable[[], mujoco.MjSpec], path: Path | None) -> Description:
    """Compile what `parse` returns and convert it to a description; `path` is for messages."""
    try:
        spec = parse()
        model = spec.compile()
    except ValueError as cause:
        raise _with_location(cause, path) from cause
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


def _with_location(cause: ValueError, path: Path | None) -> DescriptionError:
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
