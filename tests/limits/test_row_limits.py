"""Limits with rows, on sliders whose margins are known: what satisfies them, what remains after a motion, names."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World
from kinodyn.description.types import Description, Inertia, Joint, Link, Shape
from kinodyn.limits import CollisionLimit, ComLimit, CustomLimit
from kinodyn.limits.collision import STOP_MARGIN
from kinodyn.limits.limit import AT_LIMIT, RowLimit
from kinodyn.model.robot import Robot

RADIUS = 0.05  # [m] of the ball on each slider
OBSTACLE, WALL = 1.0, 0.3  # [m] where the obstacle begins, and the limit of the function


def sliders() -> Robot:
    """Make two sliders along x, beside each other, each with a ball of 1 kg."""
    ball, solid = (Shape("sphere", (RADIUS,), np.eye(4)),), Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))
    links = (Link("base"), Link("left", solid, collisions=ball), Link("right", solid, collisions=ball))
    place, axis = np.eye(4), np.array([1.0, 0.0, 0.0])
    place[1, 3] = 10.0
    left = Joint("to_left", "prismatic", "base", "left", axis=axis, lower=-5, upper=5)
    right = Joint("to_right", "prismatic", "base", "right", T_parent_child=place, axis=axis, lower=-5, upper=5)
    return Robot(Description("sliders", links, (left, right)))


def before_the_wall(robot: Robot, q: Array) -> tuple[Array, Array]:
    return WALL - q, np.broadcast_to(-np.eye(2), (*q.shape[:-1], 2, 2))


ROBOT = sliders()
CUSTOM = CustomLimit("wall", before_the_wall, rows=2)
COM = ComLimit([[-1.0, -20.0], [WALL, -20.0], [WALL, 20.0], [-1.0, 20.0]])  # of both balls


def collision_limit(rows: int = 4, **options: float) -> CollisionLimit:
    world = World()
    world.add_sphere("near_left", 0.1, [OBSTACLE + 0.1, 0.0, 0.0])
    world.add_sphere("near_right", 0.1, [OBSTACLE + 0.1, 10.0, 0.0])
    pairs = [("left", "near_left"), ("right", "near_right")]
    return CollisionLimit(world, margin=0.02, slow_down=0.5, pairs=pairs, rows=rows, **options)  # type: ignore[arg-type]


def end_of(limit: CollisionLimit) -> float:
    """Return where a slider reaches the margin; distances are lower bounds, 1e-5 m too small here."""
    distance = float(limit.distance(ROBOT, np.zeros(2)).distance)
    assert OBSTACLE - RADIUS - 2e-5 < distance <= OBSTACLE - RADIUS
    return distance - limit.margin


ENDS: dict[str, tuple[RowLimit, float]] = {  # limits, and where a slider reaches them
    "custom": (CUSTOM, WALL),
    "com": (COM, WALL),
    "collision": (collision_limit(), end_of(collision_limit())),
}


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("tolerance", [1e-6, 0.01])
def test_margins_may_be_negative_by_the_tolerance(kind: str, tolerance: float) -> None:
    limit, end = ENDS[kind]
    q = np.array([[end + 0.9 * tolerance] * 2, [end + 1.1 * tolerance] * 2, [end - 1.1 * tolerance] * 2])
    np.testing.assert_array_equal(limit.satisfied(ROBOT, q, tolerance), [True, False, True])
    assert limit.satisfied(ROBOT, q[0], tolerance).shape == ()
    if kind != "com":  # one row is enough
        q[1, 0] = 0.0
        np.testing.assert_array_equal(limit.satisfied(ROBOT, q, tolerance), [True, False, True])
    limit.enabled = False
    for batch in (q[0], q, np.stack([q, q])):
        found = limit.satisfied(ROBOT, batch, tolerance)
        assert found.shape == batch.shape[:-1] and found.all()
    limit.enabled = True


def test_the_end_belongs_to_the_limit() -> None:
    assert CUSTOM.satisfied(ROBOT, np.array([WALL, 0.0]), 0.0)
    assert not CUSTOM.satisfied(ROBOT, np.array([np.nextafter(WALL, 1.0), 0.0]), 0.0)


def test_rows_that_a_motion_reaches_remain_with_their_violation() -> None:
    """Rows nearer than AT_LIMIT count; what remains of them is their violation, 0 without one."""
    q = np.array([WALL - 0.1, WALL + 0.05])
    for x, rows, missing in (
        ([0.0, -0.06], [], []),
        ([0.1 - 1.1 * AT_LIMIT, 0.0], [1], [-0.05]),
        ([0.1 - 0.9 * AT_LIMIT, -0.06], [0], [0.0]),
        ([0.12, 0.01], [0, 1], [-0.02, -0.06]),
    ):
        J, left = CUSTOM.remaining(ROBOT, q, np.array(x), 0.1)
        np.testing.assert_array_equal(J, np.eye(2)[rows])
        np.testing.assert_allclose(left, missing, rtol=0, atol=1e-15)
        assert (left <= 0.0).all()
    assert CUSTOM.row_names(ROBOT) == ["wall", "wall"] and CUSTOM.remaining_names(ROBOT, q, q, 0.1) == []


@pytest.mark.parametrize("dt", [0.01, 0.1])
def test_distances_may_shrink_by_a_share_of_the_margin_in_a_step(dt: float) -> None:
    """Of a margin e a step may use gain dt e, at most all; a pair within its margin must leave it."""
    limit = collision_limit(gain=20.0)
    end = end_of(limit) - STOP_MARGIN
    share = min(20.0 * dt, 1.0)
    q = np.array([end - 0.1, end + 0.01])  # 0.1 m left, 0.01 m within the margin
    for x, names, rows in (
        ([0.1 * share - 1.1 * AT_LIMIT, -0.011], [], []),
        ([0.1 * share - 0.9 * AT_LIMIT, -0.011], ["left near near_left"], [0]),
        ([0.0, -0.01 - 1.1 * AT_LIMIT], [], []),
        ([0.0, -0.01 - 0.9 * AT_LIMIT], ["right near near_right"], [1]),
    ):
        assert limit.remaining_names(ROBOT, q, np.array(x), dt) == names
        J, left = limit.remaining(ROBOT, q, np.array(x), dt)
        np.testing.assert_array_equal(J, np.eye(2)[rows])
        np.testing.assert_array_equal(left, np.zeros(len(names)))
    _, left = limit.remaining(ROBOT, q, np.array([0.11, 0.02]), dt)
    np.testing.assert_allclose(np.sort(left), np.sort([0.1 * share - 0.11, -0.03]), rtol=0, atol=1e-12)


def test_rows_of_a_collision_limit_are_named_by_their_pairs_and_unused_rows_by_the_limit() -> None:
    limit = collision_limit()
    assert limit.row_names(ROBOT) == ["collision"] * 4
    q = np.array([0.8, 0.0])
    assert limit.row_names(ROBOT, q, np.zeros(2)) == ["left near near_left"] + ["collision"] * 3
    assert limit.row_names(ROBOT, q[::-1].copy(), np.zeros(2)) == ["right near near_right"] + ["collision"] * 3


def test_where_pairs_are_more_than_rows_the_nearest_has_one() -> None:
    limit = collision_limit(rows=1)
    for q, name in (([0.8, 0.6], "left near near_left"), ([0.6, 0.8], "right near near_right")):
        assert limit.row_names(ROBOT, np.array(q), np.zeros(2)) == [name]
        assert limit.margins(ROBOT, q)[0] == pytest.approx(end_of(limit) - 0.8, abs=1e-9)


def test_every_change_of_a_world_is_a_new_version_of_the_limit_once() -> None:
    limit = collision_limit()
    assert isinstance(limit.world, World)
    version, settings = limit.version, limit.settings_version
    assert limit.version == version
    limit.world.move("near_left", kd.spatial.pose([2.0, 0.0, 0.0]))
    assert limit.version == version + 1 == limit.version
    assert limit.settings_version == settings + 1
    limit.margin = 0.5
    assert limit.version == version + 2


@pytest.mark.parametrize("rows", [1, 64])
def test_a_collision_limit_may_have_1_to_64_rows(rows: int) -> None:
    assert CollisionLimit(rows=rows).row_count(ROBOT) == rows


def test_a_polygon_has_three_corners_or_more_and_a_margin_that_leaves_something() -> None:
    triangle = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]]  # its inscribed circle has radius 1
    assert ComLimit(triangle, margin=0.999).row_count(ROBOT) == 3
    for margin in (1.001, 1e9):
        with pytest.raises(kd.InputError, match="the polygon is empty; reduce the margin"):
            ComLimit(triangle, margin=margin)
    np.testing.assert_allclose(ComLimit(triangle, margin=0.25).excess([1.0, 1.0, 0.0]), 0.25 - 1.0)
    inside = [*triangle, [1.0, 1.0], [2.0, 0.0], [0.0, 0.0]]  # points within, on an edge, twice
    limit = ComLimit(inside)
    assert limit.row_count(ROBOT) == 3 and {tuple(c) for c in limit.corners} == {tuple(c) for c in triangle}
    assert repr(limit) == "ComLimit(3 corners, margin=0, priority=1)"
    for flat in ([[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]):
        with pytest.raises(kd.InputError, match="at least three corners that are not collinear"):
            ComLimit(flat)
    for shape in ((2,), (1, 3, 2)):
        with pytest.raises(kd.InputError, match=r"polygon must have shape \(n, 2\)"):
            ComLimit(np.zeros(shape))
