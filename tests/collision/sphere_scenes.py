"""Random spheres on the bodies of a robot among random obstacles, and collisions of them by NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import kinodyn as kd
from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.query import range_of
from kinodyn.layouts import layout
from kinodyn.model.compile import compile_tree
from kinodyn.model.robot import Robot


@dataclass
class Scene:
    """Groups of spheres fixed to links, pairs of groups, and obstacles: boxes, capsules, cylinders."""

    robot: Robot
    links: list[str]
    groups: list[Array]  # (n, 4) in link frames
    pairs: list[tuple[int, int]]
    boxes: np.ndarray
    capsules: np.ndarray
    cylinders: np.ndarray
    allowed: np.ndarray

    def query(self, q: Array, moves: np.ndarray | None = None) -> _core.CollisionQuery:
        """Return the query of the core for configurations (n, nq), or for motions of some joints from q[0]."""
        places = compile_tree(self.robot.description).places
        tables = []
        for link, rows in zip(self.links, self.groups, strict=True):
            place = places[link]
            tables.append(np.hstack([rows[:, :3] @ place.R.T + place.p, rows[:, 3:]]))
        spheres = _core.Spheres(
            np.array([places[link].body for link in self.links], np.int32),
            np.cumsum([0, *map(len, tables)]).astype(np.int32),
            np.concatenate(tables),
            np.array([(a, b, -1) for a, b in self.pairs], np.int32).reshape(-1, 3),
            [],
        )
        return _core.CollisionQuery(
            self.robot,
            spheres,
            _core.Obstacles(self.boxes, self.capsules, self.cylinders),
            self.allowed,
            q[0],
            *range_of(self.robot, q),
            np.ones(self.robot.nv, bool) if moves is None else moves,
            moves is None,
        )

    def checked(self) -> list[int]:
        """Return the indices of pairs whose distance can change."""
        pairs = set(self.query(self.robot.neutral()[None]).pairs)
        return [k for k, pair in enumerate(self.pairs) if pair in pairs]

    def clearance(self, q: Array) -> tuple[Array, Array]:
        """Return the distances (..., owners, groups) and (..., pairs) of configurations (n, nq), by NumPy."""
        poses = kd.kinematics.poses(self.robot, q, frames=self.links)
        spheres = [
            (np.einsum("nij,kj->nki", poses[:, g, :3, :3], rows[:, :3]) + poses[:, g, None, :3, 3], rows[:, 3])
            for g, rows in enumerate(self.groups)
        ]
        to_obstacles = np.full((len(q), len(self.allowed), len(self.groups)), np.inf)
        for g, (c, r) in enumerate(spheres):
            for table, distance in (
                (self.boxes, _box_distance),
                (self.capsules, _capsule_distance),
                (self.cylinders, _cylinder_distance),
            ):
                for row in table:
                    if not self.allowed[row["owner"], g]:
                        gap = (distance(row, c) - r).min(axis=1)
                        to_obstacles[:, row["owner"], g] = np.minimum(to_obstacles[:, row["owner"], g], gap)
        to_groups = np.empty((len(q), len(self.pairs)))
        for k, (a, b) in enumerate(self.pairs):
            (ca, ra), (cb, rb) = spheres[a], spheres[b]
            apart = np.linalg.norm(ca[:, :, None] - cb[:, None], axis=-1) - ra[:, None] - rb
            to_groups[:, k] = apart.min(axis=(1, 2))
        return to_obstacles, to_groups


def _box_distance(box: np.void, c: Array) -> Array:
    beyond = np.maximum(np.abs((c - box["p"]) @ box["R"]) - box["half"], 0.0)
    return np.asarray(np.linalg.norm(beyond, axis=-1))


def _capsule_distance(capsule: np.void, c: Array) -> Array:
    d = c - capsule["p"]
    along = np.clip(d @ capsule["axis"], -capsule["half"], capsule["half"])
    return np.asarray(np.linalg.norm(d - along[..., None] * capsule["axis"], axis=-1) - capsule["radius"])


def _cylinder_distance(cylinder: np.void, c: Array) -> Array:
    d = c - cylinder["p"]
    along = d @ cylinder["axis"]
    aside = np.linalg.norm(d - along[..., None] * cylinder["axis"], axis=-1) - cylinder["radius"]
    beyond = np.abs(along) - cylinder["half"]
    return np.asarray(np.hypot(np.maximum(aside, 0.0), np.maximum(beyond, 0.0)))


def random_rotation(rng: np.random.Generator, upright: bool = False) -> Array:
    """Return a rotation matrix; about z if it is to be upright."""
    vector = np.array([0.0, 0.0, rng.uniform(-3, 3)]) if upright else rng.normal(size=3)
    return np.asarray(kd.spatial.exp3(vector))


def random_scene(robot: Robot, seed: int, extent: float = 1.0, size: float = 0.15) -> Scene:
    """Return spheres on every link of the robot and obstacles within `extent` of the origin [m]."""
    rng = np.random.default_rng(seed)
    links = [link.name for link in robot.description.links]
    groups = [
        np.hstack([rng.uniform(-size, size, (n, 3)), rng.uniform(0.1 * size, 0.5 * size, (n, 1))])
        for n in rng.integers(1, 40, len(links))
    ]
    pairs = [(a, b) for a in range(len(links)) for b in range(a) if rng.random() < 0.3]
    boxes = np.zeros(6, layout("box_obstacle"))
    for i, row in enumerate(boxes):
        row["R"], row["p"] = random_rotation(rng, upright=i % 2 == 0), rng.uniform(-extent, extent, 3)
        row["half"], row["owner"] = rng.uniform(0.2 * size, 2 * size, 3), i
    tables = []
    for owner in (6, 9):
        table = np.zeros(3, layout("round_obstacle"))
        for i, row in enumerate(table):
            row["p"], row["axis"] = rng.uniform(-extent, extent, 3), random_rotation(rng)[:, 2]
            row["half"], row["radius"], row["owner"] = (
                rng.uniform(0, 3 * size),
                rng.uniform(0.2 * size, size),
                owner + i,
            )
        tables.append(table)
    allowed = rng.random((12, len(links))) < 0.1
    return Scene(robot, links, groups, pairs, boxes, tables[0], tables[1], allowed)
