"""Read URDF joints: kind, placement, axis, limits, friction and mimic."""

from __future__ import annotations

import math
from typing import cast, get_args

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.messages import counted, listed, warn
from kinodyn.description.types import Description, Joint, JointKind, Mimic
from kinodyn.description.urdf.shapes import placement
from kinodyn.description.xml_tree import Node

URDF_KINDS: tuple[str, ...] = tuple(kind for kind in get_args(JointKind) if kind != "ball")


class JointReader:
    """Reads the joints of one robot, and collects warnings about them."""

    def __init__(self) -> None:
        self._unlimited: list[str] = []
        self._fixed_mimics: dict[str, str] = {}

    def read(self, node: Node) -> Joint:
        """Read one `<joint>`.

        Revolute and prismatic joints have position limits; they and continuous ones have velocity and effort limits.
        Floating and planar joints have none: URDF has one number for coordinates with different units.
        """
        name, written = node.word("name"), node.word("type")
        if written not in URDF_KINDS:
            raise node.error(f"type must be one of {', '.join(URDF_KINDS)}, got {written!r}")
        kind = cast(JointKind, written)
        lower, upper, velocity, effort = self._limits(node, kind)
        dynamics = node.child("dynamics")
        return Joint(
            name=name,
            kind=kind,
            parent=node.need("parent").word("link"),
            child=node.need("child").word("link"),
            T_parent_child=placement(node),
            axis=_axis(node, kind),
            lower=lower,
            upper=upper,
            velocity=velocity,
            effort=effort,
            damping=dynamics.number("damping", 0.0) if dynamics else 0.0,
            friction=dynamics.number("friction", 0.0) if dynamics else 0.0,
            mimic=self._mimic(node, kind),
            line=node.line,
        )

    def warn_questionable(self, description: Description) -> None:
        """Warn once of missing limits, and once of fixed joints that should follow a moving one."""
        if self._unlimited:
            message = f"give limits to {counted(len(self._unlimited), 'joint')}, as URDF requires; treated as unlimited"
            warn(f"{message}: {listed(self._unlimited)}", description.source)
        # If the leader is fixed as well, the whole mechanism was locked on purpose.
        moving = {joint.name for joint in description.joints if joint.kind != "fixed"}
        fixed = [name for name, leader in self._fixed_mimics.items() if leader in moving]
        if fixed:
            message = f"remove <mimic>, which has no effect there, from {counted(len(fixed), 'fixed joint')}"
            warn(f"{message}: {listed(fixed)}", description.source)

    def _limits(self, node: Node, kind: JointKind) -> tuple[float, float, float, float]:
        """Return lower, upper, velocity and effort; infinite where the file has none."""
        bounded = kind in ("revolute", "prismatic")
        if not bounded and kind != "continuous":
            return -math.inf, math.inf, math.inf, math.inf
        limit = node.child("limit")
        given = limit.attributes if limit else {}
        missing = [key for key in ("velocity", "effort") if key not in given]
        lower, upper = -math.inf, math.inf
        if bounded and limit and ("lower" in given or "upper" in given):
            # By the specification a missing one is 0.
            lower, upper = limit.number("lower", 0.0, finite=False), limit.number("upper", 0.0, finite=False)
        elif bounded:
            # It would make both 0, a joint that cannot move; files without either mean an unlimited joint.
            missing.append("position")
        if bounded and missing:
            self._unlimited.append(f"{node.attributes['name']} ({', '.join(missing)})")
        velocity = limit.number("velocity", math.inf, finite=False) if limit else math.inf
        effort = limit.number("effort", math.inf, finite=False) if limit else math.inf
        return lower, upper, velocity, effort

    def _mimic(self, node: Node, kind: JointKind) -> Mimic | None:
        written = node.child("mimic")
        if written is None:
            return None
        mimic = Mimic(written.word("joint"), written.number("multiplier", 1.0), written.number("offset", 0.0))
        if kind == "fixed":
            self._fixed_mimics[node.attributes["name"]] = mimic.joint
            return None
        return mimic


def _axis(node: Node, kind: JointKind) -> Array:
    """Return the unit axis; files often give fixed and floating joints a zero one, which has no meaning there."""
    if kind in ("fixed", "floating"):
        return np.array([0.0, 0.0, 1.0])
    written = node.child("axis")
    if written is None:
        return np.array([1.0, 0.0, 0.0])
    axis = written.numbers("xyz", 3)
    length = math.hypot(*axis)
    if length == 0.0:
        raise written.error(f"xyz={written.attributes['xyz']!r} is zero; a {kind} joint needs a nonzero axis")
    return np.array([part / length for part in axis])
