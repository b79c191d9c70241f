"""Hybrid control: force against a wall, motion along it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.control import Gains, HybridForceMotion

FRAME = "panda_hand_tcp"


class Wall:
    """A soft wall that pushes a frame's origin out along its normal: 5000 N/m, 20 N s/m, without friction."""

    def __init__(self, point: np.ndarray, normal: np.ndarray) -> None:
        self.point, self.normal = point, normal

    def wrenches(self, robot: kd.Robot, q: np.ndarray, v: np.ndarray, anchors: None = None) -> tuple[dict, None]:
        T = kd.kinematics.pose(robot, q, FRAME)
        depth = (self.point - T[..., :3, 3]) @ self.normal
        speed = kd.kinematics.velocity(robot, q, v, FRAME)[..., :3] @ self.normal
        size = np.where(depth > 0, np.maximum(0.0, 5000.0 * depth - 20.0 * speed), 0.0)
        return {FRAME: np.concatenate([size[..., None] * self.normal, np.zeros((*size.shape, 3))], axis=-1)}, None


def along(T0: np.ndarray, displacement: np.ndarray) -> Callable:
    """Move a pose by displacement * (1 - cos(2 t)) / 2."""

    def motion(t: float, order: int = 0) -> np.ndarray:
        shape = (0.5 * (1 - np.cos(2 * t)), np.sin(2 * t), 2 * np.cos(2 * t))[order]
        if order == 0:
            return kd.spatial.pose(T0[:3, 3] + displacement * shape, T0[:3, :3])
        return np.r_[displacement * shape, 0.0, 0.0, 0.0]

    return motion


@pytest.mark.parametrize("axes", ["rotation", "frame"])
def test_ten_newtons_are_kept_on_a_slanted_wall_while_moving_along_it(axes: str, load: Callable) -> None:
    robot, q = load("panda")
    T0 = kd.kinematics.pose(robot, q, FRAME)
    R = kd.spatial.rot_y(2.6) if axes != "frame" else T0[:3, :3]  # z of the axes points into the wall
    into, sideways = R[:, 2], R[:, 1]
    wall = Wall(T0[:3, 3] + 0.002 * into, -into)
    controller = HybridForceMotion(
        robot,
        FRAME,
        along(T0, 0.2 * sideways),
        wrench=[0.0, 0.0, 10.0, 0.0, 0.0, 0.0],
        selection=[False, False, True, False, False, False],
        measured=lambda t, state: wall.wrenches(robot, state.q, state.v)[0][FRAME],
        gains=Gains.from_frequency(20.0),
        axes={"rotation": R, "frame": FRAME}[axes],
        posture=q,
    )
    recording = kd.sim.simulate(robot, controller, 2.0, q0=q, contacts=wall, friction=False)
    force = -recording.forces[FRAME][:, :3] @ into
    settled = recording.time > 1.0
    np.testing.assert_allclose(force[settled], 10.0, atol=0.2)
    assert np.abs(recording.signals["error"][settled]).max() < 1e-3
    path = kd.kinematics.pose(robot, recording.q, FRAME)[:, :3, 3] - T0[:3, 3]
    assert np.ptp(path @ sideways) > 0.19


def test_motion_and_force_directions_are_decoupled(load: Callable) -> None:
    robot, q = load("panda")
    v = np.linspace(-0.4, 0.4, 7)
    T0 = kd.kinematics.pose(robot, q, FRAME)
    S = np.diag([0, 0, 1, 0, 1, 0])
    accelerations = []
    for push in (0.0, 30.0):
        controller = HybridForceMotion(
            robot,
            FRAME,
            T0,
            wrench=np.full(6, push),
            selection=S,
            measured=lambda t, state, push=push: -np.diag(S) * push,  # a rigid wall
            gains=Gains.from_frequency(20.0),
            torque_limits=np.inf,
        )
        tau = controller(0.0, kd.State(robot, q, v))
        a = kd.dynamics.forward(robot, q, v, tau, {FRAME: -np.diag(S) * push})
        accelerations.append(kd.kinematics.acceleration(robot, q, v, a, FRAME))
    np.testing.assert_allclose(*accelerations, atol=1e-9)
    rate = kd.kinematics.velocity(robot, q, v, FRAME)
    expected = np.where(np.diag(S), -20.0 * rate, -40.0 * rate)
    np.testing.assert_allclose(accelerations[0], expected, atol=1e-9)


def test_without_a_wall_the_hand_drifts_slowly_along_the_force(load: Callable) -> None:
    robot, q = load("panda")
    T0 = kd.kinematics.pose(robot, q, FRAME)
    controller = HybridForceMotion(
        robot,
        FRAME,
        T0,
        wrench=[0.0, 0.0, -10.0, 0.0, 0.0, 0.0],
        selection=[0, 0, 1, 0, 0, 0],
        measured=lambda t, state: np.zeros(6),
        gains=Gains.from_frequency(20.0),
        force_limit=5.0,
    )
    recording = kd.sim.simulate(robot, controller, 1.0, q0=q, friction=False, control_dt=2e-3)
    assert np.abs(recording.signals["integral"]).max() == 5.0
    speed = kd.kinematics.velocity(robot, recording.q, recording.v, FRAME)[:, 2]
    assert -0.5 < speed.min() < -0.01


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"selection": [1, 0, 0]}, "selection"),
        ({"selection": [2, 0, 0, 0, 0, 0]}, "selection"),
        ({"selection": np.ones((6, 6))}, "selection"),
        ({"wrench": np.full(6, np.nan)}, "wrench"),
        ({"measured": np.zeros(6)}, "function"),
        ({"axes": 2.0 * np.eye(3)}, "axes"),
        ({"force_gain": -1.0}, "force_gain"),
    ],
)
def test_invalid_settings_raise(changes: dict, words: str, load: Callable) -> None:
    robot, _ = load("panda")
    settings = {
        "wrench": np.zeros(6),
        "selection": np.zeros(6),
        "measured": lambda t, state: np.zeros(6),
        "gains": Gains.from_frequency(20.0),
        **changes,
    }
    with pytest.raises(kd.InputError, match=words):
        HybridForceMotion(robot, FRAME, np.eye(4), **settings)


def test_unknown_frames_and_invalid_measurements_raise(load: Callable) -> None:
    robot, q = load("panda")
    common = (np.zeros(6), np.zeros(6), lambda t, state: np.full(6, np.nan), Gains.from_frequency(20.0))
    with pytest.raises(kd.UnknownNameError, match="frame"):
        HybridForceMotion(robot, FRAME, np.eye(4), *common, axes="wall")
    with pytest.raises(kd.InputError, match="measured"):
        HybridForceMotion(robot, FRAME, np.eye(4), *common)(0.0, kd.State(robot, q))
