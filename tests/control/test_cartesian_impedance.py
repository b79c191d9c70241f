"""Cartesian impedance: the given stiffness along the given axes, with and without inertia shaping."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.control import CartesianImpedance
from kinodyn.control.spring import Spring, damping_matrix
from kinodyn.kinematics.singularities import part_rows

FREE = {"integrator": "rk4", "stops": None, "friction": False, "clip": False}
SIX = np.array([800.0, 600.0, 900.0, 40.0, 50.0, 60.0])


def pushed(robot: kd.Robot, controller: object, q: np.ndarray, frame: str, wrench: np.ndarray) -> kd.Recording:
    """Push a frame by a constant wrench until it has settled."""
    push = kd.sim.Push(frame, wrench, duration=100.0)
    return kd.sim.simulate(robot, controller, 3.5, q0=q, pushes=[push], control_dt=2e-3, **FREE)


def test_a_wrench_displaces_the_frame_by_the_given_stiffness(arm: tuple) -> None:
    robot, q, frame, part = arm
    robot = robot.replace(armature=0.1)  # without armature the wrist axis is so light that 1 kHz cannot damp its spring
    rows = part_rows(part)
    inertia = kd.control.operational_space(robot, q, np.zeros(robot.nv), frame, part=part).Lambda
    K = 15.0**2 * inertia  # a full matrix, as fast in all directions
    wrench = np.zeros(6)
    wrench[rows] = K @ (0.01 * np.array([1.0, -2.0, 1.5, 3.0, -4.0, 5.0])[rows])
    T = kd.kinematics.pose(robot, q, frame)
    controller = CartesianImpedance(robot, frame, T, K, part=part, torque_limits=np.inf)
    recording = pushed(robot, controller, q, frame, wrench)
    reached = kd.kinematics.pose(robot, recording.q[-1], frame)
    phi = kd.spatial.log3(reached[:3, :3] @ T[:3, :3].T)
    elastic = K @ np.r_[reached[:3, 3] - T[:3, 3], phi][rows]
    expected = wrench.copy()
    expected[3:] = kd.spatial.left_jacobian(-phi) @ wrench[3:]  # moments of large rotations derive from a potential
    np.testing.assert_allclose(elastic, expected[rows], rtol=1e-6, atol=1e-6 * np.abs(elastic).max())


def test_stiffness_rotates_with_the_target(load: Callable) -> None:
    robot, q = load("panda")
    T = kd.kinematics.pose(robot, q, "panda_hand_tcp")
    controller = CartesianImpedance(robot, "panda_hand_tcp", T, SIX, axes="target", torque_limits=np.inf)
    force = np.array([6.0, -4.0, 5.0])
    recording = pushed(robot, controller, q, "panda_hand_tcp", np.r_[T[:3, :3] @ force, 0.0, 0.0, 0.0])
    moved = kd.kinematics.pose(robot, recording.q[-1], "panda_hand_tcp")[:3, 3] - T[:3, 3]
    np.testing.assert_allclose(T[:3, :3].T @ moved, force / SIX[:3], rtol=1e-6)


def test_a_shaped_inertia_responds_to_a_force_as_that_inertia(arm: tuple) -> None:
    robot, q, frame, part = arm
    rows = part_rows(part)
    k = len(rows)
    v = np.linspace(-0.3, 0.3, robot.nv)
    inertia = np.diag(np.array([2.0, 3.0, 4.0, 0.3, 0.3, 0.4])[rows]) + 0.05
    K, D = np.diag(SIX[rows]), 30.0 * np.eye(k)
    wrench = np.zeros(6)
    wrench[rows] = np.linspace(3.0, -1.6, k)
    T = kd.kinematics.pose(robot, q, frame)
    controller = CartesianImpedance(
        robot,
        frame,
        T,
        K,
        damping=D,
        inertia=inertia,
        external=lambda t, state: wrench,
        part=part,
        torque_limits=np.inf,
    )
    tau = controller(0.0, kd.State(robot, q, v))
    a = kd.dynamics.forward(robot, q, v, tau, {frame: wrench})
    acceleration = kd.kinematics.acceleration(robot, q, v, a, frame)[rows]
    rate = kd.kinematics.velocity(robot, q, v, frame)[rows]
    np.testing.assert_allclose(inertia @ acceleration + D @ rate, wrench[rows], atol=1e-8)


@pytest.mark.parametrize("name", ["panda", "scara"])
def test_shaping_the_inertia_keeps_the_given_stiffness(name: str, load: Callable) -> None:
    robot, q = load(name)
    frame, part = {"panda": ("panda_hand_tcp", "all"), "scara": ("link4", "x y z rz")}[name]
    rows = part_rows(part)
    wrench = np.zeros(6)
    wrench[rows] = np.linspace(3.0, -1.6, len(rows))
    T = kd.kinematics.pose(robot, q, frame)
    controller = CartesianImpedance(
        robot,
        frame,
        T,
        SIX[rows],
        inertia=0.005 * SIX[rows],
        external=lambda t, state: wrench,
        part=part,
        torque_limits=np.inf,
    )
    recording = pushed(robot, controller, q, frame, wrench)
    np.testing.assert_allclose(recording.signals["wrench"][-1], -wrench[rows], rtol=1e-6)


def test_damping_by_ratio_gives_every_mode_that_ratio() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 5, 6, 6))
    inertia, K = A @ np.swapaxes(A, -1, -2) + np.eye(6), 100.0 * B @ np.swapaxes(B, -1, -2)
    D = damping_matrix(K, inertia, 0.7)
    for M, k, d in zip(inertia, K, D, strict=True):
        A = np.block([[np.zeros((6, 6)), np.eye(6)], [-np.linalg.solve(M, k), -np.linalg.solve(M, d)]])
        poles = np.linalg.eigvals(A)
        np.testing.assert_allclose(-poles.real / np.abs(poles), 0.7, rtol=1e-6)


def test_the_wrench_of_the_springs_is_the_gradient_of_their_energy() -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(6, 6))
    spring = Spring(A @ A.T, "world", "all")
    error = np.r_[0.1, -0.2, 0.3, 1.2, -0.8, 0.9]
    R = np.eye(3)
    wrench = spring.wrench(error, R, [3, 4, 5])
    np.testing.assert_allclose(spring.wrench(error[None], R, [3, 4, 5])[0], wrench)
    h = 1e-6
    for i in range(6):
        step = np.zeros(6)
        step[i] = h
        energy = []
        for sign in (1.0, -1.0):  # the frame moves by a small rotation in world axes
            R_error = kd.spatial.exp3(error[3:]) @ kd.spatial.exp3(-sign * step[3:])
            moved = np.r_[error[:3] - sign * step[:3], kd.spatial.log3(R_error)]
            energy.append(spring.energy(moved, R))
        np.testing.assert_allclose((energy[0] - energy[1]) / (2 * h), -wrench[i], rtol=1e-6)


def test_a_moving_target_is_followed_without_external_force(load: Callable) -> None:
    robot, q = load("ur5")
    T0 = kd.kinematics.pose(robot, q, "wrist_3_link")

    def circle(t: float, order: int) -> np.ndarray:
        w = 2.0
        place = 0.1 * np.array([np.sin(w * t), 1 - np.cos(w * t), 0.0])
        rate = 0.1 * w * np.array([np.cos(w * t), np.sin(w * t), 0.0])
        change = 0.1 * w**2 * np.array([-np.sin(w * t), np.cos(w * t), 0.0])
        if order == 0:
            return kd.spatial.pose(T0[:3, 3] + place, T0[:3, :3])
        return np.r_[rate if order == 1 else change, 0.0, 0.0, 0.0]

    controller = CartesianImpedance(robot, "wrist_3_link", circle, SIX, torque_limits=np.inf)
    v0 = np.linalg.solve(kd.kinematics.jacobian(robot, q, "wrist_3_link"), circle(0.0, 1))
    recording = kd.sim.simulate(robot, controller, 1.0, q0=q, v0=v0, **FREE)
    assert np.abs(recording.signals["error"]).max() < 1e-3


def test_a_floating_base_is_taken_to_be_fixed(load: Callable) -> None:
    robot, q = load("humanoid")
    q = q.copy()
    held = kd.load("humanoid", base="fixed")
    q[robot.joint("left_elbow").q] = -1.1
    v = np.r_[np.zeros(6), np.linspace(-0.3, 0.3, held.nv)]
    T = kd.kinematics.pose(robot, q, "left_palm").copy()
    T[:3, 3] += [0.05, 0.0, 0.02]
    free = CartesianImpedance(robot, "left_palm", T, SIX)(0.0, kd.State(robot, q, v))
    shifted = kd.kinematics.pose(held, q[7:], "left_palm").copy()  # the base is upright, along the world axes
    shifted[:3, 3] += [0.05, 0.0, 0.02]
    fixed = CartesianImpedance(held, "left_palm", shifted, SIX)(0.0, kd.State(held, q[7:], v[6:]))
    np.testing.assert_allclose(free[6:], fixed, atol=1e-8)
    assert not free[:6].any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"stiffness": -SIX}, "stiffness"),
        ({"stiffness": np.ones(5)}, "stiffness"),
        ({"stiffness": np.triu(np.ones((6, 6)))}, "symmetric"),
        ({"stiffness": SIX, "damping_ratio": -1.0}, "damping_ratio"),
        ({"stiffness": SIX, "axes": "hand"}, "axes"),
        ({"stiffness": SIX[:2], "axes": "target", "part": "x y"}, "axes"),
        ({"stiffness": SIX, "inertia": SIX}, "go together"),
        ({"stiffness": SIX, "inertia": 0 * SIX, "external": lambda t, state: SIX}, "positive definite"),
        ({"stiffness": SIX, "inertia": SIX, "external": SIX}, "function"),
    ],
)
def test_invalid_settings_raise(options: dict, words: str, load: Callable) -> None:
    robot, q = load("panda")
    with pytest.raises(kd.InputError, match=words):
        CartesianImpedance(robot, "panda_hand_tcp", np.eye(4), **options)


@pytest.mark.parametrize("max_mass", [100.0, 0.1])
@pytest.mark.parametrize("part", ["all", "linear", "x rz"])
def test_torques_are_those_of_the_formula(part: str, max_mass: float) -> None:
    """tau = g + J^T (K e + D e') - N^T M d N v, with Lambda, Jbar and N of `operational_space`."""
    robot = kd.load("panda")
    frame, q = "panda_link8", robot.random(5, seed=1)
    v = np.random.default_rng(2).normal(size=(5, 7))
    T = kd.kinematics.pose(robot, robot.random(seed=3), frame)
    k = {"all": 6, "linear": 3, "x rz": 2}[part]
    stiffness = np.diag(np.linspace(100.0, 500.0, k))
    law = kd.control.CartesianImpedance(robot, frame, T, stiffness, damping_ratio=0.7, part=part, max_mass=max_mass)
    tau = law(0.0, kd.State(robot, q, v))
    space = kd.control.operational_space(robot, q, v, frame, part=part, max_mass=max_mass)
    np.testing.assert_array_equal(law.signals["damped"], space.damped)
    assert space.damped.all() == (max_mass < 1.0)
    damping = damping_matrix(stiffness, space.Lambda, 0.7)
    rate = -np.einsum("nij,nj->ni", space.J, v)
    elastic = np.einsum("ij,nj->ni", stiffness, law.signals["error"])
    if part == "all":
        J = np.stack([kd.spatial.left_jacobian(phi) for phi in law.signals["error"][:, 3:]])
        elastic[:, 3:] = np.linalg.solve(J, elastic[:, 3:, None])[..., 0]
    wrench = elastic + np.einsum("nij,nj->ni", damping, rate)
    np.testing.assert_allclose(law.signals["wrench"], wrench, rtol=1e-8, atol=1e-8)
    M = kd.dynamics.mass_matrix(robot, q)
    still = np.einsum("nij,njk,nk->ni", M, space.N, v) * law.posture.damping.mean()
    null = np.einsum("nji,nj->ni", space.N, still)
    expected = kd.dynamics.gravity(robot, q) + np.einsum("nji,nj->ni", space.J, wrench) - null
    np.testing.assert_allclose(law.signals["tau_desired"], expected, rtol=1e-8, atol=1e-7)
    assert (np.abs(tau) <= robot.limits.effort).all()
