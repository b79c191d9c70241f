"""Ground that is not level: it is where it was asked for, and what lies on it rests there."""

from __future__ import annotations

from typing import Any

import mujoco as mj
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description.types import Description, Inertia, Joint, Link, Shape
from kinodyn.dynamics.contact import HeightField, Plane
from kinodyn.sim import MujocoSimulator, simulate, to_mjcf, to_mujoco
from kinodyn.terrain import Terrain

from .posture_control import keep_posture

SLOPE = np.radians(5.0)
RADIUS = 0.1


def body(shape: Shape) -> kd.Robot:
    link = Link("body", Inertia(2.0, np.zeros(3), 0.01 * np.eye(3)), collisions=(shape,))
    joint = Joint("free", "floating", "world", "body")
    return kd.Robot(Description("body", (Link("world"), link), (joint,), base="floating"))


def ball() -> kd.Robot:
    return body(Shape("sphere", (RADIUS,), np.eye(4)))


def looked_down_on(model: mj.MjModel, xy: np.ndarray) -> np.ndarray:
    """Measure the height of the ground at places (n, 2) by rays from above that miss the robot."""
    data = mj.MjData(model)
    data.qpos[:2] = 1e3
    mj.mj_forward(model, data)
    geom = np.zeros(1, dtype=np.int32)
    down = np.array([0.0, 0.0, -1.0])
    return np.array([5.0 - mj.mj_ray(model, data, np.array([*p, 5.0]), down, None, 1, -1, geom) for p in xy])


def test_a_slope_is_where_its_point_and_normal_put_it() -> None:
    ground = Plane([0.3, -0.2, 0.1], [-0.2, 0.1, 1.0])
    xy = np.random.default_rng(0).uniform(-2, 2, size=(50, 2))
    height = looked_down_on(to_mujoco(ball(), ground=ground), xy)
    np.testing.assert_allclose(ground.height_and_normal(np.column_stack([xy, height]))[0], 0.0, atol=1e-9)


def test_a_height_field_has_its_heights_at_its_nodes() -> None:
    heights = 0.2 * np.random.default_rng(1).normal(size=(7, 5))
    ground = HeightField(heights, (0.1, 0.2), (-0.4, 0.3, 0.05))
    i, j = np.meshgrid(np.arange(1, 6), np.arange(1, 4), indexing="ij")
    xy = np.column_stack([-0.4 + 0.1 * i.ravel(), 0.3 + 0.2 * j.ravel()]) + 1e-9
    seen = looked_down_on(to_mujoco(ball(), ground=ground), xy)
    np.testing.assert_allclose(seen, heights[i.ravel(), j.ravel()] + 0.05, atol=1e-6)  # MuJoCo keeps them as floats


def test_a_field_without_heights_is_level() -> None:
    ground = HeightField(np.full((3, 3), 0.4), 0.5, (-0.5, -0.5))
    np.testing.assert_allclose(looked_down_on(to_mujoco(ball(), ground=ground), np.array([[0.1, 0.2]])), 0.4, atol=2e-6)


@pytest.mark.parametrize(
    "ground",
    [
        Plane(),
        Plane([0, 0, 0.2], [-np.sin(SLOPE), 0.02, np.cos(SLOPE)]),
        HeightField(np.full((9, 9), 0.3), 0.5, (-2, -2)),
    ],
)
def test_boxes_rise_above_the_ground_by_their_height(ground: Any) -> None:
    model = to_mujoco(ball(), ground=Terrain([ground]).with_box(0.5, -0.3, (0.2, 0.4, 0.015)))
    beside = np.array([[0.35, -0.3], [0.65, -0.3], [0.5, -0.55], [0.5, -0.05]])
    inside = np.array([[0.42, -0.3], [0.58, -0.3], [0.5, -0.48], [0.5, -0.12]])
    for xy, height in ((beside, 0.0), (inside, 0.015)):
        p = np.column_stack([xy, looked_down_on(model, xy)])
        np.testing.assert_allclose(ground.height_and_normal(p)[0], height, atol=3e-6)


