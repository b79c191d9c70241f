"""What a robot description says, whatever file it came from.

Every reader (URDF, MJCF, DH) makes a `Description`; `Robot` compiles one. Nothing here computes motion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from kinodyn.arrays import Array

JointKind = Literal["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "ball"]
ShapeKind = Literal["box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh"]


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass properties of one link.

    `com` is in the link frame [m]; `matrix` is the rotational inertia about the centre of mass, in link axes [kg m^2].
    """

    mass: float
    com: Array
    matrix: Array


@dataclass(frozen=True, eq=False)
class Shape:
    """A visual or collision shape, placed in its link.

    `size` [m]: box (x, y, z) full lengths; sphere (radius,); cylinder and capsule (radius, length along z, without
    the caps); ellipsoid (three radii); plane (half x, half y), 0 for endless; mesh: the scale (x, y, z).
    `mesh` is the file's path, None if it was not found; `uri` is what the description wrote.
    """

    kind: ShapeKind
    size: tuple[float, ...]
    T_link_shape: Array
    name: str = ""
    mesh: Path | None = None
    uri: str = ""
    rgba: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid part. `inertia` is None when the description gives none."""

    name: str
    inertia: Inertia | None = None
    visuals: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()
    line: int | None = None


@dataclass(frozen=True)
class Mimic:
    """This joint's position is `multiplier` times the position of `joint` plus `offset`."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Joint:
    """A connection from the link `parent` to the link `child`.

    `T_parent_child` is the child's pose in the parent when the joint stands at `reference` (one-coordinate joints
    only; 0 unless an MJCF file says otherwise); `axis` is a unit vector in the child frame (normal of the plane for
    a planar joint). Limits: position [rad or m], velocity [rad/s or m/s], effort
    [N m or N]; infinite where there is none. Damping [N m s/rad or N s/m], friction [N m or N], armature
    [kg m^2 or kg] act on each degree of freedom of the joint.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    T_parent_child: Array = field(default_factory=lambda: np.eye(4))
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    reference: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    mimic: Mimic | None = None
    line: int | None = None


@dataclass(frozen=True, eq=False)
class Frame:
    """A named frame that is not a link: a site, a tool centre, the middle of a sole."""

    name: str
    link: str
    T_link_frame: Array


@dataclass(frozen=True, eq=False)
class Description:
    """A whole robot: links, joints and frames in the order of the document.

    `configurations` maps a name to joint positions by joint name (a floating joint takes [x y z qx qy qz qw], a ball
    joint [qx qy qz qw], a planar joint [x y angle]); joints that are not named stay at neutral. `chains` maps a name
    to joint names, `end_effectors` a name to a frame, `collision_exclusions` are pairs of links whose contact is not
    looked for. `base` is how the root link stands in the world when the
    caller does not say.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...] = ()
    frames: tuple[Frame, ...] = ()
    configurations: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    chains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    end_effectors: Mapping[str, str] = field(default_factory=dict)
    collision_exclusions: tuple[tuple[str, str], ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    base: Literal["fixed", "floating"] = "fixed"
    source: Path | None = None
