"""In how many random configurations the spheres of pairs of links overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core, kinematics
from kinodyn.arrays import Array
from kinodyn.collision.spheres import SphereSet
from kinodyn.model.robot import Robot
from kinodyn.progress import ProgressBar
from kinodyn.threads import map_in_threads

CHUNK = 2048
STORED_CONFIGURATIONS = 50  # configurations with an overlap to store for each pair and chunk

Pairs = NDArray[np.int32]


class Overlap(NamedTuple):
    """Overlaps of one pair of links.

    Attributes
    ----------
    share : float
        Fraction of all configurations.
    q : (k, nq) array
        Some of those with an overlap, the deepest first.
    """

    share: float
    q: Array


def sampled_overlaps(robot: Robot, spheres: SphereSet, pairs: Sequence[tuple[int, int]], samples: int) -> list[Overlap]:
    """Sample configurations and return the overlaps of pairs of links, given by their indices in the sphere set."""
    q = robot.random(samples, seed=0)
    table = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    starts = range(0, samples, CHUNK)
    bar, found = ProgressBar(True, samples, "configurations checked for self-collision"), []
    chunks = map_in_threads(lambda k: _chunk(robot, spheres, table, q[k : k + CHUNK]), starts)
    for start, result in zip(starts, chunks, strict=True):
        found.append([(count, states + start, depths) for count, states, depths in result])
        bar.update(min(start + CHUNK, samples))
    bar.close()
    return [_merged(q, list(parts)) for parts in zip(*found, strict=True)]


def _chunk(robot: Robot, spheres: SphereSet, pairs: Pairs, q: Array) -> list[tuple[int, NDArray[np.int32], Array]]:
    return sphere_overlaps(
        spheres, pairs, kinematics.poses(robot, q, frames=list(spheres.links)), STORED_CONFIGURATIONS
    )


def sphere_overlaps(
    spheres: SphereSet, pairs: Pairs, poses: Array, stored: int
) -> list[tuple[int, NDArray[np.int32], Array]]:
    """Find the poses of links (n, links, 4, 4) in which spheres of pairs (m, 2) of links overlap.

    Returns for each pair how many these are, and indices and depths [m] of at most `stored` of them.
    """
    return _core.sphere_overlaps(
        spheres.bounding,
        spheres.coarse,
        spheres.coarse_start.astype(np.int32),
        spheres.fine,
        spheres.fine_start.astype(np.int32),
        pairs,
        poses,
        stored,
    )


def _merged(q: Array, parts: list[tuple[int, NDArray[np.int32], Array]]) -> Overlap:
    states = np.concatenate([part[1] for part in parts])
    depths = np.concatenate([part[2] for part in parts])
    return Overlap(sum(part[0] for part in parts) / len(q), q[states[np.argsort(-depths, kind="stable")]])
