"""Polyhedra that enclose boxes and round shapes."""

from __future__ import annotations

import math

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.height_fields import halves
from kinodyn.description.meshes import TriangleMesh

MAX_RINGS = 64
_CORNERS = 0.5 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
_SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])


def box_mesh(size: Array) -> TriangleMesh:
    """Return a box of full lengths `size` (3,) [m]."""
    return TriangleMesh(_CORNERS * size, halves(_SIDES))


def rings(radius: float, tolerance: float) -> int:
    """Return the number of steps of a quarter turn for which a polyhedron around a sphere exceeds it by `tolerance`.

    Its faces touch the sphere and its corners are up to 1 / cos^2(step / 2) farther out, where the step is the angle.
    """
    step = 2.0 * math.acos(1.0 / math.sqrt(1.0 + max(tolerance, 1e-6) / radius))
    return min(max(math.ceil(0.5 * math.pi / max(step, 1e-9)), 2), MAX_RINGS)


def revolved_mesh(radius: float, length: float, steps: int, caps: bool = True) -> TriangleMesh:
    """Return a polyhedron around a capsule, a sphere (length 0) or, without caps, a cylinder, all along z.

    `steps` is the number of flat faces in a quarter turn. Every face touches the round shape or is outside it.
    """
    half_step = 0.25 * math.pi / steps
    outer = radius / math.cos(half_step)
    if caps:
        latitudes = np.linspace(0.0, 0.5 * math.pi, steps + 1)[:-1]
        outer /= math.cos(half_step)
        upper = np.stack([outer * np.cos(latitudes), 0.5 * length + outer * np.sin(latitudes)], axis=1)
        top = 0.5 * length + outer
    else:
        upper, top = np.array([[outer, 0.5 * length]]), 0.5 * length
    lower = upper[::-1] * (1.0, -1.0)
    profile = np.concatenate([lower, upper if length > 0.0 else upper[1:]])
    return _revolved(profile, top, 4 * steps)


def _revolved(profile: Array, top: float, sections: int) -> TriangleMesh:
    """Revolve radii and heights (n, 2) about z, and close both ends with a point at -top and one at top."""
    angles = 2.0 * math.pi / sections * np.arange(sections)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    walls = np.concatenate(
        [profile[:, None, :1] * circle, np.broadcast_to(profile[:, None, 1:], (len(profile), sections, 1))], axis=2
    ).reshape(-1, 3)
    here = np.arange(sections)
    following = (here + 1) % sections
    ring = sections * np.arange(len(profile) - 1)[:, None]
    quads = np.stack([ring + here, ring + following, ring + following + sections, ring + here + sections], axis=-1)
    bottom, last = len(walls), len(walls) - sections
    ends = [
        np.stack([following, here, np.full(sections, bottom)], axis=1),
        np.stack([last + here, last + following, np.full(sections, bottom + 1)], axis=1),
    ]
    vertices = np.concatenate([walls, [[0.0, 0.0, -top], [0.0, 0.0, top]]])
    return TriangleMesh(vertices, np.concatenate([halves(quads.reshape(-1, 4)), *ends]))
