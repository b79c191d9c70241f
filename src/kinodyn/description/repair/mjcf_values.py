"""Repairs of single MJCF elements: numbers, ranges, axes, names, references and files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kinodyn.description import solids
from kinodyn.description.free_name import free_name
from kinodyn.description.repair.findings import Findings, Level
from kinodyn.description.repair.inertias import nearest_consistent, why_inconsistent
from kinodyn.description.repair.meshes import MeshSearch, relative
from kinodyn.description.repair.numbers import are_accepted, rewritten_numbers, written
from kinodyn.description.repair.urdf_joints import UNIT, mirrored
from kinodyn.description.repair.urdf_tree import nearest
from kinodyn.description.types import MAX_NUMBER
from kinodyn.description.xml_tree import Node

# attribute -> how many numbers it has, 0 if that depends
RANGES = ("range", "ctrlrange", "forcerange", "actuatorfrcrange")
NONNEGATIVE = ("damping", "armature", "frictionloss", "mass", "density", "stiffness")
NUMERIC = (
    dict.fromkeys((*NONNEGATIVE, "springref", "ref", "margin", "gap", "timestep", "kp", "kv"), 1)
    | dict.fromkeys(RANGES, 2)
    | dict.fromkeys(("pos", "euler", "zaxis", "axis", "diaginertia", "scale", "refpos", "gravity"), 3)
    | dict.fromkeys(("quat", "axisangle", "refquat", "rgba"), 4)
    | dict.fromkeys(("xyaxes", "fromto", "fullinertia"), 6)
    | dict.fromkeys(("size", "gear", "friction", "polycoef"), 0)
)
MESHES = (".stl", ".obj", ".msh")
IMAGES = (".png", ".ktx", ".hdr")
# Sections whose elements share one list of names for each section; those of the tree have one for each kind.
SECTIONS = ("actuator", "sensor", "tendon", "equality")
KINDS = ("body", "joint", "geom", "site", "camera", "light")
ASSETS = ("mesh", "texture", "material", "hfield")
# section -> attribute -> kind of what it names
REFERENCES = {
    "actuator": {"joint": "joint", "jointinparent": "joint", "tendon": "tendon", "site": "site", "body": "body"},
    "equality": {
        "joint1": "joint",
        "joint2": "joint",
        "body1": "body",
        "body2": "body",
        "site1": "site",
        "site2": "site",
    },
    "contact": {"body1": "body", "body2": "body", "geom1": "geom", "geom2": "geom"},
    "worldbody": {"mesh": "mesh", "hfield": "hfield", "material": "material"},
    "sensor": {"joint": "joint", "site": "site", "actuator": "actuator", "tendon": "tendon", "body": "body"},
}


def nodes(root: Node) -> Iterator[tuple[Node, str]]:
    """Iterate over the elements of an MJCF document with the section of each, in document order."""
    for section in tuple(root.children):
        yield from ((node, section.tag) for node in section.walk())


def repair_values(findings: Findings) -> None:
    """Repair numbers, ranges, axes and inertias, in the elements themselves and in defaults."""
    for node, section in list(nodes(findings.document.root)):
        if node.tag != "flag":  # its attributes are words, also that of friction loss
            _repair_numbers(findings, node)
        if node.tag == "joint" and section in ("worldbody", "default"):
            _repair_axis(findings, node)
        if node.tag == "inertial":
            _repair_inertial(findings, node)


def _kind(node: Node, section: str) -> str | None:
    """Return the list of names that an element belongs to, None if it has no name of its own."""
    if section == "worldbody":
        kind = "joint" if node.tag == "freejoint" else node.tag
        return kind if kind in KINDS else None
    if section == "asset":
        return node.tag if node.tag in ASSETS else None
    return section if section in SECTIONS and node.parent is not None and node.parent.tag == section else None


def repair_names(findings: Findings) -> None:
    """Number names that are used twice, and correct or remove what refers to names that do not exist."""
    root = findings.document.root
    first: dict[str, dict[str, Node]] = {}
    elements = list(nodes(root))
    # Such elements bring names that are not in this file.
    other_files = any(node.tag in ("include", "attach", "replicate", "composite", "flexcomp") for node, _ in elements)
    every = {node.attributes["name"] for node, _ in elements if "name" in node.attributes}
    for node, section in elements:
        kind, name = _kind(node, section), node.attributes.get("name")
        if kind is None:
            continue
        if kind == "mesh" and name is None and "file" in node.attributes:
            name = Path(node.attributes["file"]).stem
        earlier = first.setdefault(kind, {}).setdefault(name, node) if name else node
        if name is not None and earlier is not node:
            lost = [] if other_files else _lost_names(elements, kind)
            new = lost[0] if len(lost) == 1 else free_name(name, every)
            every.add(new)
            message = f"repeated name {name!r} in {kind} (first on line {earlier.line}); names must be unique"
            reason = "which is named but missing" if lost == [new] else f"what names {name!r} means the first"
            findings.set("error", node, message, f'name="{new}"; {reason}', name=new)
            first[kind][new] = node
    if other_files:
        return
    for node, section in elements:
        _repair_references(findings, node, section, first)


def _lost_names(elements: list[tuple[Node, str]], kind: str) -> list[str]:
    """Return the names of a kind that something refers to and nothing has."""
    named = {node.attributes.get("name") for node, section in elements if _kind(node, section) == kind}
    used = [
        node.attributes[attribute]
        for node, section in elements
        for attribute, other in REFERENCES.get(section, {}).items()
        if other == kind and attribute in node.attributes and (section != "worldbody" or node.tag == "geom")
    ]
    return [name for name in dict.fromkeys(used) if name not in named and name != "world"]


def _repair_references(findings: Findings, node: Node, section: str, names: dict[str, dict[str, Node]]) -> None:
    for attribute, kind in REFERENCES.get(section, {}).items():
        name = node.attributes.get(attribute)
        if name is None or (section == "worldbody" and node.tag != "geom"):
            continue
        known = names.get(kind, {})
        if name in known or (kind == "body" and name == "world"):
            continue
        meant = nearest(name, known)
        message = f"{attribute}={name!r} does not exist: no {kind} has this name"
        if meant is not None:
            findings.set("error", node, message, f'{attribute}="{meant}"', **{attribute: meant})
        elif attribute == "material":
            findings.set("error", node, message, "attribute removed", material=None)
        else:
            findings.remove("error", node, message, f"<{node.tag}> removed")
            return


def _repair_numbers(findings: Findings, node: Node) -> None:
    for attribute in [name for name in node.attributes if name in NUMERIC]:
        text = node.attributes[attribute]
        values = _numbers(text)
        if values is None or not are_accepted(values):
            rewritten = rewritten_numbers(text, NUMERIC[attribute] or len(text.split()))
            message = f"{attribute}={text!r} is not a list of numbers up to {MAX_NUMBER:g}"
            if rewritten is not None:
                findings.set("error", node, message, f'{attribute}="{rewritten}"', **{attribute: rewritten})
            elif (node.tag, attribute) == ("inertial", "pos"):
                findings.set("error", node, message, 'pos="0 0 0"', pos="0 0 0")
            else:
                findings.set("error", node, message, f"{attribute} removed: its default applies", **{attribute: None})
            continue
        if attribute in RANGES and len(values) == 2 and values[0] > values[1]:
            swapped = " ".join(reversed(text.split()))
            message = f"{attribute}={text!r}: the lower limit is above the upper limit"
            findings.set("error", node, message, f'{attribute}="{swapped}", swapped', **{attribute: swapped})
        if (attribute in NONNEGATIVE or (attribute == "size" and node.tag == "geom")) and min(values) < 0.0:
            if node.tag == "general" or (
                attribute == "size" and values[0] < 0.0 and node.attributes.get("type") == "mesh"
            ):
                continue
            positive = " ".join(part.lstrip("-") for part in text.split())
            message = f"{attribute}={text!r} is negative; it must be at least 0"
            findings.set("error", node, message, f'{attribute}="{positive}", without the sign', **{attribute: positive})
        if attribute == "quat" and not any(values):
            findings.set("error", node, "zero quaternion is not allowed", "quat removed: no rotation", quat=None)


def _numbers(text: str) -> tuple[float, ...] | None:
    try:
        return tuple(map(float, text.split())) or None
    except ValueError:
        return None


def _repair_axis(findings: Findings, joint: Node) -> None:
    text = joint.attributes.get("axis")
    axis = None if text is None else _numbers(text)
    if axis is None or len(axis) != 3 or joint.attributes.get("type") in ("ball", "free"):
        return
    length = math.hypot(*axis)
    if length > 0.0 and abs(length - 1.0) > UNIT:
        unit = written(*(part / length for part in axis))
        message = f"axis={text!r} has length {length:.6g}; a unit vector is expected"
        findings.set("note", joint, message, f'axis="{unit}", the same direction', axis=unit)
    if length > 0.0:
        return
    others = {
        node.attributes["name"]: node
        for node, section in nodes(findings.document.root)
        if node.tag == "joint" and section == "worldbody" and "name" in node.attributes
    }
    twin = mirrored(joint.attributes.get("name", ""), others)
    other = None if twin is None else _numbers(twin.attributes.get("axis", ""))
    message = f"axis={text!r} is zero; a joint needs a nonzero axis"
    if twin is not None and other is not None and math.hypot(*other) > 0.0:
        value = twin.attributes["axis"]
        findings.set("error", joint, message, f'axis="{value}", as joint {twin.attributes["name"]!r} has', axis=value)
    else:
        findings.set("error", joint, message, "axis removed: the default applies, check it", axis=None)


def _repair_inertial(findings: Findings, node: Node) -> None:
    """Make moments possible; an inertial without mass or moments is removed, so that the geoms count."""
    if "pos" not in node.attributes:
        findings.set("error", node, "required attribute missing: 'pos'", 'pos="0 0 0"', pos="0 0 0")
    mass = _numbers(node.attributes.get("mass", ""))
    full = _numbers(node.attributes.get("fullinertia", ""))
    diagonal = _numbers(node.attributes.get("diaginertia", ""))
    if mass is None or not mass[0] > 0.0 or (full is None and diagonal is None):
        message = "has no mass" if mass is None or not mass[0] > 0.0 else "has no moments of inertia"
        findings.remove("error", node, message, "<inertial> removed: the geoms of the body count")
        return
    if full is not None and len(full) == 6:
        matrix, attribute = solids.symmetric(*full), "fullinertia"
    elif diagonal is not None and len(diagonal) == 3:
        matrix, attribute = np.diag(diagonal), "diaginertia"
    else:
        return
    found = why_inconsistent(matrix)
    if found is None:
        return
    nearest_matrix = nearest_consistent(matrix)
    entries = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)][: 6 if attribute == "fullinertia" else 3]
    text = written(*(float(nearest_matrix[entry]) for entry in entries))
    level: Level = "error"  # MuJoCo has no tolerance
    findings.set(level, node, found[1], f'{attribute}="{text}", the nearest possible inertia', **{attribute: text})


def repair_files(findings: Findings, file: Path, destination: Path) -> None:
    """Correct names of files that are not found; if the file moves to another folder, its paths follow."""
    root = findings.document.root
    search = MeshSearch(file)
    folder = Path(os.path.abspath(file)).parent
    target = Path(os.path.abspath(destination)).parent
    compiler = next(root.all("compiler"), None)
    for node, section in list(nodes(root)):
        name = node.attributes.get("file")
        if name is None or (section not in ("asset", "include") and node.tag != "include"):
            continue
        below = "" if node.tag == "include" else _folder(compiler, node.tag)
        if not (folder / below / name).is_file():
            _repair_file(findings, node, search, folder / below)
        if target != folder and node.tag == "include":
            new = relative(folder / node.attributes["file"], target)
            findings.set("note", node, "the path starts at another folder", f'file="{new}"', file=new)
    if target != folder and any(section == "asset" and "file" in node.attributes for node, section in nodes(root)):
        _move_folders(findings, compiler, folder, target)


def _folder(compiler: Node | None, tag: str) -> str:
    """Return the folder of the meshes or textures, relative to the file."""
    attributes = {} if compiler is None else compiler.attributes
    own = "texturedir" if tag in ("texture", "skin") else "meshdir"
    return attributes.get(own, attributes.get("assetdir", ""))


def _repair_file(findings: Findings, node: Node, search: MeshSearch, folder: Path) -> None:
    name = node.attributes["file"]
    suffixes = MESHES if node.tag == "mesh" else IMAGES if node.tag in ("texture", "hfield") else (".xml",)
    found = search.find(name, suffixes=suffixes)
    message = f"Error opening file {name!r}: it is not found"
    if found is None:
        findings.add("error", node, message)
        return
    new = relative(found, folder)
    findings.set("error", node, message, f'file="{new}", where a file of that name is', file=new)
    if node.tag == "mesh" and "name" not in node.attributes and Path(new).stem != Path(name).stem:
        findings.document.set(node, "name", Path(name).stem)


def _move_folders(findings: Findings, compiler: Node | None, folder: Path, target: Path) -> None:
    root = findings.document.root
    message = "paths of meshes and textures start at another folder"
    node = compiler
    if node is None:
        new = relative(folder, target)
        findings.add("note", root, message, f'<compiler assetdir="{new}"/>')
        findings.document.add(root, "compiler", {"assetdir": new})
        return
    keys = [key for key in ("assetdir", "meshdir", "texturedir") if key in node.attributes] or ["assetdir"]
    values = {key: relative(folder / node.attributes.get(key, ""), target) for key in keys}
    if "assetdir" not in values:
        values |= {key: relative(folder, target) for key in ("meshdir", "texturedir") if key not in values}
    text = " ".join(f'{key}="{value}"' for key, value in values.items())
    findings.set("note", node, message, text, **values)
