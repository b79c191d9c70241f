"""Tables of the distance of links near each other, against coal on the exact shapes."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import exact
from kinodyn.collision.clearances import COLLIDING, Table, link_clearances
from kinodyn.collision.query import Query
from kinodyn.collision.snapshot import WorldSnapshot

BOXES = """
<robot name="boxes">
  <link name="base"><collision><geometry><box size="0.3 0.3 0.1"/></geometry></collision></link>
  <link name="middle"><collision><geometry><box size="0.02 0.02 0.02"/></geometry></collision></link>
  <link name="arm"><collision><origin xyz="0.2 0 0"/><geometry><box size="0.3 0.06 0.06"/></geometry></collision></link>
  <link name="slider"><collision><geometry><cylinder radius="0.05" length="0.2"/></geometry></collision></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="middle"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 0.15"/></joint>
  <joint name="bend" type="revolute"><parent link="middle"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.5" velocity="1" effort="1"/></joint>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="slider"/><axis xyz="1 0 0"/>
    <origin xyz="0 0.4 0.15"/><limit lower="-0.5" upper="0.5" velocity="1" effort="1"/></joint>
</robot>
"""

# A drum that turns about its own axis and is carried round the axis of a flange, which it nearly touches everywhere.
FLANGE = """
<robot name="flange">
  <link name="base"><collision><geometry><cylinder radius="0.2" length="0.1"/></geometry></collision></link>
  <link name="middle"><collision><origin xyz="0 0 0.125"/><geometry><box size="0.02 0.02 0.02"/></geometry></collision>
    </link>
  <link name="drum"><collision><origin rpy="1.5708 0 0"/><geometry><cylinder radius="0.06" length="0.1"/></geometry>
    </collision><collision><origin xyz="0.25 0 0"/><geometry><box size="0.3 0.05 0.05"/></geometry></collision></link>
  <joint name="pan" type="continuous"><parent link="base"/><child link="middle"/><axis xyz="0 0 1"/></joint>
  <joint name="lift" type="revolute"><parent link="middle"/><child link="drum"/><axis xyz="0 1 0"/>
    <origin xyz="0 0.13 0.125"/><limit lower="-3.1" upper="3.1" velocity="1" effort="1"/></joint>
</robot>
"""


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> kd.Robot:
    path = tmp_path_factory.mktemp("boxes") / "boxes.urdf"
    path.write_text(BOXES)
    return kd.load(path)


@pytest.fixture(scope="module")
def flange(tmp_path_factory: pytest.TempPathFactory) -> kd.Robot:
    path = tmp_path_factory.mktemp("flange") / "flange.urdf"
    path.write_text(FLANGE)
    return kd.load(path)


def cells_at(table: Table, q: np.ndarray) -> np.ndarray:
    """Return the entries of a table at configurations (n, nq)."""
    index = []
    for axis in table.axes:
        if axis["iq"] < 0:
            index.append(np.zeros(len(q), dtype=int))
            continue
        x = q[:, axis["iq"]]
        if axis["period"] > 0:
            x = x - axis["period"] * np.rint(x / axis["period"])
        index.append(np.clip(((x - axis["low"]) / axis["step"]).astype(int), 0, axis["count"] - 1))
    return table.cells[tuple(index)]


def exact_distances(robot: kd.Robot, q: np.ndarray, pair: frozenset[str]) -> np.ndarray:
    first, second = sorted(pair)
    placed = [exact.placed_links(robot, row) for row in q]
    return np.array([exact.distance(links[first], links[second]).distance for links in placed])


@pytest.mark.parametrize("name", ["boxes", "ur5"])
def test_entries_are_lower_bounds_of_the_exact_distance(robot: kd.Robot, name: str) -> None:
    pytest.importorskip("coal")
    robot = robot if name == "boxes" else kd.load(name)
    tables = link_clearances(robot)
    assert tables
    assert any((table.axes["iq"] >= 0).all() for table in tables.values())  # two coordinates
    q = robot.random(60, seed=0)
    for pair, table in tables.items():
        entries, distances = cells_at(table, q), exact_distances(robot, q, pair)
        free = entries > 0
        assert (entries[free] <= distances[free]).all(), pair
        assert (distances[entries == COLLIDING] < 0.05).all(), pair


def test_surfaces_that_turn_about_an_axis_keep_their_distance_in_the_table(flange: kd.Robot) -> None:
    pytest.importorskip("coal")
    ((pair, table),) = link_clearances(flange).items()
    q = flange.random(300, seed=2)
    entries, distances = cells_at(table, q), exact_distances(flange, q, pair)
    free = entries > 0
    assert (entries[free] <= distances[free]).all()
    assert (distances[free] < 0.016).mean() > 0.5  # the gap of the drum
    assert (free[distances > 0.014]).mean() > 0.95
    assert np.median(entries[free]) > 0.005


def test_the_table_decides_most_free_configurations(robot: kd.Robot) -> None:
    pytest.importorskip("coal")
    (table,) = [table for pair, table in link_clearances(robot).items() if pair == {"arm", "base"}]
    q = robot.random(400, seed=1)
    distances = exact_distances(robot, q, frozenset(("arm", "base")))
    clear = distances > 0.02
    assert 0.1 < clear.mean() < 1.0
    assert (cells_at(table, q)[clear] > 0).all()


def test_full_turns_of_a_continuous_joint_change_nothing(robot: kd.Robot) -> None:
    query = Query(robot, WorldSnapshot())
    q = robot.random(500, seed=2)
    turned = q.copy()
    turned[:, robot.joint("turn").q.start] += 2 * np.pi * np.random.default_rng(0).integers(-3, 4, len(q))
    agree = query.free(q) == query.free(turned)
    assert agree.mean() > 0.99  # rounding moves a few across the border of a cell


def test_checks_with_tables_are_free_where_the_shapes_are(robot: kd.Robot) -> None:
    pytest.importorskip("coal")
    query = Query(robot, WorldSnapshot())
    q = robot.random(300, seed=3)
    free = query.free(q)
    for row, is_free in zip(q, free, strict=True):
        links = exact.placed_links(robot, row)
        hit = any(
            exact.collide(links[a], links[b]) for a, b in (("arm", "base"), ("slider", "arm"), ("slider", "base"))
        )
        assert not (is_free and hit)
    # one configuration at a time, and motions of no length, say the same as the batch
    assert [bool(query.free(row)) for row in q] == free.tolist()
    assert query.motion_free(q, q, 1e-3).tolist() == free.tolist()


def test_pairs_that_may_touch_are_left_out_of_a_table(robot: kd.Robot) -> None:
    q = robot.random(500, seed=4)
    allowed = frozenset((frozenset(("arm", "base")),))
    assert not Query(robot, WorldSnapshot()).free(q).all()
    others = frozenset(frozenset(pair) for pair in (("slider", "arm"), ("slider", "base")))
    assert Query(robot, WorldSnapshot(), allowed | others).free(q).all()


def test_tables_are_kept_on_disk(robot: kd.Robot, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kinodyn.collision import clearances

    monkeypatch.setenv("KINODYN_CACHE", str(tmp_path))
    made = clearances._TableBuilder(robot).tables()
    monkeypatch.setattr(clearances._core, "clearances", None)
    again = clearances._TableBuilder(robot).tables()
    for pair, table in made.items():
        np.testing.assert_array_equal(table.cells, again[pair].cells)
