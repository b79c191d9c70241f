"""Check and repair MJCF: the elements first, then the errors of MuJoCo's compiler, one after the other."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path

import mujoco
import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.mjcf.guard import check_mjcf
from kinodyn.description.mjcf.poses import rotation
from kinodyn.description.mjcf.reader import describe_mjcf
from kinodyn.description.packages import is_file
from kinodyn.description.repair.findings import Finding, Findings
from kinodyn.description.repair.inertias import NOMINAL_MASS, NOMINAL_RADIUS, nearest_consistent, why_inconsistent
from kinodyn.description.repair.mjcf_values import nodes, repair_files, repair_names, repair_values
from kinodyn.description.repair.numbers import written
from kinodyn.description.roots import Roots
from kinodyn.description.types import Description
from kinodyn.description.xml_tree import Node, parse_xml
from kinodyn.errors import DescriptionError, DescriptionWarning

_MASSLESS = "mass and inertia of moving bodies"
_NAMED = re.compile(r"Element name '([^']*)', id (\d+)(?:, line (\d+))?")
_LINE = re.compile(r"Element '(\w+)', line (\d+)")


def repair_mjcf(findings: Findings, file: Path, destination: Path, density: float) -> None:
    """Find and repair the faults of an MJCF document."""
    repair_values(findings)
    repair_names(findings)
    repair_files(findings, file, destination)
    seen: set[str] = set()
    while True:
        error = _compile_error(findings, destination)
        if error is None:
            return
        if error in seen or not _repair_compiled(findings, error, destination, density):
            node = _node_of(findings, error) or findings.document.root
            if not any(finding.level == "error" and not finding.repair for finding in findings.found):
                findings.add("error", node, f"MuJoCo cannot read the file: {error}")
            return
        seen.add(error)


def read_repaired(text: str, destination: Path) -> tuple[Description | None, tuple[Finding, ...]]:
    """Read the repaired text; return the description, None if it has errors, and the findings that remain."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DescriptionWarning)
        try:
            description = describe_mjcf(lambda: spec_of(text, destination), destination)
        except DescriptionError as error:
            return None, (Finding("error", error.message, error.line, error.element or ""),)
    return description, tuple(Finding("warning", str(warning.message)) for warning in caught)


def spec_of(text: str, file: Path) -> mujoco.MjSpec:
    """Parse MJCF text as if it were in a file, which need not exist: paths in it start at its folder."""
    folder = Path(os.path.abspath(file)).parent
    check_mjcf(parse_xml(text, file), folder, Roots(file))
    spec = mujoco.MjSpec.from_string(text, include=_included(text, folder))
    spec.modelfiledir = str(folder)
    return spec


def _included(text: str, folder: Path) -> dict[str, bytes]:
    """Read the files that a text includes, and those that these include; those that cannot be read are left out."""
    found: dict[str, bytes] = {}
    waiting: list[str | bytes] = [text]
    while waiting:
        for node, _ in nodes(parse_xml(waiting.pop())):
            name = node.attributes.get("file", "") if node.tag == "include" else ""
            if name and name not in found and is_file(folder / name):
                found[name] = (folder / name).read_bytes()
                waiting.append(found[name])
    return found


