"""Planning problems: MoveIt's scenes and requests from a folder or an archive, or a Panda among boxes."""

from __future__ import annotations

import argparse
import re
import tarfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import numpy as np

import kinodyn as kd

T = TypeVar("T")

FILE = re.compile(r"(scene|request)(\d+)\.ya?ml")
MAX_BYTES = 1_000_000_000  # of all files of an archive
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
REACH = 1.2  # [rad] of random configurations from there


@dataclass(frozen=True, eq=False)
class Problem:
    """A motion to plan; `family` is the folder that it comes from, `reading` the time to read its files [s]."""

    family: str
    name: str
    objects: tuple[kd.collision.WorldObject, ...]
    start: Any
    goal: Any
    group: str | None = None
    allowed: frozenset[tuple[str, str]] = frozenset()
    reading: float = 0.0

    def world(self) -> kd.collision.World:
        """Rebuild the world from shapes and poses."""
        world = kd.collision.World()
        for thing in self.objects:
            world.add(thing.name, thing.shape, thing.pose)
            if thing.attached_to is not None:
                world.attach(thing.name, thing.attached_to, touch_links=thing.touch_links)
        return world


def load_robot(urdf: Path, srdf: Path | None) -> kd.Robot:
    """Load a robot whose packages are in the folder of its URDF file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(urdf, packages=[urdf.parent], srdf=srdf)
        kd.collision.robot_geometry(robot)  # warns of broken meshes
    return robot


def read_problems(source: Path, robot: kd.Robot, limit: int | None) -> list[Problem]:
    """Read all problems, or `limit` of them at equal intervals."""
    texts: dict[tuple[str, str], dict[str, str]] = {}
    for path, text in archived(source) if source.is_file() else unpacked(source):
        match = FILE.fullmatch(path.name)
        if match is not None:
            texts.setdefault((path.parent.name or source.stem, match[2]), {})[match[1]] = text
    complete = [key for key in sorted(texts) if len(texts[key]) == 2]
    if not complete:
        raise SystemExit(f"{source} has no pairs of files sceneNNNN.yaml and requestNNNN.yaml")
    return [read(*key, texts[key], robot) for key in spaced(complete, limit)]


def unpacked(folder: Path) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the YAML files of a folder and of its subfolders."""
    for path in sorted(folder.rglob("*.y*ml")):
        yield PurePosixPath(path.relative_to(folder).as_posix()), path.read_text()


def archived(file: Path) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the YAML files of an archive. Nothing is written to disk, so its paths and links can do no harm."""
    left = MAX_BYTES
    with tarfile.open(file) as archive:
        for member in archive:
            left -= member.size
            if left < 0:
                raise SystemExit(f"{file} unpacks to more than {MAX_BYTES:,} bytes")
            path = PurePosixPath(member.name)
            content = archive.extractfile(member) if member.isreg() and FILE.fullmatch(path.name) else None
            if content is not None:
                yield path, content.read().decode()


def read(family: str, number: str, texts: dict[str, str], robot: kd.Robot) -> Problem:
    """Read one scene with its request."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        begin = time.perf_counter()
        scene, request = kd.interop.moveit.read(texts["scene"], texts["request"], robot)
        reading = time.perf_counter() - begin
    goal = np.array(request.goal) if isinstance(request.goal, tuple) else request.goal
    objects = scene.world.snapshot().objects
    return Problem(family, number, objects, request.start, goal, request.group or None, scene.allowed_pairs, reading)


def spaced(items: Sequence[T], limit: int | None) -> list[T]:
    """Return `limit` items at equal intervals, all if there are no more."""
    count = len(items) if limit is None else min(limit, len(items))
    return [items[i * len(items) // count] for i in range(count)]


def synthetic(robot: kd.Robot, limit: int) -> list[Problem]:
    """Return problems for the Panda: around a wall, and between random boxes."""
    around = [wall(0.4 + 0.01 * k) for k in range((limit + 1) // 2)]
    return around + [boxes(robot, seed) for seed in range(limit // 2)]


def wall(height: float) -> Problem:
    """Return a motion from one side of a wall to the other."""
    world = kd.collision.World()
    world.add_box("wall", (0.4, 0.04, height), ((0.6, 0.0, 0.5 * height), None))
    left, right = (HOME + [turn, 0.6, 0.0, 0.3, 0.0, 0.0, 0.0] for turn in (0.9, -0.9))
    return Problem("wall", f"{height:.2f} m", tuple(world), left, right)


def boxes(robot: kd.Robot, seed: int, count: int = 12) -> Problem:
    """Return a motion between two random configurations, free among boxes around the robot."""
    rng = np.random.default_rng(seed)
    world = kd.collision.World()
    for k in range(count):
        direction = rng.normal(size=3)
        position = rng.uniform(0.5, 0.9) * direction / np.linalg.norm(direction)
        world.add_box(f"box{k}", rng.uniform(0.05, 0.2, 3), (position, None))
    q = np.clip(HOME + rng.uniform(-REACH, REACH, (1000, robot.nq)), robot.limits.lower, robot.limits.upper)
    start, goal = q[kd.collision.free(robot, q, world)][:2]
    return Problem("boxes", f"seed {seed}", tuple(world), start, goal)


def problem_parser(description: str | None) -> argparse.ArgumentParser:
    """Make a parser with the arguments that select robot and problems."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=Path, metavar="FOLDER", help="folder or tar archive of MoveIt's files")
    parser.add_argument("--robot", type=Path, metavar="URDF", help="the robot; kinodyn's own Panda by default")
    parser.add_argument("--srdf", type=Path, metavar="FILE", help="groups and allowed pairs of the robot")
    parser.add_argument("--limit", type=int, metavar="N", help="number of problems, at equal intervals")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-budget", type=float, default=1.0, help="of a plan [s]")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    return parser


def selected_problems(options: argparse.Namespace, count: int) -> tuple[kd.Robot, list[Problem]]:
    """Load the robot and its problems; without files, `count` synthetic ones unless --limit says otherwise."""
    robot = load_robot(options.robot, options.srdf) if options.robot else kd.load("panda", srdf=options.srdf)
    if options.problems:
        return robot, read_problems(options.problems, robot, options.limit)
    return robot, synthetic(robot, options.limit or count)
