"""Read MJCF: MuJoCo parses and compiles the file, and what the compiled model says becomes a `Description`.

Defaults, included files, units of angle, orientation variants, automatic limits and inertia from geoms are resolved by
MuJoCo. What is numeric is read from the compiled model; only file lines and mesh references come from the spec.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import mujoco

from kinodyn.description.mjcf import constraints, keyframes, leftovers, shapes, tree
from kinodyn.description.mjcf.names import Names
from kinodyn.description.mjcf.poses import pose
from kinodyn.description.notices import warn
from kinodyn.description.types import Description, Frame
from kinodyn.description.validate import validate
from kinodyn.errors import DescriptionError

_NO_NAME = "MuJoCo Model"
_LINE = re.compile(r"line(?: number)?[ =](\d+)", re.IGNORECASE)
_ELEMENT = re.compile(r"Element '(\w+)'")


def read_mjcf(source: str | os.PathLike[str]) -> Description:
    """Read the MJCF file `source` with the files it includes and the meshes it names.

    The world body becomes the root link "world"; the joints are MuJoCo's, in its order, and a one-coordinate joint has
    MuJoCo's position as its own. What a `Description` cannot hold (springs, tendons, loop closures, ...) is left out
    with a `DescriptionWarning` that says so. Keyframes become configurations; MuJoCo's initial configuration, in which
    free bodies stand where the file puts them, is the one called "qpos0".
    """
    path = Path(source)
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except OSError as cause:
        raise DescriptionError(f"cannot open the file: {cause.strerror}", file=path) from cause
    _check_root(text, path)
    return _describe(lambda: mujoco.MjSpec.from_file(str(path)), path)


def parse_mjcf(text: str) -> Description:
    """Read MJCF from the string `text`; see `read_mjcf`.

    Example
    -------
    >>> text = "<mujoco><worldbody><body><joint name='elbow'/><geom size='0.1'/></body></worldbody></mujoco>"
    >>> [(joint.name, joint.kind) for joint in parse_mjcf(text).joints]
    [('elbow', 'continuous')]
    """
    _check_root(text, None)
    return _describe(lambda: mujoco.MjSpec.from_string(text), None)


def _check_root(text: str, path: Path | None) -> None:
    """Refuse another dialect, because MuJoCo would read URDF here too and drop half of it."""
    tag = re.search(r"<([A-Za-z][\w.:-]*)", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))
    if tag is None:
        raise DescriptionError("no XML element found; MJCF begins with <mujoco>", file=path)
    if tag[1] != "mujoco":
        hint = "; this looks like URDF, read it as such" if tag[1] == "robot" else ""
        raise DescriptionError(f"the root element is <{tag[1]}>, MJCF begins with <mujoco>{hint}", file=path)


def _describe(parse: Callable[[], mujoco.MjSpec], path: Path | None) -> Description:
    try:
        spec = parse()
        model = spec.compile()
    except ValueError as cause:
        raise _located(cause, path) from cause
    names = Names(model)
    mimics, unused_equalities = constraints.linear_equalities(model, names)
    links, joints = tree.links_and_joints(spec, model, names, mimics)
    for what in (*unused_equalities, *shapes.left_out(spec, model), *leftovers.left_out(model, names)):
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


def _located(cause: ValueError, path: Path | None) -> DescriptionError:
    """Turn MuJoCo's message into ours, with the line and the element where it tells them."""
    text = " ".join(str(cause).split())
    line, element = _LINE.search(text), _ELEMENT.search(text)
    return DescriptionError(
        f"MuJoCo cannot read this: {text}",
        file=path,
        # MuJoCo says line 0 for what stands in an included file.
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
