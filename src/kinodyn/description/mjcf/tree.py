"""Bodies and joints of a compiled MuJoCo model as links and joints."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.mjcf import actuation, shapes
from kinodyn.description.mjcf.names import Names
from kinodyn.description.mjcf.poses import pose, rotation, translation
from kinodyn.description.types import Inertia, Joint, JointKind, Link, Mimic

# Plain integers, because MuJoCo's enumerations compare unequal to NumPy's.
_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_BALL = int(mujoco.mjtJoint.mjJNT_BALL)
_SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)


def links_and_joints(
    spec: mujoco.MjSpec, model: mujoco.MjModel, names: Names, mimics: Mapping[int, Mimic]
) -> tuple[tuple[Link, ...], tuple[Joint, ...]]:
    """Create a link for each body and the joints between them, in MuJoCo's depth-first order.

    `mimics` maps a joint's id to what it follows. A body with several joints, or with a joint whose anchor is not the
    body's origin, gets massless links in between, named "<body>/<joint>".
    """
    reader = _Joints(model, names, mimics, _lines(spec.joints), actuation.drives(model))
    body_lines = _lines(spec.bodies)
    geoms = shapes.shapes_by_body(spec, model)
    links: list[Link] = []
    joints: list[Joint] = []
    for body, name in enumerate(names.bodies):
        chain = list(reader.chain_to(body)) if body else []
        links += [Link(joint.child, line=joint.line) for joint in chain[:-1]]
        links.append(Link(name, _inertia(model, body), *geoms[body], line=body_lines.get(body)))
        joints += chain
    return tuple(links), tuple(joints)


def base_kind(joints: Iterable[Joint]) -> Literal["fixed", "floating"]:
    """Return the kind of base: floating if all moving joints to the world float."""
    kinds = {joint.kind for joint in joints if joint.parent == "world"} - {"fixed"}
    return "floating" if kinds == {"floating"} else "fixed"


@dataclass(frozen=True)
class _Joints:
    """Creates the joints of one body after the other; maps are keyed by MuJoCo's joint ids."""

    model: mujoco.MjModel
    names: Names
    mimics: Mapping[int, Mimic]
    lines: Mapping[int, int]
    drives: Mapping[int, actuation.Drive]

    def chain_to(self, body: int) -> Iterator[Joint]:
        """Yield the joints from the parent body to `body`; the last one's child is `body`.

        MuJoCo applies the joints of a body in order, each about an anchor given in the body frame:
        T_parent_body = T_0 A_1 J_1(q_1) A_1^-1 A_2 J_2(q_2) A_2^-1 ... with A_i the shift to anchor i.
        """
        model, name = self.model, self.names.bodies[body]
        parent = self.names.bodies[model.body_parentid[body]]
        T = pose(model.body_pos[body], model.body_quat[body])
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        for joint in range(first, first + count):
            anchor = self._anchor(joint)
            ends_here = joint == first + count - 1 and not anchor.any()
            child = name if ends_here else self.names.new_link(name, self.names.joints[joint])
            yield self._joint(joint, parent, child, T @ translation(anchor))
            parent, T = child, translation(-anchor)
        if parent != name:
            yield Joint(self.names.new_fixed_joint(name), "fixed", parent, name, T)

    def _anchor(self, joint: int) -> Array:
        rotates_about_anchor = self.model.jnt_type[joint] not in (_FREE, _SLIDE)
        return np.array(self.model.jnt_pos[joint]) if rotates_about_anchor else np.zeros(3)

    def _joint(self, joint: int, parent: str, child: str, T_parent_child: Array) -> Joint:
        model, drive = self.model, self.drives[joint]
        kind, dof = _kind(model, joint), int(model.jnt_dofadr[joint])
        one_coordinate = kind not in ("floating", "ball")
        limited = one_coordinate and bool(model.jnt_limited[joint])
        lower, upper = model.jnt_range[joint] if limited else (-math.inf, math.inf)
        return Joint(
            name=self.names.joints[joint],
            kind=kind,
            parent=parent,
            child=child,
            # The position of a free joint is the pose in the world; the body's own pose is only its initial value.
            T_parent_child=np.eye(4) if kind == "floating" else T_parent_child,
            axis=np.array(model.jnt_axis[joint]) if one_coordinate else np.array([0.0, 0.0, 1.0]),
            reference=float(model.qpos0[model.jnt_qposadr[joint]]) if one_coordinate else 0.0,
            lower=float(lower),
            upper=float(upper),
            effort=math.inf if joint in self.mimics else drive.effort,
            damping=float(model.dof_damping[dof]) + drive.damping,
            friction=float(model.dof_frictionloss[dof]),
            armature=float(model.dof_armature[dof]) + drive.armature,
            mimic=self.mimics.get(joint),
            line=self.lines.get(joint),
        )


def _kind(model: mujoco.MjModel, joint: int) -> JointKind:
    kind = model.jnt_type[joint]
    if kind == _FREE:
        return "floating"
    if kind == _BALL:
        return "ball"
    if kind == _SLIDE:
        return "prismatic"
    return "revolute" if model.jnt_limited[joint] else "continuous"


def _inertia(model: mujoco.MjModel, body: int) -> Inertia | None:
    """Rotate the principal inertia of `body` to link axes; None if the body has no mass and inertia."""
    mass, principal = float(model.body_mass[body]), model.body_inertia[body]
    if mass == 0.0 and not principal.any():
        return None
    R_link_principal = rotation(model.body_iquat[body])
    matrix = R_link_principal @ np.diag(principal) @ R_link_principal.T
    return Inertia(mass, np.array(model.body_ipos[body]), (matrix + matrix.T) / 2)


def _lines(elements: Iterable[mujoco.MjsElement]) -> dict[int, int]:
    """Map the id of each element to its line; elements of included files have none (MuJoCo reports line 0)."""
    found = {element.id: re.search(r"line (\d+)", element.info) for element in elements}
    return {id_: int(match[1]) for id_, match in found.items() if match and int(match[1])}
