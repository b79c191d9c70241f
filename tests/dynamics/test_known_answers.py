"""Answers that are printed elsewhere or follow from a page of paper: PUMA 560, pendulums, gears, bodies in space."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.base import with_base
from kinodyn.description.types import Description, Inertia, Joint, Link, Mimic
from kinodyn.model.robot import Robot

from ..puma560 import PUMA560_INERTIA

D, K = kd.dynamics, kd.kinematics
G = 9.81

# Numbers of the next tests are those of the Robotics Toolbox for Python, tests/test_DHRobot.py, printed to four or
# five places, at the configuration that it calls qn.
PUMA = kd.load("puma560")
QN = PUMA.configuration("nominal")
ZERO, ONE = np.zeros(6), np.ones(6)

# Coulomb friction at the joints [N m] for forward motion, which the toolbox adds and kinodyn leaves to controllers:
# Corke and Armstrong-Helouvry's torque at the motors times their gear ratios.
COULOMB = np.array(
    [0.395 * 62.6111, 0.126 * 107.815, 0.132 * 53.7063, 11.2e-3 * 76.0364, 9.26e-3 * 71.923, 3.96e-3 * 76.686]
)


@pytest.mark.parametrize(
    ("v", "a", "printed"),
    [
        (ZERO, ZERO, (0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0)),
        (ZERO, ONE, (3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133)),
        (ONE, ONE, (32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781)),
        (ONE, ZERO, (29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648)),
    ],
)
def test_puma560_torques_agree_with_the_toolbox(v: Array, a: Array, printed: tuple[float, ...]) -> None:
    np.testing.assert_allclose(D.inverse(PUMA, QN, v, a) + COULOMB * np.sign(v), printed, atol=6e-5)


def test_puma560_torques_without_gravity_agree_with_the_toolbox() -> None:
    printed = (32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781)
    weightless = PUMA.replace(gravity=0.0)
    np.testing.assert_allclose(D.inverse(weightless, QN, ONE, ONE) + COULOMB, printed, atol=6e-5)


def test_puma560_torques_under_a_tool_force_agree_with_the_toolbox() -> None:
    """The toolbox gives the wrench that the tool exerts on what it touches, in the tool's axes."""
    printed = (0.642756, 29.0866, 4.70321, 2.82843, -1.97175, 3.0)
    R = K.pose(PUMA, QN, "link6")[:3, :3]
    force, moment = R @ [1.0, 2.0, 3.0], R @ [1.0, 2.0, 3.0]
    tau = D.inverse(PUMA, QN, ZERO, ZERO, {"link6": -np.concatenate([force, moment])})
    np.testing.assert_allclose(tau, printed, atol=6e-5)


def test_puma560_gravity_torques_agree_with_the_toolbox() -> None:
    printed = (0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0)
    np.testing.assert_allclose(D.gravity(PUMA, QN), printed, atol=6e-5)
    np.testing.assert_allclose(D.bias(PUMA, QN, ZERO), printed, atol=6e-5)


def test_puma560_accelerations_agree_with_the_toolbox() -> None:
    v, tau = np.array([0.1, 0.2, 0.8, 0.2, 0.5, 1.0]), np.array([1.0, 3.2, 1.8, 0.1, 0.7, 4.6])
    printed = (-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228)
    np.testing.assert_allclose(D.forward(PUMA, QN, v, tau - COULOMB), printed, atol=6e-5)


def test_puma560_mass_matrix_agrees_with_the_toolbox() -> None:
    M = D.mass_matrix(PUMA, QN)
    np.testing.assert_allclose(M, PUMA560_INERTIA, atol=6e-5)
    np.testing.assert_allclose(M @ [1, 2, 3, 1, 2, 3], (3.15, 9.4805, 3.6189, 0.1901, 0.3519, 0.5823), atol=6e-5)


def test_puma560_without_motors_is_lighter_by_their_rotors() -> None:
    """Rotors of 200e-6 and 33e-6 kg m^2 behind the gears (Corke and Armstrong-Helouvry 1994)."""
    gears = np.array([62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686])
    rotors = np.array([200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6])
    bare = D.mass_matrix(PUMA.replace(armature=0.0), QN)
    np.testing.assert_allclose(D.mass_matrix(PUMA, QN) - bare, np.diag(rotors * gears**2), atol=1e-13)


