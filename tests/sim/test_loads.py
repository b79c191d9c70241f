"""A box that frames of a robot hold adds its inertia to the mass matrix, in MuJoCo too."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.sim import Load

ROBOT = kd.load("humanoid")
SIZE, MASS = np.array([0.2, 0.3, 0.6]), 4.0
TURNED = kd.spatial.pose([0.05, -0.1, 0.2], kd.spatial.from_euler([0.4, -0.7, 1.1]))


@pytest.mark.parametrize("frames", [("left_palm",), ("left_palm", "right_palm")])
def test_the_mass_matrix_grows_by_the_inertia_of_the_box_in_every_frame_that_holds_it(frames: tuple[str, ...]) -> None:
    load = Load(MASS, SIZE, {name: TURNED @ kd.spatial.exp([0, 0, 0, 0, 0, k]) for k, name in enumerate(frames)})
    box = kd.spatial.inertia_matrix(MASS / len(frames), np.zeros(3), load.inertia / len(frames))
    q = ROBOT.random(5, seed=1)
    expected = kd.dynamics.mass_matrix(ROBOT, q)
    for name, grasp in load.grasps.items():
        J = kd.spatial.adjoint(kd.spatial.inverse(grasp)) @ kd.kinematics.jacobian(ROBOT, q, name, reference="local")
        expected = expected + np.swapaxes(J, -2, -1) @ box @ J
    np.testing.assert_allclose(kd.dynamics.mass_matrix(load.carried_by(ROBOT), q), expected, rtol=0, atol=1e-11)


def test_the_inertia_of_the_box_is_that_of_its_points() -> None:
    points = np.stack(np.meshgrid(*((np.arange(40) + 0.5) / 40 - 0.5 for _ in range(3)), indexing="ij"), axis=-1)
    points = points.reshape(-1, 3) * SIZE
    squares = (points**2).sum(axis=-1)
    expected = MASS * (squares.mean() * np.eye(3) - points.T @ points / len(points))
    np.testing.assert_allclose(Load(MASS, SIZE, {"left_palm": np.eye(4)}).inertia, expected, rtol=1e-3, atol=1e-9)


def test_a_held_box_is_between_the_frames_or_where_it_was_said_to_be() -> None:
    q, frames = ROBOT.configuration("standing"), ("left_palm", "right_palm")
    palms = {name: kd.kinematics.pose(ROBOT, q, name) for name in frames}
    between = Load.held(ROBOT, q, frames, MASS, size=SIZE)
    elsewhere = Load.held(ROBOT, q, frames, MASS, size=SIZE, pose=TURNED)
    middle = kd.spatial.pose(0.5 * (palms["left_palm"] + palms["right_palm"])[:3, 3])
    for name, T in palms.items():
        np.testing.assert_allclose(T @ between.grasps[name], middle, rtol=0, atol=1e-12)
        np.testing.assert_allclose(T @ elsewhere.grasps[name], TURNED, rtol=0, atol=1e-12)


@pytest.mark.parametrize("frames", [("left_palm",), ("left_palm", "right_palm")])
def test_mujoco_carries_the_same_mass(frames: tuple[str, ...]) -> None:
    q = ROBOT.configuration("standing")
    load = Load.held(ROBOT, q, frames, MASS, size=SIZE)
    plain, loaded = kd.sim.to_mujoco(ROBOT), kd.sim.to_mujoco(ROBOT, loads=[load])
    assert loaded.body_mass.sum() - plain.body_mass.sum() == pytest.approx(MASS)
    parts = [loaded.body(f"load 0 in {name}") for name in frames]
    for part in parts:
        np.testing.assert_allclose(part.inertia, np.diag(load.inertia) / len(frames), rtol=1e-9)
    assert loaded.neq - plain.neq == len(frames) - 1 and loaded.nv == plain.nv


@pytest.mark.parametrize(
    ("mass", "size", "grasps", "message"),
    [
        (0.0, SIZE, {"left_palm": np.eye(4)}, "mass of the load"),
        (1.0, [0.1, 0.0, 0.1], {"left_palm": np.eye(4)}, "size of the load"),
        (1.0, SIZE, {}, "at least one frame"),
        (1.0, SIZE, {"left_palm": np.ones((4, 4))}, "grasp of 'left_palm'"),
    ],
)
def test_a_load_that_cannot_be_is_rejected(mass: float, size: object, grasps: object, message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        Load(mass, size, grasps)  # type: ignore[arg-type]
