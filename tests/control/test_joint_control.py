"""PD, impedance and computed torque control against their textbook responses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.control import ComputedTorque, Gains, JointImpedance, PDGravity

FREE = {"integrator": "rk4", "stops": None, "friction": False, "clip": False}


def heavier(robot: kd.Robot, factor: float) -> kd.Robot:
    """Make the same robot with all masses and inertias multiplied."""
    return kd.identification.with_parameters(robot, factor * robot.inertial_parameters)


def second_order(t: Array, frequency: float, ratio: float) -> Array:
    """Compute the response of e'' + 2 r w e' + w^2 e = 0 from e = 1 at rest, for r < 1."""
    damped = frequency * np.sqrt(1 - ratio**2)
    return np.exp(-ratio * frequency * t) * (np.cos(damped * t) + ratio * frequency / damped * np.sin(damped * t))


@pytest.mark.parametrize("ratio", [0.3, 0.7])
def test_computed_torque_gives_the_given_second_order_response(arm: tuple, ratio: float) -> None:
    robot, q, *_ = arm
    controller = ComputedTorque(robot, q, Gains.from_frequency(8.0, damping_ratio=ratio), torque_limits=np.inf)
    recording = kd.sim.simulate(robot, controller, 0.8, q0=q - 0.1, **FREE)
    expected = 0.1 * second_order(recording.time, 8.0, ratio)
    assert np.abs(recording.signals["error"] - expected[:, None]).max() < 0.01 * 0.1


def test_computed_torque_gives_the_same_response_in_free_flight(load: Callable) -> None:
    robot, q = load("humanoid")
    start = robot.integrate(q, np.r_[np.zeros(6), np.full(robot.nv - 6, -0.1)])
    spin = np.r_[0.3, -0.2, 1.0, 0.5, -0.4, 0.3, np.zeros(robot.nv - 6)]
    controller = ComputedTorque(robot, q, Gains.from_frequency(8.0, damping_ratio=0.5), torque_limits=np.inf)
    recording = kd.sim.simulate(robot, controller, 0.5, q0=start, v0=spin, **FREE)
    expected = 0.1 * second_order(recording.time, 8.0, 0.5)
    assert np.abs(recording.signals["error"] - expected[:, None]).max() < 0.01 * 0.1
    assert not recording.tau[:, :6].any()


def test_computed_torque_follows_a_motion_that_pd_lags_behind(arm: tuple, sine: type) -> None:
    robot, q, *_ = arm
    motion = sine(q, 0.3, 4.0)
    v0 = motion(0.0, 1)
    errors = {}
    for law in (ComputedTorque, PDGravity):
        controller = law(robot, motion, Gains.from_frequency(15.0), torque_limits=np.inf)
        recording = kd.sim.simulate(robot, controller, 1.0, q0=q, v0=v0, **FREE)
        errors[law] = np.abs(recording.signals["error"]).max()
    assert errors[ComputedTorque] < 2e-3
    assert errors[PDGravity] > 10 * errors[ComputedTorque]


def test_pd_with_gravity_comes_to_rest_at_the_target(arm: tuple) -> None:
    robot, q, *_ = arm
    controller = PDGravity(robot, q, Gains.from_frequency(12.0), torque_limits=np.inf)
    recording = kd.sim.simulate(robot, controller, 6.0, q0=q + 0.2, control_dt=2e-3, **FREE)
    assert np.abs(recording.q[-1] - q).max() < 1e-6
    assert np.abs(recording.v[-1]).max() < 1e-6


@pytest.mark.parametrize("law", [PDGravity, ComputedTorque])
def test_ball_planar_and_mimic_joints_converge_too(law: type, every_kind: kd.Robot) -> None:
    robot, q = every_kind, every_kind.neutral()
    controller = law(robot, q, Gains.from_frequency(6.0), torque_limits=np.inf)
    start = robot.integrate(q, np.linspace(-0.2, 0.2, robot.nv))
    recording = kd.sim.simulate(robot, controller, 2.5, q0=start, **FREE)
    V = recording.signals["lyapunov"][:-1]
    assert V[-1] < 1e-3 * V[0]
    assert np.maximum(np.diff(V), 0.0).sum() < 1e-5 * V[0]
    assert np.abs(recording.signals["error"][-1]).max() < 0.02


def test_pd_compensates_gravity_of_a_floating_base_as_if_it_were_fixed(load: Callable) -> None:
    robot, q = load("humanoid")
    tau = PDGravity(robot, q, Gains.from_frequency(8.0))(0.0, kd.State(robot, q))
    held = kd.load("humanoid", base="fixed")
    np.testing.assert_allclose(tau[6:], kd.dynamics.gravity(held, q[7:]), atol=1e-9)
    assert not tau[:6].any()


