"""Spheres are finer where pairs of links need it: a hand with fingers next to each other."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import exact, robot_spheres
from kinodyn.collision.query import Query, snapshot_of
from kinodyn.collision.spheres import RESOLUTION

FINGERS, SEGMENTS = 2, 4
SIDE, LENGTH, GAP = 0.016, 0.03, 0.006  # [m]


def hand_urdf() -> str:
    """Return two fingers of four segments beside each other, which spread and bend."""
    parts = ['<robot name="hand"><link name="palm"/>']
    for finger in range(FINGERS):
        parent, x = "palm", finger * (SIDE + GAP)
        for k in range(SEGMENTS):
            name, spread = f"f{finger}s{k}", 0.1 if k == 0 else 0.6
            parts.append(
                f'<link name="{name}"><collision><origin xyz="0 0 {LENGTH / 2}"/><geometry>'
                f'<box size="{SIDE} {SIDE} {LENGTH}"/></geometry></collision></link>'
                f'<joint name="j{name}" type="revolute"><parent link="{parent}"/><child link="{name}"/>'
                f'<origin xyz="{x} 0 {0 if k == 0 else LENGTH}"/><axis xyz="{int(k > 0)} {int(k == 0)} 0"/>'
                f'<limit lower="-{spread}" upper="{spread}" velocity="1" effort="1"/></joint>'
            )
            parent, x = name, 0.0
    return "".join(parts) + "</robot>"


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> kd.Robot:
    path = tmp_path_factory.mktemp("hand") / "hand.urdf"
    path.write_text(hand_urdf())
    return kd.load(path)


def test_most_of_what_is_free_is_found_with_the_spheres_that_are_chosen(hand: kd.Robot) -> None:
    pytest.importorskip("coal")
    q = hand.random(200, seed=0)
    q = q[kd.collision.free(hand, q, exact=True)]
    assert len(q) > 20
    assert min(robot_spheres(hand).resolutions) < 0.3 * RESOLUTION
    assert kd.collision.free(hand, q).mean() > 0.8
    assert kd.collision.free(hand, q, resolution=RESOLUTION).mean() < 0.4


def test_what_is_free_by_spheres_of_any_resolution_is_free_by_the_shapes(hand: kd.Robot) -> None:
    pytest.importorskip("coal")
    q = hand.random(60, seed=1)
    world = kd.collision.World()
    world.add_box("bar", (0.2, 0.01, 0.01), ((0.0, 0.05, 0.07), None))
    truth = np.array([colliding(hand, row, world) for row in q])
    for resolution in (None, 0.005, 0.03):
        free = kd.collision.free(hand, q, world, resolution=resolution)
        assert not (free & truth).any()
    np.testing.assert_array_equal(kd.collision.free(hand, q, world, exact=True), ~truth)


def colliding(robot: kd.Robot, q: np.ndarray, world: kd.collision.World) -> bool:
    links = exact.placed_links(robot, q)
    allowed = kd.collision.allowed_pairs(robot)
    names = list(links)
    own = any(
        exact.collide(links[a], links[b]) for a in names for b in names if a < b and frozenset((a, b)) not in allowed
    )
    things = [exact.Placed(thing.shape, thing.pose) for thing in world]
    return own or any(exact.collide(links[name], things) for name in names)


def test_touching_pairs_are_those_that_no_table_knows_to_be_apart(hand: kd.Robot) -> None:
    query = Query(hand, snapshot_of(None))
    for q in hand.random(50, seed=2):
        assert bool(query.free(q)) == (not query.touching(q))


@pytest.mark.parametrize("resolution", [0.0, -1.0, float("nan")])
def test_a_resolution_of_checks_must_be_positive(hand: kd.Robot, resolution: float) -> None:
    q = hand.neutral()
    for check in (kd.collision.free, kd.collision.distance):
        with pytest.raises(kd.InputError, match="resolution"):
            check(hand, q, resolution=resolution)
    with pytest.raises(kd.InputError, match="resolution"):
        kd.collision.motion_free(hand, q, q, sphere_resolution=resolution)


def test_a_grasped_cloud_is_covered_with_few_spheres(hand: kd.Robot) -> None:
    from kinodyn.collision.covers import object_cover

    points = np.random.default_rng(0).uniform(-0.05, 0.05, (20_000, 3))
    cloud = kd.collision.PointCloud(points, 0.002)
    spheres, overshoot = object_cover("cloud", cloud, 0.015)
    assert len(spheres) < len(points) / 5
    distances = np.linalg.norm(points[::50, None] - spheres[:, :3], axis=-1) + cloud.radius - spheres[:, 3]
    assert (distances.min(axis=1) <= 1e-12).all()
    assert overshoot <= 0.015 + 1e-12
