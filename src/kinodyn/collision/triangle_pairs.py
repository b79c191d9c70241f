"""Pairs of links whose spheres, and tables, report a collision in many configurations in which the robot is free.

The triangles of such links are compared where their spheres overlap only slightly. All other pairs are checked by
spheres alone, because comparing triangles takes a hundred times as long.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.collision.cache import cached_table, content_key
from kinodyn.collision.pairs import sampling_identity
from kinodyn.collision.refinement import robot_spheres
from kinodyn.collision.self_contacts import self_query
from kinodyn.collision.sphere_forms import Pairs, make_form
from kinodyn.description.types import Description
from kinodyn.model.robot import Robot

VERSION = "2"
BATCH, MAX_BATCHES = 2048, 8  # random configurations
MIN_FREE = 400  # free configurations that suffice
MAX_FALSE_FRACTION = 0.1  # of free configurations that spheres may report as collisions

_KNOWN: WeakKeyDictionary[Description, Pairs] = WeakKeyDictionary()


def triangle_pairs(robot: Robot) -> Pairs:
    """Return the pairs of links that are checked by their triangles where their spheres overlap only slightly.

    They are chosen such that nine of ten random configurations that are free by the triangles are reported free.
    """
    if robot.description not in _KNOWN:
        _KNOWN[robot.description] = _found(robot)
    return _KNOWN[robot.description]


def _found(robot: Robot) -> Pairs:
    form = make_form(robot, (), frozenset())
    query = self_query(robot, form)
    pairs = [frozenset((form.groups[i], form.groups[k])) for i, k in query.pairs]
    identity = sampling_identity(robot, robot_spheres(robot))
    key = content_key("triangle_pairs", VERSION, BATCH, MIN_FREE, MAX_FALSE_FRACTION, *identity, np.array(query.pairs))

    def choose() -> Array:
        blocked = _blocked(robot, query, frozenset(pairs)) if pairs else np.zeros((0, 0), dtype=bool)
        return _chosen(blocked).astype(float)[:, None]

    table = cached_table(key, (len(pairs), 1), lambda rows: np.isin(rows, (0.0, 1.0)).all(), choose)
    return frozenset(pair for pair, (chosen,) in zip(pairs, table, strict=True) if chosen)


def _blocked(robot: Robot, query: _core.CollisionQuery, pairs: Pairs) -> NDArray[np.bool_]:
    """Return which pairs touch by their spheres (n, pairs) in random configurations that are free by the triangles."""
    by_triangles = make_form(robot, (), frozenset(), triangle_pairs=pairs)
    exact_query = self_query(robot, by_triangles)
    found: list[NDArray[np.bool_]] = []
    for batch in range(MAX_BATCHES):
        q: Array = robot.random(BATCH, seed=3 + batch)
        q = q[np.asarray(_core.collision_free(robot, exact_query, q)) != 0]
        found.append(np.asarray(_core.touching(robot, query, q).pairs) != 0)
        if sum(map(len, found)) >= MIN_FREE:
            break
    return np.concatenate(found)


def _chosen(blocked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which pairs (pairs,) to decide by triangles, so that few configurations (n, pairs) remain blocked."""
    chosen = np.zeros(blocked.shape[1], dtype=bool)
    left = blocked
    while (left := left[left.any(axis=1)]).shape[0] > MAX_FALSE_FRACTION * len(blocked):
        worst = int(left.sum(axis=0).argmax())
        chosen[worst] = True
        left = left.copy()
        left[:, worst] = False
    return chosen
