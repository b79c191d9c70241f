"""Pairs of links that need no collision check: fixed to each other, neighbours, or always or never in collision."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias, get_args
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.collision.cache import cached_table, content_key
from kinodyn.collision.geometry import robot_geometry
from kinodyn.collision.overlaps import Overlap, sampled_overlaps
from kinodyn.collision.spheres import RESOLUTION, SphereSet, fitted_spheres
from kinodyn.description.srdf.writer import write_collisions
from kinodyn.description.types import Description, Joint
from kinodyn.display import displayed
from kinodyn.model.robot import Robot

Pair: TypeAlias = frozenset[str]
Numbers: TypeAlias = tuple[int, int]
Reason = Literal["srdf", "fixed", "adjacent", "always", "never", "default"]
REASONS: tuple[Reason, ...] = get_args(Reason)

MOVEIT_REASONS = {
    "srdf": "User",
    "fixed": "Adjacent",
    "adjacent": "Adjacent",
    "always": "Always",
    "never": "Never",
    "default": "Default",
}

VERSION = "4"
SAMPLES = 100_000
ALWAYS_FRACTION = 0.95  # a pair that collides in this fraction of the samples counts as always colliding
DEFAULT_FRACTION = 0.2  # a pair that collides in this fraction and in the neutral configuration has shapes that overlap
SLIDING_DISTANCE = 5e-4  # [m] links that are always nearer than this slide on each other, such as both sides of a hinge
MAX_TABLE_COORDINATES = 2  # between two links whose range the samples cover densely
EXACT_SAMPLES = 200  # of each pair whose spheres overlap, the deepest first
ALWAYS_SAMPLES = 40  # random samples for the fraction of exact collisions
DEFAULT_SAMPLES = 200

_FOUND: WeakKeyDictionary[Description, AllowedPairs] = WeakKeyDictionary()


@displayed
@dataclass(frozen=True)
class AllowedPairs:
    """Pairs of links whose collision is not checked, each with its reason.

    Parameters
    ----------
    reasons : mapping
        From a pair of link names, a frozenset, to the reason: "srdf" (the description excludes it), "fixed" (the links
        do not move relative to each other), "adjacent" (neighbours in the tree of links with shapes), "always" or
        "never" (in random configurations within the joint limits), "default" (in the neutral one too).
    """

    reasons: Mapping[Pair, Reason]

    @property
    def pairs(self) -> frozenset[Pair]:
        """The pairs."""
        return frozenset(self.reasons)

    def __contains__(self, pair: object) -> bool:
        return isinstance(pair, (tuple, list, frozenset, set)) and frozenset(pair) in self.reasons

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.reasons)

    def __len__(self) -> int:
        return len(self.reasons)


@check_types
def allowed_pairs(robot: Robot) -> AllowedPairs:
    """Find the pairs of links whose collision need not be checked.

    Parameters
    ----------
    robot
        The robot; only its links with collision shapes are considered.

    Returns
    -------
    allowed : AllowedPairs

    Notes
    -----
    As in MoveIt's setup assistant: pairs of the SRDF file, links that are fixed to each other, neighbours, and pairs
    that collide in at least 95 % or in none of 100,000 random configurations. These are checked on spheres.
    Where spheres overlap, the exact shapes decide, if coal is installed: in the 200 configurations with the deepest
    overlap. Shapes that are always less than 0.5 mm apart, as those on both sides of a hinge, count as colliding.
    MoveIt's assistant also allows all pairs that collide in the neutral configuration; here they must collide in 20 %
    of the random ones too: then their shapes overlap by design, whereas a robot that is folded in the neutral
    configuration touches itself nearly nowhere else. Or they have at most two coordinates between them and never
    penetrate by more than 0.5 mm, such as the fingers of a closed gripper. The result is kept on disk with the spheres.
    """
    if robot.description not in _FOUND:
        spheres = fitted_spheres(robot, RESOLUTION)
        reasons = _known(robot, spheres)
        reasons.update(_sampled(robot, spheres, [pair for pair in _pairs(spheres.links) if pair not in reasons]))
        _FOUND[robot.description] = AllowedPairs(reasons)
    return _FOUND[robot.description]


@check_types
def write_srdf(robot: Robot, path: str | os.PathLike[str] | None = None) -> str:
    """Write the allowed pairs of a robot as an SRDF document.

    Parameters
    ----------
    robot
    path
        File to write to; none if not given.

    Returns
    -------
    text : str
        The document, which `kinodyn.load(..., srdf=path)` and MoveIt read.
    """
    order = {link.name: k for k, link in enumerate(robot.description.links)}
    rows = []
    for pair, reason in allowed_pairs(robot).reasons.items():
        first, second = sorted(pair, key=order.__getitem__)
        rows.append((first, second, MOVEIT_REASONS[reason]))
    return write_collisions(robot.name, rows, path)


def _pairs(links: tuple[str, ...]) -> list[Pair]:
    return [frozenset(pair) for pair in combinations(links, 2)]


def _known(robot: Robot, spheres: SphereSet) -> dict[Pair, Reason]:
    """Return the pairs that follow from the description: excluded, fixed and adjacent ones."""
    parents = {joint.child: joint for joint in robot.description.joints}
    shaped = set(spheres.links)
    found: dict[Pair, Reason] = {}
    for first, second in combinations(spheres.links, 2):
        if _body(first, parents) == _body(second, parents):
            found[frozenset((first, second))] = "fixed"
    for link in spheres.links:
        above = parents[link].parent if link in parents else None
        while above is not None and above not in shaped:
            above = parents[above].parent if above in parents else None
        if above is not None:
            found.setdefault(frozenset((above, link)), "adjacent")
    for pair in robot.description.collision_exclusions:
        if shaped.issuperset(pair):
            found.setdefault(frozenset(pair), "srdf")
    return found


def _body(link: str, parents: Mapping[str, Joint]) -> str:
    """Return the first link of those that fixed joints connect."""
    while link in parents and parents[link].kind == "fixed":
        link = parents[link].parent
    return link


def _sampled(robot: Robot, spheres: SphereSet, pairs: list[Pair]) -> dict[Pair, Reason]:
    """Return the pairs that always or never collide, from the cache if they were found before."""
    index = {link: k for k, link in enumerate(spheres.links)}
    numbers = [(min(pair), max(pair)) for pair in ([index[link] for link in names] for names in pairs)]
    key = content_key(
        "pairs", VERSION, str(exact.is_available()), *sampling_identity(robot, spheres), np.array(numbers)
    )

    def decide() -> Array:
        found = [_decided(robot, spheres, pair, overlap) for pair, overlap in _overlaps(robot, spheres, numbers)]
        return np.array([-1 if reason is None else REASONS.index(reason) for reason in found], dtype=float)[:, None]

    known = range(-1, len(REASONS))
    table = cached_table(key, (len(pairs), 1), lambda rows: np.isin(rows, known).all(), decide)
    return {pair: REASONS[int(k)] for pair, (k,) in zip(pairs, table, strict=True) if k >= 0}


def _overlaps(robot: Robot, spheres: SphereSet, pairs: list[Numbers]) -> list[tuple[Numbers, Overlap]]:
    if not pairs:
        return []
    return list(zip(pairs, sampled_overlaps(robot, spheres, pairs, SAMPLES), strict=True))


def _decided(robot: Robot, spheres: SphereSet, pair: Numbers, overlap: Overlap) -> Reason | None:
    if overlap.share == 0.0:
        return "never"
    if not exact.is_available():
        return "always" if overlap.share >= ALWAYS_FRACTION else None
    links = [spheres.links[k] for k in pair]
    if overlap.share >= ALWAYS_FRACTION:
        some = robot.random(ALWAYS_SAMPLES, seed=1)
        share = sum(_collisions(robot, links, some, SLIDING_DISTANCE)) / len(some)
        if share >= ALWAYS_FRACTION:
            return "always"
    deepest = overlap.q[:EXACT_SAMPLES]
    colliding = deepest[list(_collisions(robot, links, deepest))]
    if not len(colliding):
        return "never"
    if not any(_collisions(robot, links, robot.neutral()[None])):
        return None
    if _only_touch(robot, links, colliding):
        return "default"
    some = robot.random(DEFAULT_SAMPLES, seed=1)
    return "default" if sum(_collisions(robot, links, some)) >= DEFAULT_FRACTION * len(some) else None


def _only_touch(robot: Robot, links: Sequence[str], q: Array) -> bool:
    """Return whether links that few coordinates move relative to each other penetrate by less than they may slide."""
    if len(_coordinates_between(robot.description, *links)) > MAX_TABLE_COORDINATES:
        return False
    return all(exact.distance(*pair).distance >= -SLIDING_DISTANCE for pair in _placed(robot, links, q))


def _coordinates_between(description: Description, first: str, second: str) -> set[str]:
    """Return the joints that move two links relative to each other; those that follow another one by its name."""
    parents = {joint.child: joint for joint in description.joints}

    def above(link: str) -> Iterator[Joint]:
        while link in parents:
            yield parents[link]
            link = parents[link].parent

    joints = {joint.name: joint for link in (first, second) for joint in above(link)}
    shared = {joint.name for joint in above(first)} & {joint.name for joint in above(second)}
    moving = [joint for name, joint in joints.items() if name not in shared and joint.kind != "fixed"]
    return {joint.name if joint.mimic is None else joint.mimic.joint for joint in moving}


def _collisions(robot: Robot, links: Sequence[str], q: Array, bound: float = 0.0) -> Iterator[bool]:
    """Return for each configuration whether two links collide on the exact shapes, or are nearer than a bound."""
    for first, second in _placed(robot, links, q):
        yield exact.collide(first, second) or (bound > 0.0 and exact.distance(first, second).distance <= bound)


def _placed(robot: Robot, links: Sequence[str], q: Array) -> Iterator[tuple[list[exact.Placed], list[exact.Placed]]]:
    """Yield the shapes of two links at each configuration."""
    parts = [[part for part in robot_geometry(robot) if part.link == link] for link in links]
    for poses in kinematics.poses(robot, q, frames=links):
        first, second = (
            [exact.Placed(part.shape, T @ part.T_link_shape) for part in shapes]
            for shapes, T in zip(parts, poses, strict=True)
        )
        yield first, second


def sampling_identity(robot: Robot, spheres: SphereSet) -> Iterator[bytes | str | float | Array]:
    """Yield what random configurations of spheres depend on: spheres, joints and the range of sampling."""
    yield from spheres.links
    yield from (spheres.fine, spheres.coarse_start.tobytes(), spheres.fine_start.tobytes(), *robot.sampling_range())
    for joint in robot.description.joints:
        yield " ".join((joint.kind, joint.parent, joint.child, repr(joint.mimic), repr(joint.reference)))
        yield from (joint.T_parent_child, joint.axis)
