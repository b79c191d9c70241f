"""Margins of the pairs of a query: smaller than asked for where links cannot keep it, or do not at a reference."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.distance_query import DistanceQuery, Pair
from kinodyn.model.robot import Robot

SAMPLES = 256  # random configurations
WITHIN = 0.75  # share of the configurations in which a pair that cannot keep the margin is within it
KEPT = 0.25  # quantile of its distances that it keeps instead
BELOW_REFERENCE = 4e-5  # [m] by which a pair may come closer than at the reference: twice what stops a motion
MAX_MARGINS = 64  # cached for a robot

_KNOWN: WeakKeyDictionary[Robot, dict[tuple[object, ...], Mapping[Pair, float]]] = WeakKeyDictionary()


def pair_margins(query: DistanceQuery, margin: float, reference: Array | None = None) -> Array:
    """Return the margin (pairs,) of each pair [m].

    The spheres of links next to a common neighbour, as on both sides of a shoulder, are close wherever the joints are.
    A limit that made such a pair leave the margin would hold the joints between them where the distance is largest.
    """
    known = _KNOWN.setdefault(query.robot, {})
    key = (*query.own_pairs_key, margin)
    if key not in known:
        if len(known) >= MAX_MARGINS:
            known.clear()
        known[key] = _usually_within(query, margin)
    margins = np.array([known[key].get(pair, margin) for pair in query.names])
    if reference is not None:
        there = np.asarray(_core.pair_distances(query.robot, query.core, reference, margin))
        margins = np.minimum(margins, there - BELOW_REFERENCE, where=there < margin, out=margins)
    return margins


def _usually_within(query: DistanceQuery, margin: float) -> dict[Pair, float]:
    """Return the pairs of links that are within the margin in most configurations, and the distance that they keep."""
    robot = query.robot
    links = set(robot.frame_names)
    distances = np.asarray(_core.pair_distances(robot, query.core, robot.random(SAMPLES, seed=0), margin))
    within = np.flatnonzero((distances < margin).mean(axis=0) >= WITHIN)
    kept = np.quantile(distances[:, within], KEPT, axis=0)
    return {
        query.names[k]: float(distance)
        for k, distance in zip(within, kept, strict=True)
        if links.issuperset(query.names[k])
    }
