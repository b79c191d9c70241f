"""Read joints of SDF; those with two axes, and screws, are chains of joints with massless links in between.

SDF may place a joint anywhere; the axis of a `Joint` passes through the origin of its child. Where it does not, the
joint moves a massless link at its own place, to which the child is fixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.messages import counted, listed, warn
from kinodyn.description.sdf import values
from kinodyn.description.sdf.scopes import DELIMITER, MODEL, WORLD, Scope
from kinodyn.description.types import Joint, JointKind, Link, Mimic
from kinodyn.description.xml_tree import Node
from kinodyn.spatial.poses import inverse_pose

KINDS = ("revolute", "continuous", "prismatic", "fixed", "ball", "universal", "revolute2", "screw")
TWO_AXES = ("universal", "revolute2")
SECOND = "_axis2"  # appended to the name of a joint with two axes
NEGLIGIBLE = 1e-12  # [m] of a distance between an axis and the origin of the child


@dataclass(frozen=True, eq=False)
class Axis:
    """An axis of a joint: direction (3,) in axes of the outermost model, limits, friction, mimic."""

    direction: Array
    lower: float
    upper: float
    velocity: float
    effort: float
    damping: float
    friction: float
    mimic: Mimic | None


class JointReader:
    """Reads the joints of one robot, with the links that they need in between."""

    def __init__(self, T_world_top: Array) -> None:
        self._T_world_top = T_world_top
        self._springs: list[str] = []
        self.reaches_world = False

    def read(self, node: Node, scope: Scope) -> tuple[list[Joint], list[Link]]:
        """Read one `<joint>` as a chain of joints and the massless links between them."""
        kind = node.word("type")
        if kind not in KINDS:
            raise node.error(f"type must be one of {', '.join(KINDS)}, got {kind!r:.40}")
        place = _Place(node, scope, self._T_world_top)
        self.reaches_world |= place.parent == WORLD
        if kind in ("fixed", "ball"):
            steps = [Joint(place.name, cast(JointKind, kind), "", "")]
        elif kind in TWO_AXES:
            first, second = (self._axis(node, tag, scope) for tag in ("axis", "axis2"))
            steps = [_moving(place, "revolute", first), _moving(place, "revolute", second, SECOND)]
        else:
            axis = self._axis(node, "axis", scope)
            steps = _screw(node, place, axis) if kind == "screw" else [_moving(place, kind, axis)]
        return place.chain(steps)

    def warn_questionable(self, scope: Scope) -> None:
        """Warn once of springs, which are left out."""
        if self._springs:
            message = f"{counted(len(self._springs), 'joint')} with a spring, which is left out"
            warn(f"{message}: {listed(self._springs)}", scope.model.node.file)

    def _axis(self, joint: Node, tag: str, scope: Scope) -> Axis:
        node = joint.child(tag)
        if node is None:
            raise joint.error(f"has no <{tag}>; add one")
        limit, dynamics = node.child("limit"), node.child("dynamics")
        if values.number(dynamics, "spring_stiffness", 0.0) != 0.0:
            self._springs.append(f"{scope.prefix}{joint.word('name')}")
        velocity, effort = (values.number(limit, key, -1.0, finite=False) for key in ("velocity", "effort"))
        return Axis(
            direction=_direction(node, joint, scope),
            lower=values.number(limit, "lower", -math.inf, finite=False),
            upper=values.number(limit, "upper", math.inf, finite=False),
            velocity=velocity if velocity >= 0.0 else math.inf,
            effort=effort if effort >= 0.0 else math.inf,
            damping=values.number(dynamics, "damping", 0.0),
            friction=values.number(dynamics, "friction", 0.0),
            mimic=_mimic(node, scope),
        )


class _Place:
    """Where a joint is, and what it connects."""

    def __init__(self, node: Node, scope: Scope, T_world_top: Array) -> None:
        self.node, self.name = node, f"{scope.prefix}{node.word('name')}"
        parent, child = values.text(node, "parent"), values.text(node, "child")
        if child == WORLD:
            raise node.error("child must be a link, got the world; swap parent and child")
        self.parent = WORLD if parent == WORLD else scope.link(parent, node)
        self.child = scope.link(child, node)
        if self.parent == self.child:
            raise node.error(f"must connect two links, got {self.child!r} twice")
        self.T_top_joint = scope.top_pose(node.word("name"), node)
        self._T_top_child = _top_pose_of_link(self.child, scope)
        self._T_top_parent = inverse_pose(T_world_top) if parent == WORLD else _top_pose_of_link(self.parent, scope)

    def chain(self, steps: list[Joint]) -> tuple[list[Joint], list[Link]]:
        """Place joints one after the other at the joint frame, with links in between, and end at the child."""
        T_joint_child = inverse_pose(self.T_top_joint) @ self._T_top_child
        if not _passes_origin(steps[-1], T_joint_child):
            steps = [*steps, Joint(f"{self.name}_to_child", "fixed", "", "")]
        names = [f"{step.name}_frame" for step in steps[:-1]]
        T_parent_joint = inverse_pose(self._T_top_parent) @ self.T_top_joint
        joints: list[Joint] = []
        parent, T = self.parent, T_parent_joint
        for step, child in zip(steps, [*names, self.child], strict=True):
            last = child == self.child
            R = T_joint_child[:3, :3] if last else np.eye(3)
            placed = T @ T_joint_child if last else T
            step = replace(step, parent=parent, child=child, line=self.node.line)
            joints.append(replace(step, T_parent_child=placed, axis=R.T @ step.axis))
            parent, T = child, np.eye(4)
        return joints, [Link(name, line=self.node.line) for name in names]

    def axis(self, axis: Axis) -> Array:
        """Return the unit direction in the axes of the joint frame."""
        return np.asarray(self.T_top_joint[:3, :3].T @ axis.direction)


def _moving(place: _Place, kind: str, axis: Axis, suffix: str = "") -> Joint:
    bounded = math.isfinite(axis.lower) or math.isfinite(axis.upper)
    return Joint(
        name=f"{place.name}{suffix}",
        kind="continuous" if kind == "revolute" and not bounded else cast(JointKind, kind),
        parent="",
        child="",
        axis=place.axis(axis),
        lower=axis.lower if kind != "continuous" else -math.inf,
        upper=axis.upper if kind != "continuous" else math.inf,
        velocity=axis.velocity,
        effort=axis.effort,
        damping=axis.damping,
        friction=axis.friction,
        mimic=axis.mimic,
    )


def _screw(node: Node, place: _Place, axis: Axis) -> list[Joint]:
    """Return a rotation and a translation that follows it: [m/rev], or the older thread_pitch = -2 pi / that."""
    lead = values.number(node, "screw_thread_pitch", 0.0)
    if lead == 0.0:
        pitch = values.number(node, "thread_pitch", 1.0)
        if pitch == 0.0:
            raise node.error("thread_pitch must not be 0")
        lead = -2.0 * math.pi / pitch
    turning = _moving(place, "revolute", axis)
    advance = lead / (2.0 * math.pi)
    sliding = Joint(
        f"{place.name}_translation", "prismatic", "", "", axis=turning.axis, mimic=Mimic(place.name, advance)
    )
    return [turning, sliding]


def _passes_origin(joint: Joint, T_joint_child: Array) -> bool:
    """Return whether a joint may have its child's frame: where its motion of the child's origin is the same."""
    p = T_joint_child[:3, 3]
    if joint.kind in ("fixed", "prismatic"):
        return True
    across = p if joint.kind == "ball" else p - joint.axis * (joint.axis @ p)
    return bool(np.linalg.norm(across) <= NEGLIGIBLE)


def _direction(axis: Node, joint: Node, scope: Scope) -> Array:
    """Return the unit direction of an axis in the outermost model.

    It is given in the joint frame, in the frame of `expressed_in`, or in the model: always before version 1.5, and then
    where `use_parent_model_frame` says so.
    """
    xyz = axis.child("xyz")
    vector = np.array(values.vector(axis, "xyz", 3, (0.0, 0.0, 1.0)))
    length = np.linalg.norm(vector)
    if length == 0.0:
        raise axis.error("xyz must not be zero")
    in_model = scope.model.version < (1, 5) or (
        scope.model.version < (1, 7) and values.flag(axis, "use_parent_model_frame")
    )
    frame = "" if xyz is None else xyz.attributes.get("expressed_in", "").strip()
    name = MODEL if in_model else frame or joint.word("name")
    return np.asarray(scope.top_pose(name, axis)[:3, :3] @ (vector / length))


def _mimic(axis: Node, scope: Scope) -> Mimic | None:
    """Read `<mimic>`: multiplier * (position - reference) + offset."""
    node = axis.child("mimic")
    if node is None:
        return None
    leader = f"{scope.prefix}{node.word('joint')}"
    if node.attributes.get("axis", "axis") == "axis2":
        leader += SECOND
    multiplier = values.number(node, "multiplier", 1.0)
    offset = values.number(node, "offset", 0.0) - multiplier * values.number(node, "reference", 0.0)
    return Mimic(leader, multiplier, offset)


def _top_pose_of_link(name: str, scope: Scope) -> Array:
    """Return the pose of a link, given by its name in the whole robot, in the outermost model."""
    inner = name.removeprefix(scope.prefix)
    if not name.startswith(scope.prefix):
        raise scope.model.node.error(f"link {name!r} is outside of model {scope.prefix.removesuffix(DELIMITER)!r}")
    return scope.top_pose(inner, scope.model.node)
