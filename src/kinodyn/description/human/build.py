"""Build the bundled humanoid: links, joints, frames, chains, named configurations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description import solids
from kinodyn.description.human import figure, shapes
from kinodyn.description.human.joints import JOINTS
from kinodyn.description.human.proportions import Proportions, proportions
from kinodyn.description.human.table import Sex
from kinodyn.description.types import Description, Frame, Inertia, Joint, Link, Shape

Side = Literal["left", "right", ""]
_SIDES: tuple[Side, Side] = ("right", "left")

HEIGHT, MASS = 1.7, 70.0

_GRAVITY = 9.81
_AXES = {"roll": (1.0, 0.0, 0.0), "pitch": (0.0, 1.0, 0.0), "yaw": (0.0, 0.0, 1.0)}

# Fraction of a segment's mass in each of the small links between the axes at its upper end.
_BALL_FRACTION = 0.05

# Bend of the standing configuration [rad]: hips and ankles by this, knees by twice this; arms away from the body.
_BEND, _ARM_AWAY, _ELBOW_BEND = 0.3, 0.15, 0.3

_LEG = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
_ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_yaw", "wrist_pitch", "wrist_roll")
_HEAD = ("head_yaw", "head_pitch", "head_roll")


def humanoid(height: float = HEIGHT, mass: float = MASS, sex: Sex = "male") -> Description:
    """Describe a humanoid with 30 joints, a floating base and the mass distribution of a human body.

    Segment masses, lengths, centres of mass and radii of gyration are de Leva's (1996), scaled to height and mass. x is
    forward, y left, z up; at zero the body stands upright with straight legs, arms hanging and palms towards the
    thighs. The base link `pelvis` has its origin midway between the hip joints.

    Parameters
    ----------
    height
        Height from the soles to the top of the head [m].
    mass
        Mass of the whole body [kg].
    sex
        "male" or "female": which table of segments to use.

    Returns
    -------
    description : Description

    Notes
    -----
    Three axes intersect in each hip, shoulder and wrist and in the neck, two in each ankle. The links between such axes
    are small balls cut out of the segment that follows: at any joint angles, balls and segment together have the
    segment's mass, centre of mass and inertia. Torque limits scale with mass times height, armature with mass times
    height squared, damping with mass times height; velocity limits do not scale.

    Examples
    --------
    >>> body = humanoid(height=1.8, mass=80.0)
    >>> len(body.joints), round(sum(link.inertia.mass for link in body.links if link.inertia), 9)
    (30, 80.0)
    """
    body = proportions(height, mass, sex)
    parts = _Parts(body)
    parts.add_link("pelvis", body.standing("lower_trunk"), _Look(shapes.pelvis(body), figure.pelvis(body)))
    for side in _SIDES:
        _add_leg(parts, side)
    trunk = solids.combine([body.standing("middle_trunk"), body.standing("upper_trunk", body.length["middle_trunk"])])
    look = _Look(shapes.torso(body), figure.torso(body))
    parts.add("torso_yaw", "", "pelvis", "torso", (0.0, 0.0, body.length["lower_trunk"]), trunk, look)
    for side in _SIDES:
        _add_arm(parts, side)
    neck = (0.0, 0.0, body.torso_length)
    _add_ball(
        parts, "", _HEAD, "torso", "head", neck, body.standing("head"), _Look(shapes.head(body), figure.head(body))
    )
    parts.add_frame("head_top", "head", (0.0, 0.0, body.length["head"]))
    return Description(
        name="humanoid",
        links=tuple(parts.links),
        joints=tuple(parts.joints),
        frames=tuple(parts.frames),
        configurations=_configurations(body),
        chains=_chains(),
        end_effectors={
            "left_hand": "left_palm",
            "right_hand": "right_palm",
            "left_foot": "left_sole",
            "right_foot": "right_sole",
            "head": "head",
        },
        base="floating",
        collision_exclusions=tuple(parts.neighbours),
    )


@dataclass(frozen=True, eq=False)
class _Look:
    """The collision shape of a link, None if it has none, and its visual shapes."""

    solid: Shape | None
    visuals: tuple[Shape, ...]

    @classmethod
    def of_limb(cls, body: Proportions, segment: str) -> _Look:
        return cls(shapes.limb(body, segment), figure.limb(body, segment))


@dataclass
class _Parts:
    """The links, joints and frames added so far."""

    body: Proportions
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    neighbours: list[tuple[str, str]] = field(default_factory=list)

    def add_link(self, name: str, inertia: Inertia, look: _Look) -> None:
        solid = () if look.solid is None else (look.solid,)
        self.links.append(Link(name, inertia, visuals=look.visuals, collisions=solid))

    def add(
        self, kind: str, side: Side, parent: str, child: str, at: Sequence[float], inertia: Inertia, look: _Look
    ) -> None:
        """Add a link and the joint of the table's `kind` that moves it, `at` [m] in the parent's frame."""
        self.add_joint(kind, side, parent, child, at)
        self.add_link(child, inertia, look)

    def add_joint(self, kind: str, side: Side, parent: str, child: str, at: Sequence[float]) -> None:
        row, body = JOINTS[kind], self.body
        lower, upper = row.limits(side)
        moment = body.total_mass * _GRAVITY * body.height
        joint = Joint(
            name=_sided(side, kind),
            kind="revolute",
            parent=parent,
            child=child,
            T_parent_child=_translation(at),
            axis=np.array(_AXES[row.axis]),
            lower=lower,
            upper=upper,
            velocity=row.speed,
            effort=row.torque * moment,
            damping=row.damping * moment,
            armature=row.armature * body.total_mass * body.height**2,
        )
        self.joints.append(joint)

    def add_frame(self, name: str, link: str, at: Sequence[float]) -> None:
        self.frames.append(Frame(name, link, _translation(at)))


def _add_leg(parts: _Parts, side: Side) -> None:
    body = parts.body
    pelvis_hip = (0.0, _outward(side) * body.hip_half_width, 0.0)
    thigh, shank, foot = (_sided(side, name) for name in ("thigh", "shank", "foot"))
    _add_ball(parts, side, _LEG[:3], "pelvis", thigh, pelvis_hip, body.hanging("thigh"), _Look.of_limb(body, "thigh"))
    knee = (0.0, 0.0, -body.length["thigh"])
    parts.add("knee", side, thigh, shank, knee, body.hanging("shank"), _Look.of_limb(body, "shank"))
    ankle = (0.0, 0.0, -body.length["shank"])
    _add_ball(parts, side, _LEG[4:], shank, foot, ankle, body.foot(), _Look(shapes.foot(body), figure.foot(body)))
    middle = 0.5 * body.foot_length - body.heel_to_ankle
    parts.add_frame(_sided(side, "sole"), foot, (middle, 0.0, -body.ankle_height))


def _add_arm(parts: _Parts, side: Side) -> None:
    body = parts.body
    shoulder = (0.0, _outward(side) * body.shoulder_half_width, body.shoulder_height - body.length["lower_trunk"])
    upper, fore, hand = (_sided(side, name) for name in ("upper_arm", "forearm", "hand"))
    upper_arm = body.hanging("upper_arm")
    _add_ball(parts, side, _ARM[:3], "torso", upper, shoulder, upper_arm, _Look.of_limb(body, "upper_arm"))
    elbow = (0.0, 0.0, -body.length["upper_arm"])
    parts.add("elbow", side, upper, fore, elbow, body.hanging("forearm"), _Look.of_limb(body, "forearm"))
    wrist = (0.0, 0.0, -body.length["forearm"])
    look = _Look(shapes.hand(body), figure.hand(body, _outward(side)))
    _add_ball(parts, side, _ARM[4:], fore, hand, wrist, body.hand(), look)
    # The palm's frame lies on its surface, level with the hand's centre of mass, where a gripped bar would be.
    level = -body.com["hand"] * body.length["hand"]
    parts.add_frame(_sided(side, "palm"), hand, (0.0, -_outward(side) * 0.5 * shapes.hand(body).size[1], level))


def _add_ball(
    parts: _Parts,
    side: Side,
    kinds: Sequence[str],
    parent: str,
    child: str,
    at: Sequence[float],
    segment: Inertia,
    look: _Look,
) -> None:
    """Add joints whose axes intersect in one point, with a small ball as link between each two of them."""
    radius = shapes.joint_radius(parts.body, kinds[0].split("_")[0])
    # Segments connected by a ball link overlap there, as in any body.
    parts.neighbours.append((parent, child))
    ball = solids.sphere(_BALL_FRACTION * segment.mass, radius)
    drawn: tuple[Shape, ...] = (figure.joint_ball(radius),)  # once: the balls of all axes coincide
    for kind in kinds[:-1]:
        name = _sided(side, f"{kind}_link")
        parts.add_joint(kind, side, parent, name, at)
        parts.add_link(name, ball, _Look(None, drawn))
        drawn = ()
        parent, at = name, (0.0, 0.0, 0.0)
    rest = solids.remove(segment, [ball] * (len(kinds) - 1))
    parts.add(kinds[-1], side, parent, child, at, rest, look)


def _chains() -> dict[str, tuple[str, ...]]:
    return {
        "right_arm": tuple(_sided("right", name) for name in _ARM),
        "left_arm": tuple(_sided("left", name) for name in _ARM),
        "right_leg": tuple(_sided("right", name) for name in _LEG),
        "left_leg": tuple(_sided("left", name) for name in _LEG),
        "torso": ("torso_yaw",),
        "head": _HEAD,
    }


def _configurations(body: Proportions) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return "upright" (all joints at zero) and "standing" (knees bent), both with the soles on z = 0."""
    leg = body.length["thigh"] + body.length["shank"]
    standing: dict[str, tuple[float, ...]] = {"root_joint": _upright_base(body.ankle_height + leg * math.cos(_BEND))}
    for side in _SIDES:
        standing[f"{side}_hip_pitch"] = (-_BEND,)
        standing[f"{side}_knee"] = (2.0 * _BEND,)
        standing[f"{side}_ankle_pitch"] = (-_BEND,)
        standing[f"{side}_shoulder_roll"] = (_outward(side) * _ARM_AWAY,)
        standing[f"{side}_elbow"] = (-_ELBOW_BEND,)
    return {"standing": standing, "upright": {"root_joint": _upright_base(body.ankle_height + leg)}}


def _upright_base(z: float) -> tuple[float, ...]:
    return (0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0)


def _sided(side: Side, name: str) -> str:
    return f"{side}_{name}" if side else name


def _outward(side: str) -> float:
    return 1.0 if side == "left" else -1.0


def _translation(at: Sequence[float]) -> Array:
    T = np.eye(4)
    T[:3, 3] = at
    return T