def test_integral_action_removes_the_error_of_a_wrong_mass(load: Callable) -> None:
    robot, q = load("ur5")
    true = heavier(robot, 1.1)
    gains = Gains.from_frequency(12.0)
    kp = PDGravity(robot, q, gains).stiffness
    plain = JointImpedance(robot, q, gains, torque_limits=np.inf)
    pid = JointImpedance(robot, q, gains, integral=3.0 * kp, torque_limits=np.inf)
    left = {}
    for name, controller in (("plain", plain), ("integral", pid)):
        recording = kd.sim.simulate(true, controller, 5.0, q0=q, model=robot, control_dt=2e-3, **FREE)
        left[name] = recording.signals["error"][-1]
    sag = kd.dynamics.gravity(true, q) - kd.dynamics.gravity(robot, q)
    np.testing.assert_allclose(left["plain"], sag / kp, rtol=0.05, atol=1e-4)
    assert np.abs(left["plain"]).max() > 0.01
    assert np.abs(left["integral"]).max() < 1e-5


def test_anti_windup_limits_the_overshoot_of_a_saturated_joint(load: Callable) -> None:
    robot, q = load("planar2r")
    gains, limits = Gains.from_frequency(6.0), np.array([25.0, 10.0])
    overshoot = {}
    for anti_windup in (True, False):
        controller = JointImpedance(
            robot, q, gains, integral=40.0, integral_limit=100.0, anti_windup=anti_windup, torque_limits=limits
        )
        recording = kd.sim.simulate(robot, controller, 4.0, q0=q - [2.5, 0.0], integrator="rk4")
        assert recording.signals["saturated"].any()
        overshoot[anti_windup] = (recording.q[:, 0] - q[0]).max()
    assert overshoot[True] < 0.5 * overshoot[False]


def test_reset_clears_the_integral_and_time_must_not_go_back(load: Callable) -> None:
    robot, q = load("ur5")
    controller = JointImpedance(robot, q, Gains(100.0, 10.0), integral=50.0)
    state = kd.State(robot, q - 0.1)
    first = controller(0.0, state)
    assert not np.allclose(controller(1.0, state), controller(2.0, state))
    with pytest.raises(kd.InputError, match="went back"):
        controller(0.5, state)
    controller.reset()
    np.testing.assert_array_equal(controller(0.0, state), first)


def test_joint_impedance_has_the_given_stiffness(arm: tuple) -> None:
    robot, q, *_ = arm
    robot = robot.replace(damping=0.0)
    push = np.linspace(1.0, 2.0, robot.nv) * 0.02 * np.diag(kd.dynamics.mass_matrix(robot, q))
    gains = Gains.from_frequency(10.0)
    controller = JointImpedance(robot, q, gains, feedforward=push, torque_limits=np.inf)
    recording = kd.sim.simulate(robot, controller, 5.0, q0=q, control_dt=2e-3, **FREE)
    np.testing.assert_allclose(recording.q[-1] - q, push / controller.stiffness, rtol=1e-6)


def test_joint_impedance_follows_a_motion_and_keeps_its_stiffness_about_it(arm: tuple, sine: type) -> None:
    robot, q, *_ = arm
    motion = sine(q, 0.3, 2.0)
    controller = JointImpedance(robot, motion, Gains.from_frequency(15.0), torque_limits=np.inf)
    recording = kd.sim.simulate(robot, controller, 0.6, q0=q, v0=motion(0.0, 1), **FREE)
    assert np.abs(recording.signals["error"]).max() < 2e-3


def test_joints_of_a_shaped_inertia_respond_as_that_inertia(load: Callable) -> None:
    robot, q = load("ur5")
    inertia, tau_ext = np.linspace(2.0, 0.5, 6), np.linspace(4.0, -1.0, 6)
    controller = JointImpedance(robot, q, Gains(40.0, 3.0), inertia=inertia, external=tau_ext, torque_limits=np.inf)
    v = np.full(6, 0.3)
    tau = controller(0.0, kd.State(robot, q, v))
    a = kd.dynamics.forward(robot, q, v, tau + tau_ext)
    np.testing.assert_allclose(inertia * a + 3.0 * v, tau_ext, atol=1e-9)
    with pytest.raises(kd.InputError, match="go together"):
        JointImpedance(robot, q, Gains(40.0, 3.0), inertia=inertia)


def test_wrenches_and_generalised_forces_are_the_same_feedforward(load: Callable) -> None:
    robot, q = load("ur5")
    wrench = np.array([5.0, -3.0, 2.0, 0.1, 0.2, -0.3])
    state = kd.State(robot, q, 0.1 * np.ones(6))
    by_frame = JointImpedance(robot, q, Gains(40.0, 3.0), feedforward={"wrist_3_link": wrench})
    by_joint = JointImpedance(
        robot, q, Gains(40.0, 3.0), feedforward=lambda t, state: state.jacobian("wrist_3_link").T @ wrench
    )
    np.testing.assert_allclose(by_frame(0.0, state), by_joint(0.0, state))