def _compile_error(findings: Findings, destination: Path) -> str | None:
    try:
        spec_of(findings.document.text(), destination).compile()
    except (ValueError, TypeError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        return " ".join(str(error).split())
    return None


def _repair_compiled(findings: Findings, error: str, destination: Path, density: float) -> bool:
    """Repair one fault that the compiler reports; return whether that was possible."""
    node = _node_of(findings, error)
    if node is None:
        return False
    if _MASSLESS in error and node.tag == "body":
        _give_inertia(findings, node, error, destination, density)
        return True
    if "must be positive in geom" in error and node.tag == "geom":
        findings.remove("error", node, _first_sentence(error), "<geom> removed: it has no size")
        return True
    if "range[0] should be smaller than range[1]" in error and "limited" in node.attributes:
        findings.set("error", node, _first_sentence(error), "limited removed: there is no range", limited=None)
        return True
    if "is repeated in equality" in error or "unknown element" in error:
        findings.remove("error", node, _first_sentence(error), f"<{node.tag}> removed")
        return True
    match = re.search(r"keyframe \d+: invalid (\w+) size", error)
    if match is not None and match[1] in node.attributes:
        findings.set(
            "error", node, _first_sentence(error), f"{match[1]} removed: its default applies", **{match[1]: None}
        )
        return True
    match = re.search(r"unrecognized attribute: '(\w+)'", error)
    if match is not None and match[1] in node.attributes:
        findings.set(
            "error", node, _first_sentence(error), f"{match[1]} removed: MuJoCo does not support it", **{match[1]: None}
        )
        return True
    match = re.search(r"attribute '(\w+)'", error)
    if match is not None and match[1] in node.attributes and match[1] != "name":
        findings.set(
            "error", node, _first_sentence(error), f"{match[1]} removed: its default applies", **{match[1]: None}
        )
        return True
    return False


def _first_sentence(error: str) -> str:
    return re.sub(r"^(XML )?Error: |,? ?Element.*$", "", error)


def _node_of(findings: Findings, error: str) -> Node | None:
    """Return the element that MuJoCo's message names by its line, in the text as edited so far."""
    named, plain = _NAMED.search(error), _LINE.search(error)
    line = int(named[3] or 0) if named else int(plain[2]) if plain else 0
    edited = [node for node, _ in nodes(parse_xml(findings.document.text()))]
    current = [node for node, _ in nodes(findings.document.root)]
    found = [own for own, other in zip(current, edited, strict=True) if line in (other.line, 0)]
    if named and named[1]:
        found = [node for node in found if node.attributes.get("name") == named[1]]
    if plain:
        found = [node for node in found if node.tag == plain[1]]
    if _MASSLESS in error or "inertia" in error:
        found = [node for node in found if node.tag == "body"]
    if "geom" in error:
        found = [node for node in found if node.tag == "geom"] or found
    return found[0] if found and (line or named) else None


def _give_inertia(findings: Findings, body: Node, error: str, destination: Path, density: float) -> None:
    """Give a body that moves the inertia of its geoms, as MuJoCo computes it, or a small one if it has none."""
    found = _geom_inertia(findings, error, destination, density)
    if found is None:
        moment = 0.4 * NOMINAL_MASS * NOMINAL_RADIUS**2
        position, mass, matrix = np.zeros(3), NOMINAL_MASS, np.eye(3) * moment
        reason = f"a ball of {NOMINAL_MASS * 1e3:g} g and {NOMINAL_RADIUS * 1e2:g} cm; it has no geom with a volume"
    else:
        position, mass, matrix = found
        reason = f"{mass:.4g} kg, its geoms at {density:g} kg/m^3"
    if why_inconsistent(matrix) is not None:
        matrix = nearest_consistent(matrix)
    message = f"{_MASSLESS} must be larger than mjMINVAL"
    findings.add("error", body, message, reason)
    for child in list(body.all("inertial")):
        findings.document.remove(child)
    entries = [matrix[entry] for entry in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    attributes = {"pos": written(*position), "mass": written(mass), "fullinertia": written(*entries)}
    findings.document.add(body, "inertial", attributes)


def _geom_inertia(
    findings: Findings, error: str, destination: Path, density: float
) -> tuple[Array, float, Array] | None:
    """Let MuJoCo compute the CoM, mass and inertia of the geoms of one body alone; None if they have no volume."""
    named = _NAMED.search(error)
    spec = spec_of(findings.document.text(), destination)
    bodies = [
        body for body in spec.bodies if named and (body.name == named[1] if named[1] else body.id == int(named[2]))
    ]
    if not bodies:
        return None
    geoms = [
        geom for geom in bodies[0].geoms if geom.type not in (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)
    ]
    if not geoms:
        return None
    alone = mujoco.MjSpec()
    alone.modelfiledir, alone.meshdir = spec.modelfiledir, spec.meshdir
    alone.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    used = {geom.meshname for geom in geoms}
    for mesh in spec.meshes:
        if mesh.name in used:
            copy = alone.add_mesh(
                name=mesh.name, file=mesh.file, scale=mesh.scale, refpos=mesh.refpos, refquat=mesh.refquat
            )
            copy.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    body = alone.worldbody.add_body()
    for geom in geoms:
        body.add_geom(
            type=geom.type,
            size=geom.size,
            fromto=geom.fromto,
            pos=geom.pos,
            quat=geom.quat,
            meshname=geom.meshname,
            density=density,
        )
    try:
        model = alone.compile()
    except ValueError:
        return None
    if not (model.body_mass[1] > 0.0 and model.body_inertia[1].min() > 0.0):
        return None
    R = rotation(model.body_iquat[1])
    return model.body_ipos[1].copy(), float(model.body_mass[1]), R @ np.diag(model.body_inertia[1]) @ R.T
