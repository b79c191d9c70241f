"""Read an SDF file or text: one model of it becomes a `Description`."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.description.messages import listed
from kinodyn.description.packages import PackageDirs, PackageFinder
from kinodyn.description.sdf import values
from kinodyn.description.sdf.includes import Includer, Model
from kinodyn.description.sdf.joints import JointReader
from kinodyn.description.sdf.links import LinkReader
from kinodyn.description.sdf.scopes import MODEL, WORLD, Scope
from kinodyn.description.types import Description, Frame, Joint, Link
from kinodyn.description.validation import validate
from kinodyn.description.xml_tree import Node, parse_xml, read_xml
from kinodyn.description.zero_limits import without_zero_limits_of_file
from kinodyn.spatial.poses import inverse_pose

GRAVITY = (0.0, 0.0, -9.81)


@check_types
def read_sdf(
    source: str | os.PathLike[str],
    *,
    model: str | None = None,
    packages: PackageDirs = (),
    allow_outside: bool = False,
) -> Description:
    """Read a robot from an SDF file.

    Parameters
    ----------
    source
        Path of the file.
    model
        Name of the model, where the file has several. By default the only one, or the only one that moves.
    packages
        Folders of the models of `model://` URIs and includes; the folders above the file are searched as well.
    allow_outside
        Whether meshes and models outside of the folders of the file are read, as for `read_urdf`.

    Returns
    -------
    description : Description
        Names of nested models are part of names: "arm::elbow". A model that no joint connects to the world, and that is
        not static, has a floating base; its pose in the file is where it would start, and is ignored.

    Raises
    ------
    DescriptionError
        If the file cannot be read or is not a valid robot, with file, line and element.
    """
    path = Path(source)
    return _describe(read_xml(path), path, model, PackageFinder(path, packages, allow_outside=allow_outside))


@check_types
def parse_sdf(
    text: str | bytes,
    *,
    model: str | None = None,
    file: str | os.PathLike[str] | None = None,
    packages: PackageDirs = (),
) -> Description:
    """Read a robot from the text of an SDF document.

    Parameters
    ----------
    text
        The XML document.
    model
        As for `read_sdf`.
    file
        The file that the text came from, if any: for messages, relative names and the search for models.
    packages
        As for `read_sdf`.

    Returns
    -------
    description : Description

    Examples
    --------
    >>> from kinodyn.description.sdf import parse_sdf
    >>> link = '<link name="base"><inertial/></link>'
    >>> parse_sdf(f'<sdf version="1.7"><model name="one">{link}</model></sdf>').base
    'floating'
    """
    path = None if file is None else Path(file)
    return _describe(parse_xml(text, path), path, model, PackageFinder(path, packages))


def _describe(sdf: Node, file: Path | None, chosen: str | None, finder: PackageFinder) -> Description:
    if sdf.tag != "sdf":
        raise sdf.error(f"the root element is <{sdf.tag}>; an SDF file has <sdf>")
    includer, version = Includer(finder), values.version(sdf)
    world = sdf.child(WORLD)
    found = _choose(sdf if world is None else world, includer.models(world or sdf, version), chosen)
    scope = Scope(found, includer)
    scope.place_nested()
    T_world_model = _world_pose(found, scope, world)
    links, joints = LinkReader(finder), JointReader(T_world_model)
    parts = [_parts(each, links, joints) for each in scope.all()]
    description = Description(
        name=found.name,
        links=tuple(link for part, _ in parts for link in part),
        joints=tuple(joint for _, part in parts for joint in part),
        frames=tuple(frame for each in scope.all() for frame in _frames(each, scope)),
        gravity=_gravity(world),
        base="fixed" if found.static or joints.reaches_world else "floating",
        source=file,
    )
    description = _standing(description, T_world_model, scope, joints.reaches_world)
    validate(description)
    links.warn_questionable(file)
    joints.warn_questionable(scope)
    return without_zero_limits_of_file(description)


def _choose(node: Node, models: list[Model], chosen: str | None) -> Model:
    """Return the model of this name; without one the only one, or the only one that moves."""
    names = [model.name for model in models]
    if chosen is not None:
        for model in models:
            if model.name == chosen:
                return model
        raise node.error(f"model must be one of {listed(names, 12)}, got {chosen!r:.60}")
    moving = models if len(models) < 2 else [each for each in models if not each.static and _has_joints(each)]
    if len(moving) != 1:
        raise node.error(f"must have one robot, or name it by model=..., got the models {listed(names, 12) or 'none'}")
    return moving[0]


def _has_joints(model: Model) -> bool:
    return any(child.tag in ("joint", "model", "include") for child in model.node.children)


def _parts(scope: Scope, links: LinkReader, joints: JointReader) -> tuple[list[Link], list[Joint]]:
    """Read the links and joints directly in a model; links in between follow their joint."""
    found: tuple[list[Link], list[Joint]] = ([], [])
    for node in scope.model.node.children:
        if node.tag == "link":
            found[0].append(links.read(node, scope))
        elif node.tag == "joint":
            chain, between = joints.read(node, scope)
            found[1].extend(chain)
            found[0].extend(between)
        elif node.tag == "gripper":
            raise node.error("<gripper> is not supported; remove it")
    return found


def _frames(scope: Scope, top: Scope) -> list[Frame]:
    found = []
    for name, entry in scope.entries.items():
        if entry.kind == "frame":
            link = scope.link(name, entry.node)
            T_top_link = top.top_pose(link, entry.node)
            T = inverse_pose(T_top_link) @ scope.top_pose(name, entry.node)
            found.append(Frame(f"{scope.prefix}{name}", link, T))
    return found


def _world_pose(model: Model, scope: Scope, world: Node | None) -> Array:
    """Return the pose of the model frame in the world."""
    T = np.eye(4)
    if model.pose.relative_to not in ("", WORLD):
        frames = {node.word("name"): values.pose(node) for node in (world.all("frame") if world is not None else ())}
        name, seen = model.pose.relative_to, set[str]()
        while name not in ("", WORLD):
            if name not in frames or name in seen:
                raise model.node.error(f"relative_to must be a frame of the world without cycles, got {name!r:.60}")
            seen.add(name)
            T, name = frames[name].T @ T, frames[name].relative_to
    placed = T @ model.pose.T
    return np.asarray(placed @ inverse_pose(scope.pose(model.placement or MODEL, model.node)))


def _standing(description: Description, T_world_model: Array, scope: Scope, reaches_world: bool) -> Description:
    """Add the link "world" where a joint leads to it, or where a static model is not at the origin."""
    with_world = (Link(WORLD), *description.links)
    if reaches_world:
        return replace(description, links=with_world)
    children = {joint.child for joint in description.joints}
    roots = [link.name for link in description.links if link.name not in children]
    if description.base == "floating" or len(roots) != 1:
        return description
    T_world_root = T_world_model @ scope.top_pose(roots[0], scope.model.node)
    if np.array_equal(T_world_root, np.eye(4)):
        return description
    standing = Joint("world_joint", "fixed", WORLD, roots[0], T_world_root)
    return replace(description, links=with_world, joints=(standing, *description.joints))


def _gravity(world: Node | None) -> tuple[float, float, float]:
    if world is None:
        return GRAVITY
    x, y, z = values.vector(world, "gravity", 3, GRAVITY)
    return x, y, z
