"""Repairs of single URDF elements: what is repeated or missing, and numbers that are not numbers."""

from __future__ import annotations

from collections.abc import Iterator

from kinodyn.description.repair.findings import Findings, Level
from kinodyn.description.repair.numbers import parsed, rewritten_numbers
from kinodyn.description.types import MAX_NUMBER
from kinodyn.description.xml_tree import Node

UNIQUE_ELEMENTS = {
    "link": ("inertial",),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("origin", "geometry", "material"),
    "collision": ("origin", "geometry"),
    "material": ("color",),
}
SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh")

# attribute -> how many numbers, and what replaces those that cannot be parsed: None removes the attribute, for
# which another rule or the reader has a value.
NUMERIC_ATTRIBUTES: dict[str, dict[str, tuple[int, str | None]]] = {
    "origin": {"xyz": (3, "0 0 0"), "rpy": (3, "0 0 0")},
    "mass": {"value": (1, None)},
    "inertia": dict.fromkeys(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), (1, None)),
    "axis": {"xyz": (3, None)},
    "limit": dict.fromkeys(("lower", "upper", "velocity", "effort"), (1, None)),
    "dynamics": {"damping": (1, "0"), "friction": (1, "0")},
    "mimic": {"multiplier": (1, "1"), "offset": (1, "0")},
    "box": {"size": (3, None)},
    "sphere": {"radius": (1, None)},
    "cylinder": {"radius": (1, None), "length": (1, None)},
    "capsule": {"radius": (1, None), "length": (1, None)},
    "mesh": {"scale": (3, "1 1 1")},
    "color": {"rgba": (4, "0.5 0.5 0.5 1")},
}
NONNEGATIVE = {
    "limit": ("velocity", "effort"),
    "dynamics": ("damping", "friction"),
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mass": ("value",),
}


def repair_values(findings: Findings) -> None:
    """Repair names of the robot, repeated elements, numbers and shapes."""
    root = findings.document.root
    if not root.attributes.get("name", "").strip():
        name = root.file.stem if root.file else "robot"
        findings.set("error", root, "has no attribute 'name'; add it", f'name="{name}", after the file', name=name)
    for node in list(_elements(root)):
        _remove_repeated(findings, node)
    for node in list(_elements(root)):
        _repair_numbers(findings, node)
        _repair_signs(findings, node)
    for link in list(root.all("link")):
        for shape in [child for child in link.children if child.tag in ("visual", "collision")]:
            _repair_shape(findings, shape)


def _elements(root: Node) -> Iterator[Node]:
    """Iterate over the elements that a reader of URDF knows."""
    for child in tuple(root.children):
        if child.tag in ("link", "joint", "material"):
            yield from child.walk()


def _remove_repeated(findings: Findings, node: Node) -> None:
    for tag in UNIQUE_ELEMENTS.get(node.tag, ()):
        if tag == "axis" and node.attributes.get("type") in ("fixed", "floating"):
            continue  # readers ignore it there
        first, *others = list(node.all(tag)) or [node]
        for other in others:
            message = f"<{tag}> is repeated (first on line {first.line}); keep one"
            findings.remove("error", other, message, "removed: the first one counts")


def _repair_numbers(findings: Findings, node: Node) -> None:
    for attribute, (count, default) in NUMERIC_ATTRIBUTES.get(node.tag, {}).items():
        text = node.attributes.get(attribute)
        finite = node.tag != "limit"
        if text is None or parsed(text, count, finite=finite) is not None:
            continue
        what = "a number" if count == 1 else f"{count} numbers"
        message = f"{attribute}={text!r} is not {what}{f' up to {MAX_NUMBER:g}' if finite else ''}"
        rewritten = rewritten_numbers(text, count, finite=finite)
        if rewritten is not None:
            findings.set("error", node, message, f'{attribute}="{rewritten}"', **{attribute: rewritten})
        elif default is not None:
            findings.set("error", node, message, f'{attribute}="{default}", the default', **{attribute: default})
        else:
            findings.set("error", node, message, f"{attribute} removed", **{attribute: None})


def _repair_signs(findings: Findings, node: Node) -> None:
    for attribute in NONNEGATIVE.get(node.tag, ()):
        text = node.attributes.get(attribute)
        values = () if text is None else tuple(map(float, text.split()))
        if any(value < 0.0 for value in values):
            positive = " ".join(part.lstrip("-") for part in str(text).split())
            message = f"{attribute}={text!r} is negative; it must be at least 0"
            findings.set("error", node, message, f'{attribute}="{positive}", without the sign', **{attribute: positive})


def _repair_shape(findings: Findings, shape: Node) -> None:
    """Remove an invalid shape: without geometry, without a size, or with several geometries."""
    geometry = shape.child("geometry")
    found = [] if geometry is None else [child for child in geometry.children if child.tag in SHAPES]
    for other in found[1:]:
        findings.remove("error", other, "is a second shape in one <geometry>", "removed: the first one counts")
    if not found:
        findings.remove("error", shape, "has no geometry; give one of " + ", ".join(SHAPES), f"<{shape.tag}> removed")
        return
    solid = found[0]
    needed = ("filename",) if solid.tag == "mesh" else tuple(NUMERIC_ATTRIBUTES[solid.tag])
    missing = [name for name in needed if not solid.attributes.get(name, "").strip()]
    level: Level = "error"
    if not missing and solid.tag != "mesh":
        missing = [name for name in needed if 0.0 in map(float, solid.attributes[name].split())]
        level = "note"
    if missing:
        what = "has no size" if solid.tag != "mesh" else "names no file"
        findings.remove(level, shape, f"{solid.tag} {what} ({', '.join(missing)})", f"<{shape.tag}> removed")
