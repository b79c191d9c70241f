"""From a description to the flat tables of the core: one row per moving body, parents before children.

The frame of a body is chosen for speed: parallel to its parent's at position zero if the joint rotates about a
coordinate axis of that frame, so that rotations are mostly zeros and ones. Links and other frames are fixed in bodies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.base import root_link
from kinodyn.description.mimics import Leader, find_leaders
from kinodyn.description.types import Description, Inertia, Joint, Mimic
from kinodyn.layouts import codes, layout

KINDS = codes("joint_kind")
REVOLUTE = tuple(KINDS[f"revolute_{axis}"] for axis in "xyz")  # about a coordinate axis
REVOLUTE_ANY, PRISMATIC, BALL, FREE = (KINDS[name] for name in ("revolute_any", "prismatic", "ball", "free"))

COORDINATES = {"revolute": 1, "continuous": 1, "prismatic": 1, "planar": 3, "ball": 4, "floating": 7, "fixed": 0}
DOFS = {**COORDINATES, "ball": 3, "floating": 6}

ROUNDING = 1e-15

LOWER_TRIANGLE = ([0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2])  # elements of an inertia: xx xy yy xz yz zz


@dataclass(frozen=True)
class JointInfo:
    """A moving joint as `Robot.joints` lists it.

    `q` and `v` are its slices of the vectors; both are empty for a mimic joint.
    """

    name: str
    kind: str
    parent: str
    child: str
    q: slice
    v: slice
    mimic: Mimic | None


@dataclass
class Body:
    """One moving body: the joint that carries it, relative to its parent's frame, and its inertia."""

    kind: int
    parent: int
    iq: int
    iv: int
    scale: float
    offset: float
    R: Array
    p: Array
    axis: Array
    link: str
    mass: float = 0.0
    moment: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    R_body_link: Array = field(default_factory=lambda: np.eye(3))
    virtual: bool = False


@dataclass(frozen=True)
class Place:
    """The body in which something is fixed (-1 is the world), and its pose there."""

    body: int
    R: Array
    p: Array

    def then(self, T: Array) -> Place:
        return Place(self.body, _snap(self.R @ T[:3, :3]), self.R @ T[:3, 3] + self.p)


@dataclass
class Tree:
    """A description in the layout of the core; `places` are the frames: links depth first, then the others."""

    bodies: list[Body]
    joints: list[JointInfo]
    places: dict[str, Place]
    nq: int
    nv: int
    dof_joint: list[Joint]


def compile_tree(description: Description) -> Tree:
    """Compile a valid description: joints depth first, in document order."""
    ordered = list(_depth_first(description))
    infos, nq, nv = _number(ordered)
    leaders = find_leaders(infos)
    links = {link.name: link for link in description.links}
    root = root_link(description).name
    world = Place(-1, np.eye(3), np.zeros(3))
    tree = Tree(bodies=[], joints=infos, places={root: world}, nq=nq, nv=nv, dof_joint=[])
    for joint in ordered:
        _add_joint(tree, joint, leaders)
        place = tree.places[joint.child]
        inertia = links[joint.child].inertia
        if place.body >= 0 and inertia is not None:
            _add_inertia(tree.bodies[place.body], place, inertia)
    for frame in description.frames:
        tree.places[frame.name] = tree.places[frame.link].then(frame.T_link_frame)
    tree.dof_joint = [joint for joint in ordered if joint.mimic is None for _ in range(DOFS[joint.kind])]
    return tree


def link_order(description: Description) -> list[str]:
    """Return the names of the links, depth first, in the order of the frames."""
    return [root_link(description).name, *(joint.child for joint in _depth_first(description))]


def _depth_first(description: Description) -> Iterator[Joint]:
    below: dict[str, list[Joint]] = {}
    for joint in description.joints:
        below.setdefault(joint.parent, []).append(joint)
    stack = below.get(root_link(description).name, [])[::-1]
    while stack:
        joint = stack.pop()
        yield joint
        stack.extend(below.get(joint.child, ())[::-1])


def _number(ordered: list[Joint]) -> tuple[list[JointInfo], int, int]:
    """Assign each joint its slices of q and v."""
    infos: list[JointInfo] = []
    nq = nv = 0
    for joint in ordered:
        if joint.kind == "fixed":
            continue
        own = joint.mimic is None
        next_q = nq + (COORDINATES[joint.kind] if own else 0)
        next_v = nv + (DOFS[joint.kind] if own else 0)
        info = JointInfo(
            name=joint.name,
            kind=joint.kind,
            parent=joint.parent,
            child=joint.child,
            q=slice(nq, next_q),
            v=slice(nv, next_v),
            mimic=joint.mimic,
        )
        infos.append(info)
        nq, nv = next_q, next_v
    return infos, nq, nv


def _add_joint(tree: Tree, joint: Joint, leaders: dict[str, Leader[JointInfo]]) -> None:
    here = tree.places[joint.parent].then(joint.T_parent_child)
    if joint.kind == "fixed":
        tree.places[joint.child] = here
        return
    leader = leaders[joint.name]
    multiplier, offset = leader.multiplier, leader.offset
    iq, iv = leader.joint.q.start, leader.joint.v.start
    axis = here.R @ joint.axis
    if joint.kind in ("revolute", "continuous"):
        _add_revolute(tree, joint, here, axis, (iq, iv), (multiplier, offset - joint.reference))
    elif joint.kind == "prismatic":
        _append(tree, PRISMATIC, joint, here, (iq, iv), (multiplier, offset - joint.reference), axis=axis)
    elif joint.kind == "planar":
        _add_planar(tree, joint, here, axis, (iq, iv))
    else:  # the rates are in the link's own axes, so these are the axes of the body
        kind = BALL if joint.kind == "ball" else FREE
        _append(tree, kind, joint, here, (iq, iv), (1.0, 0.0), R=here.R)