def test_a_box_rests_on_a_slope_that_its_friction_holds() -> None:
    robot, normal = body(Shape("box", (0.4, 0.3, 0.2), np.eye(4))), np.array([-np.sin(SLOPE), 0.0, np.cos(SLOPE)])
    q0 = robot.neutral()
    q0[:3], q0[3:7] = 0.1 * normal, [0.0, -np.sin(SLOPE / 2), 0.0, np.cos(SLOPE / 2)]
    options: dict[str, Any] = {"q0": q0, "engine": "mujoco", "ground": Plane(normal=normal)}
    held = simulate(robot, None, 0.5, **options)
    np.testing.assert_allclose(held.q[-1, :3], 0.1 * normal, atol=1e-3)
    np.testing.assert_allclose(held.forces["body"][-1, :3], [0.0, 0.0, 2.0 * 9.81], atol=0.02)
    sliding = simulate(robot, None, 0.5, friction=0.05, **options)
    speed = 9.81 * 0.5 * (np.sin(SLOPE) - 0.05 * np.cos(SLOPE))
    np.testing.assert_allclose(sliding.v[-1, 0], -speed, rtol=0.01)


def test_a_ball_comes_to_rest_in_a_hollow() -> None:
    robot = ball()
    x = np.linspace(-1.0, 1.0, 9)
    ground = HeightField(0.3 * np.abs(x)[:, None] + 0.3 * np.abs(x), 0.25, (-1.0, -1.0))
    q0 = robot.neutral()
    q0[:3] = 0.0, 0.0, 0.3
    resting = simulate(robot, None, 1.0, q0=q0, engine="mujoco", ground=ground)
    # four walls of slope 0.3 along both axes: the centre is a radius away from each of them
    np.testing.assert_allclose(resting.q[-1, :3], [0.0, 0.0, RADIUS * np.sqrt(1 + 2 * 0.3**2)], atol=2e-3)
    assert np.abs(resting.v[-1]).max() < 5e-3


def test_the_humanoid_stands_on_a_step_of_15_mm() -> None:
    robot = kd.load("humanoid")
    q0 = robot.configuration("standing")
    q0[2] += 0.015 - kd.kinematics.pose(robot, q0, "left_sole")[2, 3]
    hold = keep_posture(robot, q0)
    soles = ["left_sole", "right_sole"]
    simulator = MujocoSimulator(robot, frames=soles, ground=kd.terrain.flat().with_box(0.0, 0.0, (0.6, 0.8, 0.015)))
    run = simulate(robot, hold, 0.3, q0=q0, engine=simulator)
    for sole in soles:
        assert kd.kinematics.pose(robot, run.q[-1], sole)[2, 3] == pytest.approx(0.015, abs=1e-3)
    assert sum(run.forces[sole][-1, 2] for sole in soles) == pytest.approx(9.81 * robot.mass, rel=0.05)


def test_terrain_is_part_of_the_exported_mjcf() -> None:
    ground = Terrain([HeightField(np.arange(12.0).reshape(3, 4) / 50, 0.2)]).with_box(0.2, 0.3, (0.1, 0.1, 0.25))
    text = to_mjcf(ball(), ground=ground)
    again, xy = mj.MjModel.from_xml_string(text), np.array([[0.2 + 1e-9, 0.4 - 1e-9], [0.21, 0.31]])
    direct = to_mujoco(ball(), ground=ground)
    np.testing.assert_allclose(looked_down_on(again, xy), looked_down_on(direct, xy), atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"ground": 0.1},
            "ground must be a kinodyn.terrain.Terrain, a kinodyn.dynamics.contact.Plane, .* or None, got 0.1",
        ),
        ({"ground": Plane(normal=(1, 0, 0))}, "upwards"),
        ({"ground": Plane(), "floor": False}, "floor=True"),
        ({"ground": kd.terrain.flat(), "contacts": False}, "contacts=True"),
    ],
)
def test_invalid_terrain_is_rejected(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        to_mujoco(ball(), **settings)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ((0.0, 0.0, (1.0, 1.0, -0.1)), "size of the box must be 3 positive numbers"),
        ((np.nan, 0.0, (1.0, 1.0, 0.1)), "position of the box"),
        ((9.0, 0.0, (1.0, 1.0, 0.1)), "there must be ground below the box, got x=9.0, y=0.0"),
    ],
)
def test_a_box_needs_a_size_and_ground_below_it(box: Any, message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        Terrain([HeightField(np.zeros((3, 3)), 0.5)]).with_box(*box)
