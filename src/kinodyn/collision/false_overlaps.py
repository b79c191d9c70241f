"""Pairs of links whose spheres overlap in many configurations in which their shapes are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinodyn import kinematics
from kinodyn.collision.cache import cached_table, content_key
from kinodyn.collision.overlaps import sphere_overlaps
from kinodyn.collision.pairs import sampling_identity
from kinodyn.collision.solids import link_solids
from kinodyn.collision.spheres import SphereSet
from kinodyn.model.robot import Robot

VERSION = "1"
SAMPLES = 2048  # random configurations
COMPARED_SAMPLES = 24  # of those with an overlap, in which shapes are compared
MAX_DISTANCE = 0.06  # [m] beyond which distances of shapes do not matter

Pair = tuple[int, int]


class FalseOverlap(NamedTuple):
    """How often the spheres of a pair overlap where its shapes do not.

    Attributes
    ----------
    fraction : float
        Fraction of random configurations in which the spheres overlap and the shapes do not.
    clearance : float
        Median distance of the shapes there [m].
    """

    fraction: float
    clearance: float


def false_overlaps(robot: Robot, spheres: SphereSet, pairs: Sequence[Pair]) -> Mapping[Pair, FalseOverlap]:
    """Sample configurations and compare spheres with shapes, for pairs of numbers of links of a sphere set."""
    if not pairs:
        return {}
    sampling = (VERSION, SAMPLES, COMPARED_SAMPLES, *sampling_identity(robot, spheres))
    key = content_key("false_overlaps", *sampling, np.array(pairs))
    table = cached_table(
        key, (len(pairs), 2), lambda rows: (rows >= 0.0).all(), lambda: np.array(_sampled(robot, spheres, pairs))
    )
    return {pair: FalseOverlap(*row) for pair, row in zip(pairs, table.tolist(), strict=True)}


def _sampled(robot: Robot, spheres: SphereSet, pairs: Sequence[Pair]) -> list[FalseOverlap]:
    poses = kinematics.poses(robot, robot.random(SAMPLES, seed=2), frames=list(spheres.links))
    solids = link_solids(robot)
    overlaps = sphere_overlaps(spheres, np.array(pairs, dtype=np.int32), poses, SAMPLES)
    found = []
    for pair, (count, states, _) in zip(pairs, overlaps, strict=True):
        some = np.sort(states)[:: max(count // COMPARED_SAMPLES, 1)]
        first, second = (spheres.links[k] for k in pair)
        both = poses[some][:, list(pair)]
        distances = solids.distances(first, second, both, MAX_DISTANCE) if count else np.zeros(0)
        apart = distances[distances > 0.0]
        fraction = len(apart) / len(distances) * count / SAMPLES if count else 0.0
        found.append(FalseOverlap(fraction, float(np.median(apart)) if len(apart) else 0.0))
    return found
