"""Read URDF joints: kind, placement, axis, limits, friction and mimic."""

from __future__ import annotations

import math
from typing import cast, get_args

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.notices import counted, listed, warn
from kinodyn.description.types import Description, Joint, JointKind, Mimic
from kinodyn.description.urdf.shapes import placement
from kinodyn.description.xmlnode import Node

URDF_KINDS: tuple[str, ...] = tuple(kind for kind in get_args(JointKind) if kind != "ball")


class JointReader:
    """Reads the joints of one robot, and remembers what was doubtful about them."""

    def __init__(self) -> None:
        self._unlimited: list[str] = []
        self._stuck: dict[str, str] = {}

    def read(self, node: Node) -> Joint:
        """Read one `<joint>`.

        Position limits are for revolute and prismatic joints; velocity and effort limits for continuous ones as well.
        Floating and planar joints have none: URDF gives one number where their coordinates differ in unit.
        """
        name, written = node.word("name"), node.word("type")
        if written not in URDF_KINDS:
            raise node.error(f"type={written!r} is unknown; URDF has {', '.join(URDF_KINDS)}")
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

    def warn_of_doubts(self, description: Description) -> None:
        """Give one warning for limits that are not given and one for fixed joints that should follow a moving one."""
        if self._unlimited:
            message = f"{counted(len(self._unlimited), 'joint')} without limits that URDF asks for, taken as unlimited"
            warn(f"{message}: {listed(self._unlimited)}", description.source)
        # Where the leader is fixed as well, somebody froze the whole mechanism on purpose.
        moving = {joint.name for joint in description.joints if joint.kind != "fixed"}
        stuck = [name for name, leader in self._stuck.items() if leader in moving]
        if stuck:
            message = f"{counted(len(stuck), 'fixed joint')} with a <mimic>, which moves nothing"
            warn(f"{message}: {listed(stuck)}", description.source)

    def _limits(self, node: Node, kind: JointKind) -> tuple[float, float, float, float]:
        """Return lower, upper, velocity and effort; infinite where the file says nothing."""
        bounded = kind in ("revolute", "prismatic")
        if not bounded and kind != "continuous":
            return -math.inf, math.inf, math.inf, math.inf
        limit = node.child("limit")
        given = limit.attributes if limit else {}
        lacks = [key for key in ("velocity", "effort") if key not in given]
        lower, upper = -math.inf, math.inf
        if bounded and limit and ("lower" in given or "upper" in given):
            # The specification gives 0 to the one that is left out.
            lower, upper = limit.number("lower", 0.0, finite=False), limit.number("upper", 0.0, finite=False)
        elif bounded:
            # It would give 0 to both, a joint that cannot move; files that leave out both mean one without stops.
            lacks.append("position")
        if bounded and lacks:
            self._unlimited.append(f"{node.attributes['name']} ({', '.join(lacks)})")
        velocity = limit.number("velocity", math.inf, finite=False) if limit else math.inf
        effort = limit.number("effort", math.inf, finite=False) if limit else math.inf
        return lower, upper, velocity, effort

    def _mimic(self, node: Node, kind: JointKind) -> Mimic | None:
        written = node.child("mimic")
        if written is None:
            return None
        mimic = Mimic(written.word("joint"), written.number("multiplier", 1.0), written.number("offset", 0.0))
        if kind == "fixed":
            self._stuck[node.attributes["name"]] = mimic.joint
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
        raise written.error(f"xyz={written.attributes['xyz']!r} has no direction; a {kind} joint needs a non-zero axis")
    return np.array([part / length for part in axis])
