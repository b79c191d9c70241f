"""Repairs of the masses and inertias of a URDF file."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description import solids
from kinodyn.description.check_values import ABSOLUTE_ROUNDING
from kinodyn.description.packages import PackageFinder
from kinodyn.description.repair.findings import Findings, Level
from kinodyn.description.repair.inertias import (
    MIN_MOMENT,
    NOMINAL_MASS,
    NOMINAL_RADIUS,
    ball,
    ball_mass,
    nearest_consistent,
    why_inconsistent,
)
from kinodyn.description.repair.numbers import written
from kinodyn.description.repair.urdf_tree import end
from kinodyn.description.shape_inertias import inertia_of_shapes
from kinodyn.description.types import Inertia
from kinodyn.description.urdf.shapes import ShapeReader, placement
from kinodyn.description.xml_tree import Node

LEAST_MOMENT = 1e-9  # [kg m^2] of a moving link that simulators can accelerate
_KEYS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


@dataclass
class _Body:
    """Links that move together: their nodes and their poses in the first of them."""

    moves: bool
    links: list[tuple[Node, Array]] = field(default_factory=list)


class InertiaRepair:
    """Repairs the inertias of one file.

    Parameters
    ----------
    findings
        Findings of a document whose tree is in order.
    finder
        Search for the mesh files of the document.
    density
        Density of shapes whose mass is not known [kg/m^3].
    floating
        Whether the root moves.
    """

    def __init__(self, findings: Findings, finder: PackageFinder, density: float, floating: bool) -> None:
        self._findings, self._density, self._floating = findings, density, floating
        self._shapes = ShapeReader(findings.document.root, finder)
        self._of_shapes: dict[Node, Inertia | None] = {}

    def run(self) -> None:
        """Repair each link by itself, then bodies that move without mass or with an inertia on the limit."""
        bodies = self._bodies()
        for body in bodies:
            for link, _ in body.links:
                if link.child("inertial") is not None:
                    self._repair_link(link, body.moves)
        for body in bodies:
            if body.moves:
                self._repair_body(body)

    def _bodies(self) -> list[_Body]:
        """Group the links by the fixed joints between them, parents before children."""
        root = self._findings.document.root
        nodes = {link.attributes["name"]: link for link in root.all("link")}
        below: dict[str, list[Node]] = {}
        for joint in root.all("joint"):
            below.setdefault(end(joint, "parent"), []).append(joint)
        children = {end(joint, "child") for joint in root.all("joint")}
        bodies = []
        stack = []
        for name in nodes:
            if name not in children:
                bodies.append(_Body(self._floating))
                stack.append((name, bodies[-1], np.eye(4)))
        while stack:
            name, body, T_body_link = stack.pop()
            body.links.append((nodes[name], T_body_link))
            for joint in reversed(below.get(name, [])):
                child = end(joint, "child")
                if joint.attributes["type"] == "fixed":
                    stack.append((child, body, T_body_link @ placement(joint)))
                else:
                    bodies.append(_Body(True))
                    stack.append((child, bodies[-1], np.eye(4)))
        return bodies

    def _from_shapes(self, link: Node) -> Inertia | None:
        """Return the inertia of the collision shapes, else of the visual ones."""
        if link not in self._of_shapes:
            found = None
            for tag in ("collision", "visual"):
                found = found or inertia_of_shapes(self._shapes.read(link, tag), self._density)
            self._of_shapes[link] = found
        return self._of_shapes[link]

    def _repair_link(self, link: Node, moves: bool) -> None:
        """Repair the faults of an `<inertial>` element itself."""
        inertial = link.need("inertial")
        mass, matrix = _mass(inertial), _matrix(inertial)
        if mass is None:
            self._replace(link, "error", "has no <mass> with a value; add one", matrix)
        elif matrix is None:
            message = "has no complete <inertia>; add ixx, iyy and izz"
            if mass == 0.0:
                self._findings.add("error", inertial, message, "zeros, as there is no mass")
                self._write_matrix(inertial, np.zeros((3, 3)))
            else:
                self._replace_matrix(link, "error", message, mass)
        elif mass == 0.0 and np.abs(matrix).max() > ABSOLUTE_ROUNDING:
            own = why_inconsistent(matrix)
            level: Level = "error" if own is not None and own[0] == "error" else "warning"
            message = "a physically inconsistent inertia: moments without mass"
            if moves or self._from_shapes(link) is not None:
                self._replace(link, level, message, matrix)
            else:
                self._findings.add(level, inertial, message, "moments 0: the link is fixed and has no shape")
                self._write_matrix(inertial, np.zeros((3, 3)))
        elif mass > 0.0:
            found = why_inconsistent(matrix)
            tiny = float(np.abs(matrix).max()) > 0.0 and float(np.linalg.eigvalsh(matrix)[0]) < MIN_MOMENT
            if found is not None and tiny and np.abs(matrix).max() < MIN_MOMENT:
                self._replace_matrix(link, "note", "has mass, but no moments of inertia", mass)
            elif found is not None and (found[0] != "note" or tiny):
                self._make_consistent(inertial, matrix, *found)

    def _make_consistent(self, inertial: Node, matrix: Array, level: Level, message: str) -> None:
        nearest = nearest_consistent(matrix)
        moments = ", ".join(f"{moment:.4g}" for moment in np.linalg.eigvalsh(nearest))
        change = float(np.linalg.norm(nearest - matrix) / max(np.linalg.norm(matrix), 1e-300))
        repair = f"the nearest possible inertia, principal moments {moments} kg m^2 (changed by {change:.2%})"
        self._findings.add(level, inertial.child("inertia") or inertial, message, repair)
        self._write_matrix(inertial, nearest)

    def _repair_body(self, body: _Body) -> None:
        known = [(link, T, _inertia(link)) for link, T in body.links]
        parts = [_placed(T, inertia) for _, T, inertia in known if inertia is not None and inertia.mass > 0.0]
        if not parts:
            self._give_mass(body)
            return
        found = why_inconsistent(solids.combine(parts).matrix)
        if found is None:
            return
        for link, _, inertia in known:
            own = None if inertia is None or not inertia.mass > 0.0 else why_inconsistent(inertia.matrix)
            if inertia is None or own is None:
                continue
            inertial = link.need("inertial")
            matrix = _matrix(inertial)
            if matrix is None or not np.abs(matrix).max() > MIN_MOMENT:
                self._replace_matrix(link, "warning", "moves and has mass, but no moments of inertia", inertia.mass)
            else:
                self._make_consistent(inertial, matrix, *own)

    def _give_mass(self, body: _Body) -> None:
        shaped = [link for link, _ in body.links if self._from_shapes(link) is not None]
        message = "moves but has no mass and inertia; simulators reject it, and forward dynamics may be singular"
        for link in shaped or [body.links[0][0]]:
            self._replace(link, "warning", message, None)

    def _replace(self, link: Node, level: Level, message: str, matrix: Array | None) -> None:
        """Give a link the mass and inertia of its shapes; without any, of a ball with its moments, else a small one."""
        inertia = self._from_shapes(link)
        if inertia is not None and np.linalg.eigvalsh(inertia.matrix)[0] < LEAST_MOMENT:  # a marker, no body
            inertia = solids.sphere(NOMINAL_MASS, NOMINAL_RADIUS)
            reason = f"a ball of {NOMINAL_MASS * 1e3:g} g and {NOMINAL_RADIUS * 1e2:g} cm; its shapes are too small"
        elif inertia is not None:
            reason = f"{inertia.mass:.4g} kg, its shapes at {self._density:g} kg/m^3"
        elif matrix is not None and np.trace(matrix) > 0.0:
            mass = ball_mass(float(np.trace(matrix)) / 3.0, self._density)
            consistent = matrix if why_inconsistent(matrix) is None else nearest_consistent(matrix)
            inertia = Inertia(mass, np.zeros(3), consistent)
            reason = f"{mass:.4g} kg, a ball of {self._density:g} kg/m^3 with these moments; it has no shapes"
        else:
            inertia = solids.sphere(NOMINAL_MASS, NOMINAL_RADIUS)
            reason = f"a ball of {NOMINAL_MASS * 1e3:g} g and {NOMINAL_RADIUS * 1e2:g} cm; it has no shapes"
        self._findings.add(level, link.child("inertial") or link, message, reason)
        self._write(link, inertia)

    def _replace_matrix(self, link: Node, level: Level, message: str, mass: float) -> None:
        """Keep the mass and its place, and give it the moments of the shapes, else of a ball."""
        inertial, shapes = link.need("inertial"), self._from_shapes(link)
        if shapes is not None:
            R = placement(inertial)[:3, :3]
            matrix, reason = R.T @ shapes.matrix @ R * (mass / shapes.mass), "that of its shapes with its mass"
        else:
            matrix = np.eye(3) * ball(mass, self._density)
            reason = f"that of a ball of its mass and {self._density:g} kg/m^3; it has no shapes"
        self._findings.add(level, inertial, message, f"inertia {reason}")
        self._write_matrix(inertial, matrix if why_inconsistent(matrix) is None else nearest_consistent(matrix))

    def _write(self, link: Node, inertia: Inertia) -> None:
        document = self._findings.document
        inertial = link.child("inertial") or document.add(link, "inertial", {})
        origin = inertial.child("origin") or document.add(inertial, "origin", {})
        document.set(origin, "xyz", written(*inertia.com))
        document.set(origin, "rpy", "0 0 0")
        mass = inertial.child("mass") or document.add(inertial, "mass", {})
        document.set(mass, "value", written(inertia.mass))
        matrix = inertia.matrix
        self._write_matrix(inertial, matrix if why_inconsistent(matrix) is None else nearest_consistent(matrix))

    def _write_matrix(self, inertial: Node, matrix: Array) -> None:
        document = self._findings.document
        node = inertial.child("inertia") or document.add(inertial, "inertia", {})
        for key, entry in zip(_KEYS, _ENTRIES, strict=True):
            document.set(node, key, written(float(matrix[entry])))


def _mass(inertial: Node) -> float | None:
    node = inertial.child("mass")
    text = None if node is None else node.attributes.get("value")
    return None if text is None else float(text)


def _matrix(inertial: Node) -> Array | None:
    """Return the matrix in the axes of the `<inertial>`, None if it is not complete."""
    node = inertial.child("inertia")
    if node is None or any(key not in node.attributes for key in _KEYS[:3]):
        return None
    return solids.symmetric(*(float(node.attributes.get(key, 0.0)) for key in _KEYS))


def _inertia(link: Node) -> Inertia | None:
    """Return the inertia in link axes, None if the link has none."""
    inertial = link.child("inertial")
    mass, matrix = (None, None) if inertial is None else (_mass(inertial), _matrix(inertial))
    if inertial is None or mass is None or matrix is None:
        return None
    T = placement(inertial)
    return Inertia(mass, T[:3, 3], T[:3, :3] @ matrix @ T[:3, :3].T)


def _placed(T: Array, inertia: Inertia) -> Inertia:
    R = T[:3, :3]
    return Inertia(inertia.mass, R @ inertia.com + T[:3, 3], R @ inertia.matrix @ R.T)