def test_puma560_operational_inertia_agrees_with_the_toolbox() -> None:
    """The inertia in Cartesian space, J^-T M J^-1."""
    printed = np.array(
        [
            [17.2954, -2.7542, -9.6233, 0.0000, 0.2795, 0.0000],
            [-2.7542, 12.1909, 1.2459, -0.3254, -0.0703, -0.9652],
            [-9.6233, 1.2459, 13.3348, 0.0000, 0.2767, 0.0000],
            [0.0000, -0.3254, 0.0000, 0.1941, 0.0000, 0.1941],
            [0.2795, -0.0703, 0.2767, 0.0000, 0.1713, 0.0000],
            [0.0000, -0.9652, 0.0000, 0.1941, 0.0000, 0.5791],
        ]
    )
    inverse = np.linalg.inv(K.jacobian(PUMA, QN, "link6"))
    np.testing.assert_allclose(inverse.T @ D.mass_matrix(PUMA, QN) @ inverse, printed, atol=6e-5)


def test_puma560_coriolis_matrix_agrees_with_the_toolbox() -> None:
    printed = np.array(
        [
            [-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001],
            [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0.0000],
            [-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0.0000],
            [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001],
            [-0.0002, 0.0028, 0.0046, -0.0002, 0.0000, 0.0000],
            [0.0001, 0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
        ]
    )
    np.testing.assert_allclose(D.coriolis_matrix(PUMA, QN, [1, 2, 3, 1, 2, 3]), printed, atol=6e-5)


@pytest.mark.parametrize(("part", "printed"), [("all", 0.0786), ("linear", 0.111181), ("angular", 2.44949)])
def test_puma560_manipulability_agrees_with_the_toolbox(part: str, printed: float) -> None:
    assert K.manipulability(PUMA, QN, "link6", part=part) == pytest.approx(printed, abs=6e-5)  # type: ignore[arg-type]


def rod(mass: float, reach: float, moment: float) -> Inertia:
    """A body whose centre of mass is `reach` along x, with the moment of inertia about every axis through it."""
    return Inertia(mass, np.array([reach, 0.0, 0.0]), moment * np.eye(3))


def along(x: float) -> Array:
    T = np.eye(4)
    T[0, 3] = x
    return T


# Angles count upwards from the x axis: positive turns are about -y.
UPWARDS = np.array([0.0, -1.0, 0.0])


@pytest.mark.parametrize("angle", [0.0, 0.7, -math.pi / 2, 3.0, 100.0])
def test_a_pendulum_has_the_closed_form_acceleration(angle: float) -> None:
    m, c, moment, armature, damping = 2.0, 0.4, 0.05, 0.1, 0.3
    joint = Joint("pivot", "revolute", "wall", "bob", axis=UPWARDS, armature=armature, damping=damping)
    robot = Robot(Description("pendulum", (Link("wall"), Link("bob", rod(m, c, moment))), (joint,)))
    inertia, v, tau = moment + m * c**2 + armature, 1.3, 0.8
    weight = m * G * c * math.cos(angle)
    np.testing.assert_allclose(D.mass_matrix(robot, [angle]), [[inertia]], rtol=1e-14)
    np.testing.assert_allclose(D.gravity(robot, [angle]), [weight], atol=1e-13)
    np.testing.assert_allclose(D.forward(robot, [angle], [v], [tau]), [(tau - damping * v - weight) / inertia])
    assert D.kinetic_energy(robot, [angle], [v]) == pytest.approx(0.5 * inertia * v**2)
    assert D.potential_energy(robot, [angle]) == pytest.approx(m * G * c * math.sin(angle))
    np.testing.assert_allclose(K.com(robot, [angle]), [c * math.cos(angle), 0, c * math.sin(angle)], atol=1e-14)


M1, M2, L1, C1, C2, I1, I2 = 1.7, 0.9, 0.6, 0.25, 0.35, 0.04, 0.02


def double_pendulum() -> Robot:
    joints = (
        Joint("shoulder", "revolute", "wall", "upper", axis=UPWARDS),
        Joint("elbow", "revolute", "upper", "lower", along(L1), UPWARDS),
    )
    links = (Link("wall"), Link("upper", rod(M1, C1, I1)), Link("lower", rod(M2, C2, I2)))
    return Robot(Description("double pendulum", links, joints))


@pytest.mark.parametrize("seed", range(5))
def test_a_double_pendulum_satisfies_its_equations_of_motion(seed: int) -> None:
    """Spong, Hutchinson and Vidyasagar, Robot Modeling and Control: the planar elbow manipulator."""
    robot = double_pendulum()
    q1, q2, v1, v2, a1, a2 = np.random.default_rng(seed).uniform(-3, 3, 6)
    h = -M2 * L1 * C2 * math.sin(q2)
    coupling = M2 * (C2**2 + L1 * C2 * math.cos(q2)) + I2
    first = M1 * C1**2 + M2 * (L1**2 + C2**2 + 2 * L1 * C2 * math.cos(q2)) + I1 + I2
    M = np.array([[first, coupling], [coupling, M2 * C2**2 + I2]])
    C = np.array([[h * v2, h * (v1 + v2)], [-h * v1, 0.0]])
    g2 = M2 * C2 * G * math.cos(q1 + q2)
    g = np.array([(M1 * C1 + M2 * L1) * G * math.cos(q1) + g2, g2])
    q, v, a = np.array([q1, q2]), np.array([v1, v2]), np.array([a1, a2])
    np.testing.assert_allclose(D.mass_matrix(robot, q), M, atol=1e-14)
    np.testing.assert_allclose(D.coriolis_matrix(robot, q, v), C, atol=1e-13)
    np.testing.assert_allclose(D.gravity(robot, q), g, atol=1e-13)
    np.testing.assert_allclose(D.inverse(robot, q, v, a), M @ a + C @ v + g, atol=1e-12)
    np.testing.assert_allclose(D.forward(robot, q, v, a), np.linalg.solve(M, a - C @ v - g), rtol=1e-11)


def test_a_double_pendulum_conserves_energy() -> None:
    """Runge-Kutta over two seconds of free swing, from a start that becomes chaotic later."""
    robot = double_pendulum()
    x, dt = np.array([2.0, 1.0, 0.0, 0.0]), 1e-3

    def energy(x: Array) -> float:
        return float(D.kinetic_energy(robot, x[:2], x[2:]) + D.potential_energy(robot, x[:2]))

    def rate(x: Array) -> Array:
        return np.concatenate([x[2:], D.forward(robot, x[:2], x[2:], [0.0, 0.0])])

    before = energy(x)
    for _ in range(2000):
        k1 = rate(x)
        k2 = rate(x + dt / 2 * k1)
        k3 = rate(x + dt / 2 * k2)
        k4 = rate(x + dt * k3)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert abs(x[2]) + abs(x[3]) > 0.1
    assert energy(x) == pytest.approx(before, abs=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_a_cart_pole_satisfies_its_equations_of_motion(seed: int) -> None:
    """Barto, Sutton and Anderson 1983 in the form without friction: a force on the cart, the pole swings freely."""
    cart, pole, length = 1.5, 0.3, 0.8
    joints = (
        Joint("rail", "prismatic", "floor", "cart", axis=np.array([1.0, 0.0, 0.0])),
        Joint("hinge", "revolute", "cart", "pole", axis=np.array([0.0, 1.0, 0.0])),
    )
    point = Inertia(pole, np.array([0.0, 0.0, length]), np.zeros((3, 3)))
    links = (Link("floor"), Link("cart", Inertia(cart, np.zeros(3), np.eye(3))), Link("pole", point))
    robot = Robot(Description("cart pole", links, joints))
    x, angle, speed, w, force = np.random.default_rng(seed).normal(size=5)
    s, c, total = math.sin(angle), math.cos(angle), cart + pole
    alpha = (G * s - c * (force + pole * length * w**2 * s) / total) / (length * (1 - pole * c**2 / total))
    a = (force + pole * length * (w**2 * s - alpha * c)) / total
    np.testing.assert_allclose(D.forward(robot, [x, angle], [speed, w], [force, 0.0]), [a, alpha], rtol=1e-12)


def test_a_geared_wheel_adds_inertia_times_gear_ratio_squared() -> None:
    """A wheel on each of two axles, the second turning -3 times as fast: one degree of freedom, I1 + 9 I2."""
    z = np.array([0.0, 0.0, 1.0])
    joints = (
        Joint("one", "continuous", "frame", "big", axis=z, damping=0.2),
        Joint("two", "continuous", "frame", "small", along(0.5), z, mimic=Mimic("one", -3.0, 0.1), armature=0.01),
    )
    links = (Link("frame"), Link("big", rod(4.0, 0.0, 0.5)), Link("small", rod(1.0, 0.0, 0.02)))
    robot = Robot(Description("gears", links, joints))
    assert robot.nv == 1
    inertia = 0.5 + 9 * (0.02 + 0.01)
    np.testing.assert_allclose(D.mass_matrix(robot, [0.4]), [[inertia]])
    np.testing.assert_allclose(D.forward(robot, [0.4], [2.0], [1.0]), [(1.0 - 0.2 * 2.0) / inertia])
    np.testing.assert_allclose(K.velocity(robot, [0.4], [2.0], "small"), [0, 0, 0, 0, 0, -6.0], atol=1e-15)
    turned = K.pose(robot, [0.4], "small")
    assert math.atan2(turned[1, 0], turned[0, 0]) == pytest.approx(-3 * 0.4 + 0.1)


MOMENTS = np.array([0.2, 0.3, 0.45])


def body_in_space(com: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Robot:
    body = Link("body", Inertia(3.0, np.array(com), np.diag(MOMENTS)))
    return Robot(with_base(Description("space", (body,)), "floating"))


@pytest.mark.parametrize("seed", range(3))
def test_a_released_body_falls_with_g(seed: int) -> None:
    """Wherever its origin is and however it stands; seen from its own axes."""
    robot = body_in_space((0.1, -0.2, 0.3))
    q = robot.random(seed=seed)
    R = K.pose(robot, q, "body")[:3, :3]
    expected = np.concatenate([R.T @ [0.0, 0.0, -G], np.zeros(3)])
    np.testing.assert_allclose(D.forward(robot, q, np.zeros(6), np.zeros(6)), expected, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_a_spinning_body_satisfies_eulers_equations(seed: int) -> None:
    """I w' + w x I w = tau, and m (u' + w x u) = R^T m g + f for the velocity u in body axes."""
    robot = body_in_space()
    q, rng = robot.random(seed=seed), np.random.default_rng(seed)
    u, w, f, tau = rng.normal(size=(4, 3))
    R = K.pose(robot, q, "body")[:3, :3]
    linear = R.T @ [0.0, 0.0, -G] + f / 3.0 - np.cross(w, u)
    angular = (tau - np.cross(w, MOMENTS * w)) / MOMENTS
    found = D.forward(robot, q, np.concatenate([u, w]), np.concatenate([f, tau]))
    np.testing.assert_allclose(found, np.concatenate([linear, angular]), atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_ball_joint_satisfies_eulers_equations_about_its_pivot(seed: int) -> None:
    m, com = 3.0, np.array([0.1, -0.2, 0.3])
    joint = Joint("pivot", "ball", "wall", "top")
    links = (Link("wall"), Link("top", Inertia(m, com, np.diag(MOMENTS))))
    robot = Robot(Description("top", links, (joint,)))
    q, (w, tau) = robot.random(seed=seed), np.random.default_rng(seed).normal(size=(2, 3))
    R = K.pose(robot, q, "top")[:3, :3]
    about_pivot = np.diag(MOMENTS) + m * (com @ com * np.eye(3) - np.outer(com, com))
    moment = tau + np.cross(com, R.T @ [0.0, 0.0, -m * G]) - np.cross(w, about_pivot @ w)
    np.testing.assert_allclose(D.forward(robot, q, w, tau), np.linalg.solve(about_pivot, moment), atol=1e-12)


def test_a_body_tumbling_in_space_conserves_momentum_and_energy() -> None:
    """Spin about the middle axis is unstable: the body flips over while nothing acts on it."""
    robot = body_in_space((0.05, 0.0, -0.1)).replace(gravity=0.0)
    q, v, dt = robot.neutral(), np.array([0.3, 0.0, 0.1, 0.2, 4.0, 0.2]), 1e-3
    before = kd.centroidal.momentum(robot, q, v), D.kinetic_energy(robot, q, v)
    nothing, lowest = np.zeros(6), v[4]
    for _ in range(4000):
        half = v + dt / 2 * D.forward(robot, q, v, nothing)
        middle = robot.integrate(q, dt / 2 * v)
        a = D.forward(robot, middle, half, nothing)
        q, v = robot.integrate(q, dt * half), v + dt * a
        lowest = min(lowest, v[4])
    assert lowest < -3.5
    np.testing.assert_allclose(kd.centroidal.momentum(robot, q, v), before[0], atol=2e-4)
    assert D.kinetic_energy(robot, q, v) == pytest.approx(before[1], rel=1e-4)


def test_nested_gimbals_lock_where_their_axes_align() -> None:
    """Three axes in one point, the outer and the inner one parallel: no angular velocity across the plane of both."""
    axes = np.eye(3)[[2, 1, 2]]
    joints = tuple(Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", axis=axis) for i, axis in enumerate(axes))
    links = (Link("l0"), *(Link(f"l{i}", rod(1.0, 0.1, 0.1)) for i in range(1, 4)))
    robot = Robot(Description("gimbals", links, joints))
    assert K.manipulability(robot, [0.3, 0.0, 0.2], "l3", part="angular") == pytest.approx(0.0, abs=1e-15)
    assert K.manipulability(robot, [0.3, math.pi / 2, 0.2], "l3", part="angular") == pytest.approx(1.0)
