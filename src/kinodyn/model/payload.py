"""A payload that is fixed to a frame of a robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import positive, symmetric, vector
from kinodyn.description.types import Description, Inertia
from kinodyn.errors import InputError, unknown_name


def add_payload(
    description: Description,
    frame: str,
    mass: float,
    com: ArrayLike = (0.0, 0.0, 0.0),
    inertia: ArrayLike | None = None,
) -> Description:
    """Return a description whose link at `frame` also carries a payload; see `Robot.with_payload`."""
    link, T_link_frame = _carrier(description, frame)
    R, p = T_link_frame[:3, :3], T_link_frame[:3, 3]
    centre = R @ vector("com of the payload", com, 3) + p
    added = Inertia(positive("mass of the payload", mass), centre, R @ _rotational_inertia(inertia) @ R.T)
    links = tuple(
        replace(each, inertia=combined(each.inertia, added)) if each.name == link else each
        for each in description.links
    )
    return replace(description, links=links)


def combined(first: Inertia | None, second: Inertia) -> Inertia:
    """Add the mass properties of two bodies that are fixed to each other, in the same frame."""
    if first is None or first.mass == 0:
        return second
    mass = first.mass + second.mass
    com = (first.mass * first.com + second.mass * second.com) / mass
    return Inertia(mass, com, _about(first, com) + _about(second, com))


def _about(body: Inertia, point: Array) -> Array:
    """Compute the rotational inertia (3, 3) about a point by the parallel-axis theorem."""
    r = body.com - point
    return np.asarray(body.matrix + body.mass * ((r @ r) * np.eye(3) - np.outer(r, r)))


def _carrier(description: Description, frame: str) -> tuple[str, Array]:
    """Find the link of a frame, and the pose of the frame in it."""
    for found in description.frames:
        if found.name == frame:
            return found.link, found.T_link_frame
    names = [link.name for link in description.links]
    if frame not in names:
        raise unknown_name("frame", frame, [*names, *(found.name for found in description.frames)])
    return frame, np.eye(4)


def _rotational_inertia(inertia: ArrayLike | None) -> Array:
    if inertia is None:
        return np.zeros((3, 3))
    matrix = symmetric("inertia of the payload", inertia, 3)
    moments = np.linalg.eigvalsh(matrix)
    if moments[0] < 0 or moments[2] > moments[:2].sum() * (1.0 + 1e-9):
        raise InputError(
            "inertia of the payload is not physical: its principal moments must be nonnegative, and none may exceed "
            f"the sum of the others, got {moments.tolist()}"
        )
    return matrix
