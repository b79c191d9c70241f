"""Friction cones of contacts as linear inequalities."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from kinodyn.arrays import Array
from kinodyn.dynamics.contact import Contact
from kinodyn.dynamics.contact.constraints import POINT, SURFACE

LINE_DIRECTIONS = 0b110111  # all directions but rotation about x
NOMINAL_LENGTH = 0.1  # [m] relates moments to forces of a contact without a size


class Patch(NamedTuple):
    """Where and how a contact touches, in its frame."""

    mask: int  # directions that it keeps, bits of x y z rx ry rz
    p: Array  # (3,) its middle
    R: Array  # (3, 3) z is the normal, x nearest to the frame's x, or along a line of corners
    length: float  # [m] from its middle to its farthest corner
    cone: Array  # (rows, kept directions): cone @ (forces, moments / length) <= 0, rows of unit length


def patch(contact: Contact, normal: Array) -> Patch:
    """Find the feasible forces of a contact, for its normal (3,) in its frame.

    Friction is a pyramid within the cone. Corners make a polygon in which the centre of pressure stays; a line of them
    leaves the rotation about it free. A surface without corners transmits any moment, like a gripping hand.
    """
    mu = contact.friction / np.sqrt(2.0)
    if contact.corners is None:
        rows = np.array([[1.0, 0.0, -mu], [-1.0, 0.0, -mu], [0.0, 1.0, -mu], [0.0, -1.0, -mu]])
        mask = SURFACE if contact.kind == "surface" else POINT
        cone = np.zeros((4, 6 if mask == SURFACE else 3))
        cone[:, :3] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return Patch(mask=mask, p=contact.point, R=_axes(normal, None), length=NOMINAL_LENGTH, cone=cone)
    middle = contact.corners.mean(axis=0)
    away = contact.corners - middle
    length = float(np.linalg.norm(away, axis=1).max())
    if length < 1e-6:  # all in one place
        single = Contact(contact.frame, kind="point", point=middle, friction=contact.friction)
        return patch(single, normal)
    _, sizes, directions = np.linalg.svd(away)
    if sizes[1] <= 1e-6 * sizes[0]:
        mask, R = LINE_DIRECTIONS, _axes(normal, directions[0])
    else:
        sole = directions[2] if directions[2] @ normal > 0 else -directions[2]
        mask, R = SURFACE, _axes(sole, None)
    corners = (away @ R / length).round(12)
    closed_form = _rectangle_cone(corners, float(mu))
    if closed_form is not None:
        return Patch(mask=mask, p=middle, R=R, length=length, cone=closed_form)
    facets = _hull(corners.tobytes(), round(float(mu), 12), mask == LINE_DIRECTIONS)
    return Patch(mask=mask, p=middle, R=R, length=length, cone=facets)


def _axes(z: Array, x: Array | None) -> Array:
    """Return the rotation (3, 3) with this z whose x is nearest to the one given or to the frame's."""
    own = np.array([1.0, 0.0, 0.0]) if x is None else x
    if abs(own @ z) > 0.9:
        own = np.array([0.0, 1.0, 0.0]) if abs(z[1]) < 0.9 else np.array([0.0, 0.0, 1.0])
    own = own - (own @ z) * z
    own /= np.linalg.norm(own)
    return np.stack([own, np.cross(z, own), z], axis=1)


def _rectangle_cone(corners: Array, mu: float) -> Array | None:
    """Return the rows of a rectangle of corners (4, 3) along the axes, around the origin; None for other shapes.

    They are the 16 of S. Caron, Q.-C. Pham, Y. Nakamura, "Stability of surface contacts for humanoid robots:
    closed-form formulae of the contact wrench cone for rectangular support areas", 2015, (15) to (20). A controller
    reshapes contacts in the tick of a touchdown, in which `_hull` would take too long.
    """
    x, y = np.abs(corners[0, :2]).tolist()
    around = {(x, y), (x, -y), (-x, y), (-x, -y)}
    if len(corners) != 4 or not x or not y or corners[:, 2].any() or {(a, b) for a, b, _ in corners.tolist()} != around:
        return None
    signs = (1.0, -1.0)
    rows: list[tuple[float, ...]] = []
    rows += [row for s in signs for row in ((s, 0, -mu, 0, 0, 0), (0, s, -mu, 0, 0, 0))]  # friction
    rows += [row for s in signs for row in ((0, 0, -y, s, 0, 0), (0, 0, -x, 0, s, 0))]  # centre of pressure
    turn = -mu * (x + y)
    rows += [(a * y, b * x, turn, s * a * mu, s * b * mu, s) for a in signs for b in signs for s in signs]
    found = np.array(rows)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=256)
def _hull(corner_bytes: bytes, mu: float, line: bool) -> Array:
    """Compute the facets of all wrenches that forces in pyramids at these corners (n, 3) add up to.

    Wrenches of normal force 1 are the convex hull of those of the pyramids' edges; its facets are the rows.
    """
    corners = np.frombuffer(corner_bytes).reshape(-1, 3)
    edges = np.array([[x, y, 1.0] for x in (mu, -mu) for y in (mu, -mu)])
    forces = np.tile(edges, (len(corners), 1))
    moments = np.cross(np.repeat(corners, 4, axis=0), forces)
    kept = [0, 1, 4, 5] if line else [0, 1, 3, 4, 5]
    points = np.concatenate([forces, moments], axis=1)[:, kept]
    # equal sizes in all directions: friction may be far smaller than 1
    scale = np.abs(points).max(axis=0)
    equations: Array = np.unique(ConvexHull(points / scale).equations.round(9), axis=0)
    rows: Array = np.insert(equations[:, :-1] / scale, 2, equations[:, -1], axis=1)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows.flags.writeable = False
    return rows
