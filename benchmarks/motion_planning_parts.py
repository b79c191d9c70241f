"""The exact shapes of a robot and of a world, and the pairs of them that must not collide."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import exact
from motion_planning_problems import Problem

MARGIN = 1e-3  # [m] of bounding boxes, above the tolerance of the triangles of round shapes


@dataclass(frozen=True, eq=False)
class Part:
    """A shape of a link or of an object, in a frame of the robot or in the world (frame None)."""

    owner: str
    shape: kd.collision.Shape
    frame: str | None
    pose: Array


class Parts:
    """All shapes of a problem; links and objects move with the configuration."""

    def __init__(self, robot: kd.Robot, problem: Problem) -> None:
        self.robot = robot
        geometry = kd.collision.robot_geometry(robot)
        self.parts = [Part(part.link, part.shape, part.link, part.T_link_shape) for part in geometry]
        self.parts += [Part(thing.name, thing.shape, thing.attached_to, thing.pose) for thing in problem.objects]
        self.frames = list(dict.fromkeys(part.frame for part in self.parts if part.frame is not None))
        self.moving = [i for i, part in enumerate(self.parts) if part.frame is not None]
        self._frame = [self.frames.index(str(self.parts[i].frame)) for i in self.moving]
        self._pose = np.array([part.pose for part in self.parts])
        may_touch = allowed(robot, problem)
        self.pairs = [
            (i, k)
            for (i, a), (k, b) in combinations(enumerate(self.parts), 2)
            if (a.frame or b.frame) and a.owner != b.owner and frozenset((a.owner, b.owner)) not in may_touch
        ]

    def moving_poses(self, q: Array) -> Array:
        """Return the poses (..., moving, 4, 4) in the world of the parts that move, at configurations (..., nq)."""
        T_world_frame = kd.kinematics.poses(self.robot, q, frames=self.frames)
        return np.asarray(T_world_frame[..., self._frame, :, :] @ self._pose[self.moving])

    def poses(self, q: Array) -> Array:
        """Return the poses (n, parts, 4, 4) in the world at configurations (n, nq)."""
        found = np.tile(self._pose, (len(q), 1, 1, 1))
        found[:, self.moving] = self.moving_poses(q)
        return found

    def colliding(self, q: Array) -> set[tuple[str, str]]:
        """Return the pairs that collide at any of several configurations (n, nq), by coal on the exact shapes."""
        poses = self.poses(q)
        found = set()
        for n, k in np.argwhere(self.near(poses)):
            pair = [self.parts[i] for i in self.pairs[k]]
            placed = [(exact.Placed(self.parts[i].shape, poses[n, i]),) for i in self.pairs[k]]
            names = (pair[0].owner, pair[1].owner)
            if names not in found and exact.collide(*placed):
                found.add(names)
        return found

    def near(self, poses: Array) -> NDArray[np.bool_]:
        """Return which pairs have overlapping axis-aligned bounding boxes (n, pairs)."""
        boxes = np.array([bounds(part.shape) for part in self.parts])
        centres = np.einsum("npij,pj->npi", poses[..., :3, :3], boxes[:, 0]) + poses[..., :3, 3]
        halves = np.einsum("npij,pj->npi", np.abs(poses[..., :3, :3]), boxes[:, 1])
        i, k = np.array(self.pairs, dtype=int).reshape(-1, 2).T
        return np.asarray((np.abs(centres[:, i] - centres[:, k]) <= halves[:, i] + halves[:, k]).all(axis=2))


def allowed(robot: kd.Robot, problem: Problem) -> set[frozenset[str]]:
    """Return the pairs that may touch, without those that never touch by sampling: these are verified too."""
    found = {pair for pair, reason in kd.collision.allowed_pairs(robot).reasons.items() if reason != "never"}
    found |= {frozenset(pair) for pair in problem.allowed}
    for thing in problem.objects:
        if thing.attached_to is not None:
            found |= {frozenset((thing.name, link)) for link in (*thing.touch_links, thing.attached_to)}
    return found


def bounds(shape: kd.collision.Shape) -> tuple[Array, Array]:
    """Return the centre and half the size of the bounding box of a shape in its own frame."""
    points, radius = (
        (shape.points, shape.radius)
        if isinstance(shape, kd.collision.PointCloud)
        else (shape.triangles(0.1 * MARGIN).vertices, 0.0)
    )
    low, high = points.min(axis=0), points.max(axis=0)
    return 0.5 * (low + high), 0.5 * (high - low) + radius + MARGIN
