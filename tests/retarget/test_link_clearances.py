"""Rows that keep links apart, against distances of all pairs of links, one by one."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.retarget.body import Body
from kinodyn.retarget.link_clearances import FAR, MARGIN, ROWS, WATCHED, LinkClearances
from kinodyn.retarget.solver import PACK, UNUSED

FRAMES = 32


@pytest.fixture(scope="module")
def body() -> Body:
    return Body.from_robot(kd.load("humanoid"))


@pytest.fixture(scope="module")
def q(body: Body) -> Array:
    """Postures (frames, nq) in which arms and legs come near to each other."""
    rng = np.random.default_rng(3)
    changes = np.zeros((FRAMES, body.robot.nv))
    changes[:, 6:] = 0.5 * rng.standard_normal((FRAMES, body.robot.nv - 6))
    q = body.robot.integrate(np.tile(body.q, (FRAMES, 1)), changes)
    return np.clip(q, body.robot.limits.lower, body.robot.limits.upper)


def rows_at(body: Body, clearances: LinkClearances, q: Array) -> tuple[Array, Array]:
    """Return gradients (frames, rows, dofs) and bounds (frames, rows)."""
    gradient = np.zeros((FRAMES // PACK, ROWS, len(body.v), PACK), dtype=np.float32)
    bound = np.full((ROWS, FRAMES), UNUSED)
    clearances.rows(np.ascontiguousarray(q.T), np.arange(FRAMES), gradient, bound)
    return gradient.transpose(0, 3, 1, 2).reshape(FRAMES, ROWS, -1), bound.T


def lacks_of(body: Body, clearances: LinkClearances, q: Array) -> list[Array]:
    """Return the distances of the nearest pairs of moving bodies beyond their levels, frame by frame, in order."""
    distances = np.asarray(_core.pair_distances(body.robot, clearances._query.core, q, FAR))
    lacks = distances - clearances._levels[0]
    result = []
    for row in lacks:
        least = [row[clearances._carriers == number].min() for number in np.unique(clearances._carriers)]
        result.append(np.sort([lack for lack in least if lack < MARGIN + WATCHED])[:ROWS])
    return result


def test_rows_are_those_of_the_nearest_pairs(body: Body, q: Array) -> None:
    clearances = LinkClearances(body, FRAMES)
    gradient, bound = rows_at(body, clearances, q)
    expected = lacks_of(body, clearances, q)
    coordinates = q[:, body.v + 1]  # of joints with one coordinate; the base has one more than degrees of freedom
    coordinates[:, body.v < 6] = 0.0
    assert sum(map(len, expected)) > FRAMES  # the postures are near enough
    for t, lacks in enumerate(expected):
        used = bound[t] > UNUSED
        assert np.count_nonzero(used) == len(lacks)
        found = MARGIN + gradient[t, used] @ coordinates[t] - bound[t, used]
        np.testing.assert_allclose(found, lacks, atol=1e-6)  # rows are in float32


def test_gradients_are_derivatives_of_the_distances_of_links_that_are_apart(body: Body, q: Array) -> None:
    clearances = LinkClearances(body, FRAMES)
    gradient, bound = rows_at(body, clearances, q)
    expected = lacks_of(body, clearances, q)
    step = 1e-6
    for k in range(0, len(body.v), 3):
        change = np.zeros(body.robot.nv)
        change[body.v[k]] = step
        before, after = (lacks_of(body, clearances, body.robot.integrate(q, s * change)) for s in (-1.0, 1.0))
        for t in range(FRAMES):
            n = int(np.count_nonzero(bound[t] > UNUSED))
            if len(before[t]) == len(after[t]) == n < ROWS:
                slope = (after[t] - before[t]) / (2.0 * step)
                apart = expected[t] >= 0.0
                np.testing.assert_allclose(gradient[t, :n, k][apart], slope[apart], atol=2e-3)


def test_links_that_overlap_deeply_separate_along_their_rows(body: Body, q: Array) -> None:
    clearances = LinkClearances(body, FRAMES)
    before = [row[0] if len(row) else 0.0 for row in lacks_of(body, clearances, q)]
    deep = np.flatnonzero(np.array(before) < -0.03)
    assert len(deep) > 0
    for _ in range(60):
        gradient, _ = rows_at(body, clearances, q)
        change = np.zeros((FRAMES, body.robot.nv))
        size = np.linalg.norm(gradient[:, 0], axis=1, keepdims=True)
        change[:, body.v] = 0.01 * gradient[:, 0] / np.maximum(size, 1e-9)
        change[:, :6] = 0.0
        q = body.robot.integrate(q, change)
    after = [row[0] if len(row) else 0.0 for row in lacks_of(body, clearances, q)]
    assert all(after[t] > 0.5 * before[t] for t in deep)


def test_levels_rise_where_links_touch_and_less_around(body: Body, q: Array) -> None:
    clearances = LinkClearances(body, FRAMES)
    before = clearances._levels[0].copy()
    pair = int(np.argmax(before))
    clearances.keep_apart(q, [(5, pair)], beyond=0.02)
    rise = clearances._levels[:, pair] - before[pair]
    assert rise[5] > rise[6] > rise[7] >= rise[8] == 0.0
    assert (np.delete(clearances._levels, pair, axis=1) == np.delete(before, pair)).all()