def _add_revolute(
    tree: Tree, joint: Joint, here: Place, axis: Array, index: tuple[int, int], motion: tuple[float, float]
) -> None:
    k = int(np.argmax(np.abs(axis)))
    sign = math.copysign(1.0, axis[k])
    if np.abs(axis - sign * np.eye(3)[k]).max() <= ROUNDING:
        _append(tree, REVOLUTE[k], joint, here, index, (sign * motion[0], sign * motion[1]))
    else:
        _append(tree, REVOLUTE_ANY, joint, here, index, motion, R=frame_along(axis))


def _add_planar(tree: Tree, joint: Joint, here: Place, normal: Array, index: tuple[int, int]) -> None:
    """Yield the bodies of a planar joint: two prismatic joints and a revolute one, with massless bodies in between."""
    frame = here.R @ frame_along(joint.axis)
    iq, iv = index
    for k in range(2):
        _append(tree, PRISMATIC, joint, here, (iq + k, iv + k), (1.0, 0.0), axis=frame[:, k])
        tree.bodies[-1].virtual = True
        body = len(tree.bodies) - 1
        here = Place(body, tree.places[joint.child].R, np.zeros(3))
    _add_revolute(tree, joint, here, normal, (iq + 2, iv + 2), (1.0, 0.0))


def _append(
    tree: Tree,
    kind: int,
    joint: Joint,
    here: Place,
    index: tuple[int, int],
    motion: tuple[float, float],
    *,
    R: Array | None = None,
    axis: Array | None = None,
) -> None:
    """Add the body of a joint whose origin is at `here` in its parent's body."""
    R = np.eye(3) if R is None else R
    R_body_link = _snap(R.T @ here.R)
    axis = np.array([0.0, 0.0, 1.0]) if axis is None else axis
    (iq, iv), (scale, offset) = index, motion
    body = Body(
        kind=kind,
        parent=here.body,
        iq=iq,
        iv=iv,
        scale=scale,
        offset=offset,
        R=R,
        p=here.p,
        axis=axis,
        link=joint.child,
        R_body_link=R_body_link,
    )
    tree.bodies.append(body)
    tree.places[joint.child] = Place(len(tree.bodies) - 1, R_body_link, np.zeros(3))


def _add_inertia(body: Body, place: Place, inertia: Inertia) -> None:
    com = place.R @ inertia.com + place.p
    body.mass += inertia.mass
    body.moment += inertia.mass * com
    about_origin = inertia.mass * (com @ com * np.eye(3) - np.outer(com, com))
    body.inertia += place.R @ inertia.matrix @ place.R.T + about_origin


def frame_along(axis: Array) -> Array:
    """Return the shortest rotation that maps z to a unit axis."""
    x, y, z = axis
    if z >= 0.0:  # Rodrigues' formula without division by sin
        k = 1.0 / (1.0 + z)
        return np.array([[1 - k * x * x, -k * x * y, x], [-k * x * y, 1 - k * y * y, y], [-x, -y, z]])
    flipped = frame_along(-np.asarray(axis))
    return flipped @ np.diag([1.0, -1.0, -1.0])


def _snap(R: Array) -> Array:
    """Round entries that are an integer up to rounding: cos(pi / 2) should be exactly zero."""
    whole = np.round(R)
    return np.where(np.abs(R - whole) <= ROUNDING, whole, R)


def body_table(bodies: list[Body]) -> np.ndarray:
    """Write the bodies in the layout of the core."""
    table = np.zeros(len(bodies), dtype=layout("body"))
    for row, body in zip(table, bodies, strict=True):
        row["kind"], row["parent"], row["iq"], row["iv"] = body.kind, body.parent, body.iq, body.iv
        row["scale"], row["offset"] = body.scale, body.offset
        row["R"], row["p"], row["axis"] = body.R, body.p, body.axis
        row["mass"], row["h"], row["I"] = body.mass, body.moment, body.inertia[LOWER_TRIANGLE]
        row["R_link"] = body.R_body_link
    return table


def frame_table(places: list[Place]) -> np.ndarray:
    """Write the frames in the layout of the core."""
    table = np.zeros(len(places), dtype=layout("frame"))
    for row, place in zip(table, places, strict=True):
        row["body"], row["R"], row["p"] = place.body, place.R, place.p
    return table


def inertial_parameters(bodies: list[Body]) -> Array:
    """List mass, mass * com and inertia about the origin, in link axes, ten numbers for each body that is a link."""
    rows = []
    for b in bodies:
        if b.virtual:
            continue
        R = b.R_body_link
        inertia = R.T @ b.inertia @ R
        rows.append(np.concatenate([[b.mass], R.T @ b.moment, inertia[LOWER_TRIANGLE]]))
    return np.concatenate(rows) if rows else np.zeros(0)
