"""Contact points on the undersides of collision shapes, and the effective mass there."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import nonnegative, numbers
from kinodyn.description.types import Shape
from kinodyn.dynamics import factorize
from kinodyn.dynamics.contact.constraints import Contact
from kinodyn.dynamics.contact.dynamics import jacobian
from kinodyn.errors import InputError
from kinodyn.model.chain import chain, frame_name
from kinodyn.model.robot import Robot

SOLE_TOLERANCE = 5e-3  # [m] height above the lowest point up to which points belong to the sole
RIM_POINTS = 8  # on the rim of an upright cylinder


@check_types
def sole_points(
    robot: Robot, frame: str, *, down: ArrayLike = (0.0, 0.0, -1.0), tolerance: float = SOLE_TOLERANCE
) -> Array:
    """Find the points at which the collision shapes of a frame's body stand on flat ground.

    The lowest points of each shape: corners of a box, the lowest point of a sphere, an ellipsoid and of both ends of a
    capsule, points on the rims of a cylinder. Shapes of all links fixed to the frame are included. The points are fixed
    to the body: a sphere does not roll.

    Parameters
    ----------
    robot : Robot
    frame : str
    down : (3,)
        Direction to the ground in the frame, of any length.
    tolerance : float
        Height [m] above the lowest point up to which points are included.

    Returns
    -------
    (n, 3)
        Positions in the frame [m].

    Raises
    ------
    InputError
        If the body has no collision shapes but meshes; define its points by hand.

    Examples
    --------
    >>> import kinodyn as kd
    >>> kd.contact.sole_points(kd.load("humanoid"), "left_sole").shape
    (4, 3)
    """
    direction = numbers("down", down, 3)
    length = float(np.linalg.norm(direction))
    if direction.ndim != 1 or not length > 1e-9:
        raise InputError(f"down must be one nonzero direction (3,), got {down!r}")
    nonnegative("tolerance", tolerance)
    direction = direction / length
    found, meshes = [], 0
    for T_frame_shape, shape in _shapes(robot, frame):
        R, p = T_frame_shape[:3, :3], T_frame_shape[:3, 3]
        corners = _lowest(shape, direction @ R)
        meshes += corners is None
        if corners is not None:
            found.append(p + corners @ R.T)
    if not found:
        has = f"only shapes without corners ({meshes} meshes or planes)" if meshes else "no collision shapes"
        raise InputError(f"the body of frame {frame!r} has {has}; pass the contact points to SoftContacts explicitly")
    points = np.vstack(found)
    depth = points @ direction
    chosen = points[depth >= depth.max() - tolerance]
    _, first = np.unique(np.round(chosen, 9), axis=0, return_index=True)
    return np.asarray(chosen[np.sort(first)])


def least_effective_mass(robot: Robot, frame: str, points: ArrayLike, q: ArrayLike) -> float:
    """Compute the least effective mass [kg] at points (n, 3) of a frame over a batch of q (..., nq)."""
    contacts = [Contact(frame, corners=points)]
    rows = jacobian(robot, q, contacts)
    factor = factorize(robot, np.asarray(q, dtype=float)[..., None, :])  # one more batch axis, that of the rows
    mobility = rows @ np.swapaxes(factor.solve(rows), -1, -2)
    greatest = float(np.linalg.eigvalsh(mobility).max(initial=0.0))
    if not greatest > 1e-12:
        raise InputError(f"the robot cannot move the points on {frame!r}; give a frame that moves")
    return 1.0 / greatest


def _shapes(robot: Robot, frame: str) -> list[tuple[Array, Shape]]:
    """List the collision shapes of the body that carries a frame, each with its pose in the frame."""
    body = _carrier(robot, frame)
    T_frame_world = np.linalg.inv(kinematics.pose(robot, robot.neutral(), frame))
    shapes = []
    for link in robot.description.links:
        if link.collisions and _carrier(robot, link.name) == body:
            T = T_frame_world @ kinematics.pose(robot, robot.neutral(), link.name)
            shapes += [(T @ shape.T_link_shape, shape) for shape in link.collisions]
    return shapes


def _carrier(robot: Robot, frame: str) -> str | None:
    """Return the last moving joint before a frame; frames with the same one are rigidly connected."""
    moving = [joint.name for joint in chain(robot, frame_name(robot, frame))[0] if joint.kind != "fixed"]
    return moving[-1] if moving else None


def _lowest(shape: Shape, down: Array) -> Array | None:
    """Return the points (n, 3) of a shape, in its own axes, that may be lowest along a direction; None for meshes."""
    size: Array = np.array(shape.size)
    if shape.kind == "box":
        return np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    if shape.kind == "sphere":
        return np.array([size[0] * down])
    if shape.kind == "ellipsoid":
        return np.array([size**2 * down / np.linalg.norm(size * down)])
    if shape.kind not in ("capsule", "cylinder"):
        return None
    ends: Array = np.array([[0.0, 0.0, -0.5 * size[1]], [0.0, 0.0, 0.5 * size[1]]])
    if shape.kind == "capsule":
        return np.asarray(ends + size[0] * down)
    across = float(np.hypot(down[0], down[1]))
    if across > 1e-6:  # it lies or leans: one point of each rim is the lowest
        return np.asarray(ends + size[0] * np.array([down[0] / across, down[1] / across, 0.0]))
    angles = 2.0 * np.pi * np.arange(RIM_POINTS) / RIM_POINTS
    rim = size[0] * np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=-1)
    return np.asarray(ends[:, None] + rim).reshape(-1, 3)
