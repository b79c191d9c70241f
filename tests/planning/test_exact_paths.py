"""Paths that only the exact shapes allow: verified, shortened, smoothed and timed on them."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World, exact
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Query
from kinodyn.planning import FixedOrientation, Plan, plan
from kinodyn.planning.exact_paths import ExactEdges

pytestmark = pytest.mark.skipif(not exact.is_available(), reason="needs coal")

SIDE, SLACK = 0.2, 0.01  # [m] of the cart, and of the corridor on each side of it: spheres reach farther
CART = f"""<robot name="cart"><link name="floor"/>
  <link name="sledge"/>
  <link name="cart"><collision><geometry><box size="{SIDE} {SIDE} 0.1"/></geometry></collision></link>
  <joint name="x" type="prismatic"><parent link="floor"/><child link="sledge"/><axis xyz="1 0 0"/>
    <limit lower="-1.2" upper="1.2" velocity="1" effort="100"/></joint>
  <joint name="y" type="prismatic"><parent link="sledge"/><child link="cart"/><axis xyz="0 1 0"/>
    <limit lower="-1.2" upper="1.2" velocity="1" effort="100"/></joint>
</robot>"""


@pytest.fixture(scope="module")
def cart(tmp_path_factory: pytest.TempPathFactory) -> kd.Robot:
    file = tmp_path_factory.mktemp("cart") / "cart.urdf"
    file.write_text(CART)
    return kd.load(file)


def corridor() -> World:
    """Return a corridor along x that turns to y at the origin."""
    half, world = SIDE / 2 + SLACK, World()
    world.add_box("south", (4.0, 1.0, 0.2), ((0.0, -half - 0.5, 0.0), None))
    world.add_box("east", (1.0, 4.0, 0.2), ((half + 0.5, 0.0, 0.0), None))
    world.add_box("inner", (2.0, 2.0, 0.2), ((-half - 1.0, half + 1.0, 0.0), None))
    return world


def dense(robot: kd.Robot, path: Array) -> Array:
    """Return many configurations along a path."""
    return np.concatenate(
        [robot.interpolate(*ends, np.linspace(0, 1, 500)) for ends in zip(path, path[1:], strict=False)]
    )


def assert_exactly_free(q: Array) -> None:
    """The cart is axis-aligned: it is free if its centre is within the slack of the centre line of the corridor."""
    x, y = q.T
    assert (((np.abs(y) < SLACK) & (x < SLACK)) | ((np.abs(x) < SLACK) & (y > -SLACK))).all()


def test_there_and_back_in_a_corridor_is_cut_to_its_legs(cart: kd.Robot) -> None:
    world, corner_x = corridor(), np.array([-1.0, -0.2, -0.6, -0.1, -0.3, 0.0])
    path = np.vstack([np.column_stack([corner_x, np.zeros(6)]), np.column_stack([np.zeros(3), [0.5, 0.2, 1.0]])])
    assert not kd.collision.free(cart, path, world).any()  # all of it touches by the spheres
    checks = ExactChecks(Query(cart, world.snapshot()), frozenset())
    small = Query(cart, world.snapshot(), q=path[0], moves=np.ones(2, dtype=bool), shrink=0.015)
    edges = ExactEdges(checks, small, 2e-4)
    assert edges.path_free(path)
    shorter = edges.shortened(path, 10, 0)
    np.testing.assert_array_equal(shorter[[0, -1]], path[[0, -1]])
    assert 2.0 - 4 * SLACK < np.linalg.norm(np.diff(shorter, axis=0), axis=1).sum() < 2.0 + 1e-9
    assert_exactly_free(dense(cart, shorter))
    checks.end = time.perf_counter() - 1.0  # no time is left: the path stays
    np.testing.assert_array_equal(edges.shortened(path, 10, 0), path)


def test_a_plan_in_the_corridor_is_short_and_its_curves_are_free(cart: kd.Robot) -> None:
    found = plan(cart, [-1.0, 0.0], [0.0, 1.0], corridor(), time_budget=20.0)
    assert found.success and found.length < 2.0 + 4 * SLACK
    motion = found.trajectory()
    assert_exactly_free(motion(np.linspace(0.0, motion.duration, 5000)))
    curve = found.smoothed()
    assert_exactly_free(curve(np.linspace(0.0, curve.duration, 5000)))


def test_a_corner_of_the_corridor_is_rounded(cart: kd.Robot) -> None:
    world, path = corridor(), np.array([[-1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    assert not kd.collision.free(cart, path, world).any()
    given = Plan(cart, "solved", "", path, ("x", "y"), world.snapshot())
    for motion in (given.smoothed(), given.trajectory()):
        q = motion(np.linspace(0.0, motion.duration, 5000))
        assert_exactly_free(q)
        assert np.linalg.norm(q - path[1], axis=1).min() > 1e-3


def test_parts_that_nearly_touch_and_do_not_move_block_nothing(tmp_path: Path) -> None:
    """A door 5 um from its frame, which it would hit if it were shut further, while a cart drives."""
    panel = '<collision><origin xyz="{} -3 0"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision>'
    door = f"""<link name="frame">{panel.format(0.0)}</link><link name="door">{panel.format(0.100005)}</link>
      <joint name="wall" type="fixed"><parent link="floor"/><child link="frame"/></joint>
      <joint name="shut" type="prismatic"><parent link="floor"/><child link="door"/><axis xyz="-1 0 0"/>
        <limit lower="-1" upper="0.05" velocity="1" effort="1"/></joint></robot>"""
    (tmp_path / "cart.urdf").write_text(CART.replace("</robot>", door))
    robot = kd.load(tmp_path / "cart.urdf")
    q = {name: np.zeros(3) for name in ("start", "goal")}
    q["start"][robot.joint("x").q], q["goal"][robot.joint("y").q] = -0.8, 0.8
    assert not kd.collision.free(robot, q["start"])
    found = plan(robot, q["start"], q["goal"], corridor(), group=["x", "y"])
    assert found.success, found
    assert not any(kd.collision.contacts(robot, one, corridor()) for one in dense(robot, found.path)[::50])
    assert found.trajectory().duration > 0.0


def test_constrained_plans_are_shortened_on_the_shapes_too(cart: kd.Robot) -> None:
    found = plan(cart, [-1.0, 0.0], [0.0, 1.0], corridor(), constraints=[FixedOrientation("cart")], time_budget=20.0)
    assert found.success and found.length < 2.0 + 4 * SLACK
    assert_exactly_free(dense(cart, found.path))


def test_talos_plans_from_a_posture_in_which_many_spheres_touch() -> None:
    """Thighs, and upper arms and trunk: no configuration nearby has free spheres; their triangles decide."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load("talos")
        start = robot.configuration("half_sitting")
        goal = {"arm_left_4_joint": float(start[robot.joint("arm_left_4_joint").q][0]) + 0.3}
        found = plan(robot, start, goal, time_budget=60.0)
    assert found.success, found
    assert not any(kd.collision.contacts(robot, q) for q in dense(robot, found.path)[::100])


def test_fingers_that_follow_one_joint_move_towards_each_other(tmp_path: Path) -> None:
    """Both fingers are moved by one coordinate, in opposite directions."""
    finger = '<collision><geometry><box size="0.02 0.02 0.1"/></geometry></collision>'
    (tmp_path / "gripper.urdf").write_text(
        f"""<robot name="gripper"><link name="palm"/><link name="left">{finger}</link><link name="right">{finger}</link>
        <joint name="slide" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="1 0 0"/>
          <limit lower="0" upper="0.1" velocity="1" effort="1"/></joint>
        <joint name="follow" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="-1 0 0"/>
          <limit lower="0" upper="0.1" velocity="1" effort="1"/><mimic joint="slide"/></joint></robot>"""
    )
    robot = kd.load(tmp_path / "gripper.urdf")
    checks = ExactChecks(Query(robot, World().snapshot()), frozenset())
    assert checks.speeds(np.array([0.05]), [("left", "right")])["left", "right"] == pytest.approx(0.1, rel=1e-5)
