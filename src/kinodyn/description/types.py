"""The content of a robot description, whatever file it came from.

Every reader (URDF, MJCF, DH) creates a `Description`, and `Robot` compiles one. Nothing here computes motion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.display import displayed

JointKind = Literal["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "ball"]
ShapeKind = Literal["box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh", "heightfield"]

# Larger numbers are not those of a robot, and products of several of them would overflow.
MAX_NUMBER = 1e30


@displayed
@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass properties of one link.

    Parameters
    ----------
    mass
        Mass [kg].
    com
        Centre of mass (3,) in the link frame [m].
    matrix
        Rotational inertia (3, 3) about the CoM, in link axes [kg m^2].
    """

    mass: float
    com: Array
    matrix: Array


@displayed
@dataclass(frozen=True, eq=False)
class Shape:
    """A visual or collision shape of a link.

    Parameters
    ----------
    kind
        "box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh" or "heightfield".
    size
        [m]: box (x, y, z) full lengths; sphere (radius,); cylinder and capsule (radius, length along z, without the
        caps); ellipsoid (three radii); plane (half x, half y), 0 for infinite; mesh: the scale (x, y, z);
        heightfield: lengths along x and y.
    T_link_shape
        Pose (4, 4) in the link.
    name
        Name, empty if it has none.
    mesh
        Path of the mesh file, None if it was not found.
    uri
        The mesh file as written in the description.
    rgba
        Colour, None if not given.
    triangles
        Vertices (n, 3) [m] and faces (m, 3) of a height field, or of a mesh that the description itself contains.
    """

    kind: ShapeKind
    size: tuple[float, ...]
    T_link_shape: Array
    name: str = ""
    mesh: Path | None = None
    uri: str = ""
    rgba: tuple[float, float, float, float] | None = None
    triangles: tuple[Array, NDArray[np.int64]] | None = None


@displayed
@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body.

    Parameters
    ----------
    name
        Name of the link.
    inertia
        Mass properties, None if the description has none.
    visuals, collisions
        Shapes to draw and to collide with.
    line
        Line in the file, None if unknown.
    """

    name: str
    inertia: Inertia | None = None
    visuals: tuple[Shape, ...] = ()
    collisions: tuple[Shape, ...] = ()
    line: int | None = None


@displayed
@dataclass(frozen=True)
class Mimic:
    """The position of a joint as a multiple of another joint's: multiplier * position + offset.

    Parameters
    ----------
    joint
        Name of the joint to follow.
    multiplier, offset
        Factor, and offset [rad or m].
    """

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@displayed
@dataclass(frozen=True, eq=False)
class Joint:
    """A connection from the link `parent` to the link `child`.

    Parameters
    ----------
    name, kind
        Name; "revolute", "continuous", "prismatic", "fixed", "floating", "planar" or "ball".
    parent, child
        Names of the links.
    T_parent_child
        Pose (4, 4) of the child in the parent when the joint is at `reference`.
    axis
        Unit vector (3,) in the child frame; the normal of the plane for a planar joint.
    reference
        Reference position of a one-coordinate joint [rad or m], 0 except in MJCF files.
    lower, upper
        Position limits [rad or m], infinite where there are none.
    velocity, effort
        Limits of velocity [rad/s or m/s] and effort [N m or N], infinite where there are none.
    damping, friction, armature
        Damping, dry friction and armature of each degree of freedom: [N m s/rad or N s/m], [N m or N], [kg m^2 or kg].
    mimic
        The joint that this one follows, None if it is independent.
    line
        Line in the file, None if unknown.
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


@displayed
@dataclass(frozen=True, eq=False)
class Frame:
    """A named frame that is not a link: a site, a tool centre point, the centre of a sole.

    Parameters
    ----------
    name, link
        Names of the frame and of its link.
    T_link_frame
        Pose (4, 4) in the link.
    """

    name: str
    link: str
    T_link_frame: Array


@displayed
@dataclass(frozen=True, eq=False)
class Description:
    """A whole robot: links, joints and frames in the order of the document.

    Parameters
    ----------
    name
        Name of the robot.
    links, joints, frames
        The parts.
    configurations
        Joint positions by joint name, for each named configuration: a floating joint has [x y z qx qy qz qw], a ball
        joint [qx qy qz qw], a planar joint [x y angle]; other joints are neutral.
    chains
        Joint names for each named chain.
    end_effectors
        Frame of each named end effector.
    collision_exclusions
        Pairs of links whose collision is not checked.
    gravity
        Gravity in the world [m/s^2].
    base
        "fixed" or "floating": how the root is connected to the world by default.
    world_frames
        Further names of the world: those of the frames in which SRDF's virtual joints place the robot, such as "odom".
    source
        The file, None if there is none.
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
    world_frames: tuple[str, ...] = ()
    source: Path | None = None
