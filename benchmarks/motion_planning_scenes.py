"""Scenes of the seven kinds of MotionBenchMaker, in the size of any arm, with a region that its tool is to reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from kinodyn.arrays import Array

REACH = 0.85  # [m] of the arm that the lengths below are made for
BOARD = 0.02  # [m] thickness of boards
Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Primitive:
    """A box (its three sides) or a cylinder (height and radius) as MoveIt writes them; upright, turned by `yaw`."""

    name: str
    kind: str
    dimensions: tuple[float, ...]
    position: Vector
    yaw: float = 0.0

    def moved(self, scale: float, x: float, y: float, z: float, yaw: float) -> Primitive:
        """Return it scaled, then turned about z, then moved."""
        return replace(
            self,
            dimensions=tuple(scale * length for length in self.dimensions),
            position=moved(self.position, scale, x, y, z, yaw),
            yaw=self.yaw + yaw,
        )


@dataclass(frozen=True)
class Scene:
    """Obstacles, and boxes (centre, half of the sides) in which the tool may be at the goal.

    At the goal the arm does not touch `barriers`, which are not obstacles: an arm between bars could not leave.

    Coordinates: x away from the robot, whose shoulder is at x = 0; z = 0 is the height of its shoulder.
    """

    obstacles: tuple[Primitive, ...]
    regions: tuple[tuple[Vector, Vector], ...]
    barriers: tuple[Primitive, ...] = ()


def moved(position: Vector, scale: float, x: float, y: float, z: float, yaw: float) -> Vector:
    """Return a position scaled, turned about z and moved."""
    c, s, (a, b, height) = np.cos(yaw), np.sin(yaw), position
    return float(scale * (c * a - s * b) + x), float(scale * (s * a + c * b) + y), float(scale * height + z)


def box(name: str, size: Vector, centre: Vector) -> Primitive:
    """Return a box."""
    return Primitive(name, "box", size, centre)


def cans(rng: np.random.Generator, places: Iterable[Vector], height: float, radius: float) -> Iterator[Primitive]:
    """Yield cylinders that stand near some places on boards."""
    for k, (x, y, z) in enumerate(places):
        dx, dy = rng.uniform(-0.05, 0.05, 2)
        yield Primitive(f"can{k}", "cylinder", (height, radius), (x + dx, y + dy, z + 0.5 * height + 0.002))


def bookshelf(rng: np.random.Generator, width: float, depth: float, height: float, levels: int) -> Scene:
    """Return a shelf with cans; the goal is in one of its compartments."""
    x, bottom = 0.65 + 0.5 * depth, -0.35 * height
    step = height / levels
    boards = [box(f"board{k}", (depth, width, BOARD), (x, 0.0, bottom + k * step)) for k in range(levels + 1)]
    middle = bottom + 0.5 * height
    sides = [box(f"side{side:+d}", (depth, BOARD, height), (x, 0.5 * side * width, middle)) for side in (-1, 1)]
    back = box("back", (BOARD, width, height), (x + 0.5 * depth, 0.0, middle))
    places = [(x, y * width, bottom + k * step + 0.5 * BOARD) for k in range(levels) for y in (-0.3, 0.3)]
    standing = cans(rng, places, min(0.14, 0.5 * step), 0.03)
    half = (0.15 * depth, 0.1 * width, 0.15 * step)
    regions = [((x - 0.25 * depth, 0.0, bottom + (k + 0.5) * step), half) for k in range(levels)]
    return Scene((*boards, *sides, back, *standing), tuple(regions))


def legs(top: Vector, size: Vector, floor: float) -> Iterator[Primitive]:
    """Yield the legs of a table whose top has this centre and size."""
    length = top[2] - 0.5 * size[2] - floor
    for k, (i, j) in enumerate(product((-1, 1), repeat=2)):
        x, y = top[0] + i * (0.5 * size[0] - 0.04), top[1] + j * (0.5 * size[1] - 0.04)
        yield box(f"leg{k}", (0.05, 0.05, length), (x, y, floor + 0.5 * length))


def table(rng: np.random.Generator, under: bool) -> Scene:
    """Return a table with objects; the goal is among them, or under the top."""
    top, size = (0.75, 0.0, 0.1 if under else -0.25), (0.6, 1.2, 0.04)
    surface = top[2] + 0.5 * size[2]
    places = [(x, y, surface) for x, y in product((0.6, 0.85), (-0.4, 0.0, 0.4))]
    standing = cans(rng, places, 0.16, 0.035)
    below = top[2] - 0.5 * size[2]
    if under:
        regions = [((0.6, y, below - 0.2), (0.08, 0.15, 0.06)) for y in (-0.2, 0.2)]
    else:
        regions = [((0.7, y, surface + 0.12), (0.08, 0.05, 0.05)) for y in (-0.2, 0.2)]
    return Scene((box("top", size, top), *legs(top, size, -0.7), *standing), tuple(regions))


def container(rng: np.random.Generator) -> Scene:
    """Return an open box on a table; the goal is in it."""
    wide, high, (x, y) = 0.44, 0.28, (0.6, rng.uniform(-0.15, 0.15))
    floor = -0.35
    walls = [
        box(
            f"wall{axis}{side:+d}",
            size,
            (x + 0.5 * wide * side * (axis == "x"), y + 0.5 * wide * side * (axis == "y"), floor + 0.5 * high),
        )
        for axis, size in (("x", (BOARD, wide, high)), ("y", (wide, BOARD, high)))
        for side in (-1, 1)
    ]
    ground = box("ground", (0.8, 1.2, 0.04), (0.7, 0.0, floor - 0.02))
    return Scene((ground, *walls), (((x, y, floor + 0.18), (0.08, 0.08, 0.05)),))


def cage(rng: np.random.Generator) -> Scene:
    """Return a cage of bars, open at the top; the goal is in it."""
    wide, high, (x, y) = 0.5, 0.45, (0.62, rng.uniform(-0.1, 0.1))
    floor = -0.4
    bars = []
    for k, t in enumerate(np.linspace(-0.5, 0.5, 5)):
        for side in (-1, 1):
            for axis, (i, j) in (("x", (0.5 * side, t)), ("y", (t, 0.5 * side))):
                where = (x + i * wide, y + j * wide, floor + 0.5 * high)
                bars.append(Primitive(f"bar{axis}{side:+d}{k}", "cylinder", (high, 0.012), where))
    rims = [
        box(
            f"rim{axis}{side:+d}",
            size,
            (x + 0.5 * wide * side * (axis == "x"), y + 0.5 * wide * side * (axis == "y"), floor + high),
        )
        for axis, size in (("x", (0.03, wide + 0.03, 0.03)), ("y", (wide + 0.03, 0.03, 0.03)))
        for side in (-1, 1)
    ]
    ground = box("ground", (0.7, 0.7, 0.04), (x, y, floor - 0.02))
    sides = [
        box(f"side{axis}{side:+d}", (size[0], size[1], high), (i, j, floor + 0.5 * high))
        for axis, size in (("x", (0.01, wide)), ("y", (wide, 0.01)))
        for side in (-1, 1)
        for i, j in [(x + 0.5 * wide * side * (axis == "x"), y + 0.5 * wide * side * (axis == "y"))]
    ]
    return Scene((ground, *bars, *rims), (((x, y, floor + 0.22), (0.08, 0.08, 0.06)),), tuple(sides))


KINDS: dict[str, Callable[[np.random.Generator], Scene]] = {
    "bookshelf_small": lambda rng: bookshelf(rng, width=0.8, depth=0.3, height=0.9, levels=3),
    "bookshelf_tall": lambda rng: bookshelf(rng, width=0.6, depth=0.3, height=1.4, levels=4),
    "bookshelf_thin": lambda rng: bookshelf(rng, width=0.45, depth=0.3, height=1.0, levels=3),
    "box": container,
    "cage": cage,
    "table_pick": lambda rng: table(rng, under=False),
    "table_under_pick": lambda rng: table(rng, under=True),
}


def sample(kind: str, rng: np.random.Generator, reach: float, shoulder: Array, yaw: float) -> Scene:
    """Return a scene of a kind at a random place in front of a robot.

    Parameters
    ----------
    kind
        One of `KINDS`.
    rng
        Random numbers.
    reach
        Of the arm [m]; all lengths are proportional to it.
    shoulder : (3,)
        Its place in the world [m].
    yaw
        Direction of the scene from there [rad].
    """
    scene, scale = KINDS[kind](rng), reach / REACH
    turn = yaw + rng.uniform(-0.3, 0.3)
    dx, dy, dz = scale * rng.uniform(-0.06, 0.06, 3)
    place = (shoulder[0] + dx, shoulder[1] + dy, shoulder[2] + dz, turn)
    obstacles = tuple(part.moved(scale, *place) for part in scene.obstacles)
    regions = tuple(
        (moved(centre, scale, *place), (scale * half[0], scale * half[1], scale * half[2]))
        for centre, half in scene.regions
    )
    return Scene(obstacles, regions, tuple(part.moved(scale, *place) for part in scene.barriers))
