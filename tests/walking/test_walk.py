"""Robots walk in MuJoCo, actuated by joint torques alone."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.errors import InputError, KinodynError
from kinodyn.walking import GaitSettings, survives_push
from kinodyn.walking.metrics import path_heading, progress
from kinodyn.walking.simulation import run_controller


def load(name: str) -> kd.Robot:
    if name.startswith("humanoid"):
        sizes = {"humanoid": {}, "humanoid, small": {"height": 1.2, "mass": 30}}[name]
        return kd.load("humanoid", **sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        return kd.load(name, base="floating")


@pytest.mark.parametrize("name", ["humanoid", "humanoid, small", "talos", "g1"])
def test_robots_without_tuning_walk_and_stop(name: str) -> None:
    robot = load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)  # meshes that MuJoCo cannot read
        result = kd.walking.walk(robot, (0.2, 0.0, 0.0), duration=6.0)
    assert result.walked and result.fallen is None and result.recording.status == "complete"
    assert result.steps >= 5
    assert result.distance == pytest.approx(0.2 * 4.0, abs=0.25)
    assert result.torque <= 1.0 + 1e-9
    assert result.slip < 0.01
    assert np.abs(result.recording.v[-50:, :3]).max() < 0.05  # it stands in the end


def test_walks_keep_speed_and_turn_rate_and_are_bit_identical() -> None:
    robot = kd.load("humanoid")
    first, second = (kd.walking.walk(robot, (0.3, 0.0, 0.1), duration=6.0) for _ in range(2))
    assert first.speed == pytest.approx(0.3, rel=0.1)
    assert first.torque < 0.95  # level ground needs no peak torque, not even at touchdown
    x, y, z, w = first.recording.q[-1, 3:7]
    assert 2 * np.arctan2(z, w) == pytest.approx(0.1 * 4.0, abs=0.12)
    np.testing.assert_array_equal(first.recording.q, second.recording.q)


def test_a_fall_is_reported_and_the_recording_kept(tmp_path: Path) -> None:
    robot = kd.load("humanoid")
    push = kd.sim.Push("torso", [0.0, 3000.0, 0.0], start=1.0, duration=0.2)
    result = kd.walking.walk(robot, (0.0, 0.0, 0.0), duration=4.0, pushes=[push])
    assert not result.walked and result.fallen is not None and result.fallen > 1.0
    assert "fell after" in str(result)
    result.plot(tmp_path / "walk.png")
    assert (tmp_path / "walk.png").stat().st_size > 10_000


def test_undisturbed_steps_land_as_planned_where_friction_is_low() -> None:
    # a swing leg turns the body: where friction does not hold it, the CoM along the ground is the last to yield
    controller = kd.walking.WalkingController(load("g1"))
    controller.command((0.7, 0.0, 0.0))
    adapted: list[bool] = []

    def observe(t: float, state: kd.State) -> bool:
        adapted.append(controller.planner.adapted is not None)
        return controller.fallen is not None

    simulator = kd.walking.make_simulator(controller.body, "mujoco", friction=0.5)
    run_controller(simulator, controller, 4.0, until=observe)
    assert controller.fallen is None and sum(adapted) == 0


def test_the_humanoid_walks_to_a_goal_and_stands_there() -> None:
    result = kd.walking.walk(kd.load("humanoid"), (0.3, 0.0, 0.0), goal=(0.5, 0.2, 0.5))
    assert result.walked and abs(result.heading_drift) < np.deg2rad(2.0)
    assert 0.05 < result.speed < 0.3  # starting, stopping and turning included
    robot, q = result.body.robot, result.recording.q[-1]
    middles = [(foot.sole_pose(robot, q) @ [*foot.middle, 0.0, 1.0])[:2] for foot in result.body.feet.values()]
    np.testing.assert_allclose(np.mean(middles, axis=0), [0.5, 0.2], atol=0.03)
    assert result.recording.duration < 8.0  # it does not go on stepping


def test_the_humanoid_stops_after_a_distance() -> None:
    result = kd.walking.walk(kd.load("humanoid"), (0.3, 0.0, 0.0), distance=0.8)
    assert result.walked and result.distance == pytest.approx(0.8, abs=0.12)
    figures = result.summary()
    assert figures["steps"] == result.steps and figures["fallen"] is None
    assert max(figures["torques"].values()) == figures["torque"] <= 1.0 + 1e-9


def test_steps_back_do_not_count_as_progress() -> None:
    """A push against the walk costs half a metre of recovery steps, which the robot walks again."""
    push = kd.sim.Push("pelvis", [-250.0, 0.0, 0.0], start=2.0, duration=0.2)
    result = kd.walking.walk(kd.load("humanoid"), (0.3, 0.0, 0.0), distance=0.8, pushes=[push])
    assert result.walked and result.distance == pytest.approx(0.8, abs=0.12)
    short = kd.walking.walk(kd.load("humanoid"), (0.3, 0.0, 0.0), distance=0.8, duration=3.5, pushes=[push])
    assert not short.walked and "of 0.8 m" in short.reason


def test_progress_is_measured_along_the_commanded_path() -> None:
    angle = np.linspace(0.0, 2.0, 2001)
    arc = np.column_stack([np.sin(angle), 1.0 - np.cos(angle)])
    moved, curve, straight = np.diff(arc, axis=0), np.array([0.3, 0.0, 0.3]), np.array([0.3, 0.0, 0.0])
    heading = 0.5 * (angle[1:] + angle[:-1])
    assert progress(moved, path_heading(heading, curve), curve) == pytest.approx(2.0, rel=1e-6)
    # a robot that turns away from a straight path gets no further than its projection
    assert progress(moved, path_heading(heading, straight), straight) == pytest.approx(np.sin(2.0), rel=1e-6)
    there_and_back = np.concatenate([moved, -moved[::-1]])
    assert progress(there_and_back, np.zeros(len(there_and_back)), straight) == pytest.approx(0.0, abs=1e-12)


def test_an_unknown_slope_is_estimated() -> None:
    x = np.arange(-1.0, 4.0, 0.05)
    rise = np.tan(np.deg2rad(5.0)) * np.maximum(x - 0.4, 0.0)
    ground = kd.contact.HeightField(np.tile(rise[:, None], 3), (0.05, 1.0), (-1.0, -1.0))
    result = kd.walking.walk(kd.load("humanoid"), (0.3, 0.0, 0.0), duration=7.0, ground=ground)
    height = result.recording.q[-1, 2] - result.recording.q[0, 2]
    assert result.walked and result.distance > 0.9
    assert height == pytest.approx(np.tan(np.deg2rad(5.0)) * (result.distance - 0.4), abs=0.02)
    np.testing.assert_allclose(result.recording.signals["gradient"][-1], [np.tan(np.deg2rad(5.0)), 0.0], atol=0.01)


@pytest.mark.parametrize("angle", [0.0, np.pi / 2])
def test_a_step_recovers_from_a_push_beyond_the_bound(angle: float) -> None:
    robot = kd.load("humanoid")
    body = kd.walking.Biped.from_robot(robot)
    polygon = kd.balance.support_polygon(robot, body.q, list(body.feet.values()))
    com = kd.kinematics.com(robot, body.q)[:2]
    bound = kd.balance.push_bound(polygon, com, [np.cos(angle), np.sin(angle)], body.omega, robot.mass)
    assert not survives_push(robot, angle, 2.0 * float(bound))
    assert survives_push(robot, angle, 2.0 * float(bound), stepping=True)
    assert survives_push(robot, angle, 0.7 * float(bound))


def test_the_error_of_a_weak_robot_names_the_joint() -> None:
    description = kd.load("humanoid").description
    joints = [replace(joint, effort=30.0) if "knee" in joint.name else joint for joint in description.joints]
    weak = kd.Robot(replace(description, joints=tuple(joints)))
    with pytest.raises(KinodynError, match="too weak.*knee"):
        kd.walking.walk(weak)


def test_errors_are_raised_before_the_simulation_starts() -> None:
    with pytest.raises(InputError, match="goal"):
        kd.walking.walk(kd.load("humanoid"), goal=(1e4, 0.0, 0.0))
    with pytest.raises(InputError, match="not both"):
        kd.walking.walk(kd.load("humanoid"), goal=(1.0, 0.0, 0.0), distance=1.0)
    with pytest.raises(KinodynError):
        kd.walking.walk(kd.load("panda"))
    with pytest.raises(InputError, match="m/s"):
        kd.walking.walk(kd.load("humanoid"), (5.0, 0.0, 0.0))
    with pytest.raises(InputError, match="duration"):
        kd.walking.walk(kd.load("humanoid"), duration=1.0)


def test_a_fast_walk_keeps_its_speed_within_the_limits_of_its_joints() -> None:
    robot = kd.load("humanoid")
    result = kd.walking.walk(robot, (1.1, 0.0, 0.0), duration=6.0, noise={"q": 1e-4, "v": 1e-2}, friction=0.6)
    assert result.walked, result.reason
    assert result.speed == pytest.approx(1.1, rel=0.1)
    # the controller measures velocities with a standard deviation of 0.01 rad/s
    assert (np.abs(result.recording.v[:, 6:]) <= robot.limits.velocity[6:] + 0.03).all()
    assert max(result.torques.values()) <= 1.0 + 1e-9


def test_a_walking_robot_survives_a_push() -> None:
    robot = kd.load("humanoid")
    impulse = 0.2 * robot.mass  # 0.2 m/s
    assert survives_push(robot, np.pi / 2, impulse, stepping=True, velocity=(0.3, 0.0, 0.0))


def test_the_hip_strategy_recovers_from_a_push_that_ankles_alone_do_not() -> None:
    robot = kd.load("humanoid")
    body = kd.walking.Biped.from_robot(robot)
    polygon = kd.balance.support_polygon(robot, body.q, list(body.feet.values()))
    com = kd.kinematics.com(robot, body.q)[:2]
    impulse = 0.94 * float(kd.balance.push_bound(polygon, com, [0.0, 1.0], body.omega, robot.mass))
    assert survives_push(robot, np.pi / 2, impulse)
    assert not survives_push(robot, np.pi / 2, impulse, settings=GaitSettings.from_robot(body, hip_offset=0.0))
