"""A payload adds its spatial inertia, wherever it is fixed."""

import numpy as np
import pytest

import kinodyn as kd

ROBOTS = [("panda", "panda_link8", "fixed"), ("humanoid", "left_palm", "floating"), ("humanoid", "pelvis", "floating")]


def spatial_inertia(mass, com, inertia):
    """Spatial inertia (6, 6), linear part first, about the origin of the frame."""
    S = np.array([[0.0, -com[2], com[1]], [com[2], 0.0, -com[0]], [-com[1], com[0], 0.0]])
    return np.block([[mass * np.eye(3), -mass * S], [mass * S, inertia - mass * S @ S]])


@pytest.mark.parametrize(("name", "frame", "base"), ROBOTS)
def test_the_mass_matrix_gains_the_inertia_of_the_payload(name, frame, base):
    robot = kd.load(name, base=base)
    rng = np.random.default_rng(3)
    com = rng.normal(0.0, 0.1, 3)
    A = rng.normal(0.0, 0.1, (3, 3))
    moments = A @ A.T
    inertia = np.trace(moments) * np.eye(3) - moments  # of a distribution of mass with these second moments
    loaded = robot.with_payload(frame, 3.0, com, inertia)
    for q in robot.random(5, seed=1):
        J = kd.kinematics.jacobian(robot, q, frame, reference="local")
        expected = kd.dynamics.mass_matrix(robot, q) + J.T @ spatial_inertia(3.0, com, inertia) @ J
        np.testing.assert_allclose(kd.dynamics.mass_matrix(loaded, q), expected, atol=1e-11)
    assert loaded.mass == pytest.approx(robot.mass + 3.0)


def test_constants_that_were_replaced_are_kept():
    robot = kd.load("panda").replace(gravity=(0.0, 0.0, -1.62), damping=0.5)
    loaded = robot.with_payload("panda_link8", 1.0)
    assert loaded.gravity.tolist() == [0.0, 0.0, -1.62]
    assert loaded.damping.tolist() == robot.damping.tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("flange9", 1.0), "flange9"),
        (("panda_link8", -1.0), "mass of the payload"),
        (("panda_link8", np.nan), "mass of the payload"),
        (("panda_link8", 1.0, (0.0, np.inf, 0.0)), "com of the payload"),
        (("panda_link8", 1.0, (0.0, 0.0, 0.0), np.diag([1.0, 1.0, 3.0])), "not physical"),
        (("panda_link8", 1.0, (0.0, 0.0, 0.0), np.ones((2, 2))), "inertia of the payload"),
    ],
)
def test_invalid_input_is_rejected(arguments, message):
    with pytest.raises(kd.KinodynError, match=message):
        kd.load("panda").with_payload(*arguments)
