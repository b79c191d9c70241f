"""Adaptive and robust control with an unknown payload."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.control import AdaptiveControl, Gains, Payload, PDGravity, RobustControl

FREE = {"integrator": "rk4", "stops": None, "friction": False, "clip": False}
LOADS = {"panda": ("panda_link7", 3.0), "planar2r": ("link2/joint2", 1.0), "scara": ("link4", 3.0)}


def loaded_with(robot: kd.Robot, link: str, mass: float, com: np.ndarray) -> kd.Robot:
    """Put a ball of 5 cm radius on a link."""
    parameters = robot.inertial_parameters.copy()
    start = 10 * robot.parameter_links.index(link)
    inertia = 0.4 * mass * 0.05**2 * np.eye(3) + mass * (com @ com * np.eye(3) - np.outer(com, com))
    six = inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    parameters[start : start + 10] += np.r_[mass, mass * com, six]
    true = kd.identification.with_parameters(robot, parameters)
    return true.replace(armature=robot.armature, damping=robot.damping)


@pytest.fixture(params=list(LOADS))
def case(request: pytest.FixtureRequest, load: Callable, sine: type) -> tuple:
    """Give a robot, the same with a load, the bounds that are known of it, and a motion."""
    robot, q = load(request.param)
    robot = robot.replace(armature=robot.armature + 0.1)
    link, mass = LOADS[request.param]
    true = loaded_with(robot, link, mass, np.array([0.02, -0.03, 0.08]))
    return robot, true, Payload(link, 1.2 * mass, 0.15), sine(q, 0.3, 3.0)


def follow(case: tuple, controller: object) -> kd.Recording:
    """Follow the motion for 2.5 s with the load on."""
    robot, true, _, motion = case
    start = motion(0.0, 0), motion(0.0, 1)
    return kd.sim.simulate(true, controller, 2.5, q0=start[0], v0=start[1], model=robot, **FREE)


def test_adaptive_and_robust_control_track_better_than_pd(case: tuple) -> None:
    robot, _, payload, motion = case
    gains = Gains.from_frequency(8.0)
    worst = {}
    for name, controller in {
        "pd": PDGravity(robot, motion, gains, torque_limits=np.inf),
        "adaptive": AdaptiveControl(robot, motion, gains, payload, torque_limits=np.inf),
        "robust": RobustControl(robot, motion, gains, payload, torque_limits=np.inf),
    }.items():
        recording = follow(case, controller)
        assert recording.status == "complete", recording.reason
        worst[name] = np.abs(recording.signals["error"][-500:]).max()
    assert worst["pd"] > 0.02
    assert worst["adaptive"] < 0.1 * worst["pd"]
    assert worst["robust"] < 0.1 * worst["pd"]


def test_parameters_stay_within_the_bounds_of_the_payload(case: tuple) -> None:
    robot, _, payload, motion = case
    eager = AdaptiveControl(robot, motion, Gains.from_frequency(8.0), payload, rate=100.0, torque_limits=np.inf)
    recording = follow(case, eager)
    lower, upper = payload.bounds()
    parameters = recording.signals["parameters"]
    assert (parameters >= lower).all() and (parameters <= upper).all()
    assert (parameters.min(axis=0) == lower).any() or (parameters.max(axis=0) == upper).any()


def test_leakage_makes_unexcited_parameters_decay(load: Callable) -> None:
    robot, q = load("panda")
    payload = Payload("panda_link7", 3.0, 0.2)
    state = kd.State(robot, q)
    left = {}
    for leak in (0.0, 5.0):
        controller = AdaptiveControl(robot, q, Gains.from_frequency(8.0), payload, leak=leak)
        controller.parameters = payload.bounds()[1].copy()
        for t in np.linspace(0.0, 1.0, 101):
            controller(t, state)  # at the target and at rest nothing is learnt
        left[leak] = controller.parameters / payload.bounds()[1]
    np.testing.assert_allclose(left[0.0], 1.0)
    np.testing.assert_allclose(left[5.0], np.exp(-5.0), rtol=0.2)


def test_a_sum_of_regressors_gives_the_coriolis_forces_of_two_velocities(load: Callable) -> None:
    robot, q = load("panda")
    controller = AdaptiveControl(robot, q, Gains.from_frequency(8.0), Payload("panda_link7", 3.0, 0.2))
    rng = np.random.default_rng(0)
    v, v_r, a_r = rng.normal(size=(3, 7))
    tau, Y = controller.model(kd.State(robot, q, v), v_r, a_r)
    symmetric = 0.5 * (
        kd.dynamics.bias(robot, q, v + v_r)
        - kd.dynamics.bias(robot, q, v)
        - kd.dynamics.bias(robot, q, v_r)
        + kd.dynamics.gravity(robot, q)
    )
    expected = kd.dynamics.mass_matrix(robot, q) @ a_r + symmetric + kd.dynamics.gravity(robot, q)
    np.testing.assert_allclose(tau, expected, atol=1e-9)
    same, _ = controller.model(kd.State(robot, q, v), v, a_r)
    np.testing.assert_allclose(same, kd.dynamics.inverse(robot, q, v, a_r), atol=1e-9)
    load_alone = loaded_with(robot, "panda_link7", 2.0, np.array([0.0, 0.0, 0.1]))
    pi = (load_alone.inertial_parameters - robot.inertial_parameters).reshape(-1, 10)[-1]
    more = kd.dynamics.inverse(load_alone, q, v, a_r) - kd.dynamics.inverse(robot, q, v, a_r)
    np.testing.assert_allclose(controller.model(kd.State(robot, q, v), v, a_r)[1] @ pi, more, atol=1e-9)
    assert Y.shape == (7, 10)


def test_the_bound_of_the_sliding_term_covers_every_possible_payload(load: Callable) -> None:
    robot, q = load("panda")
    controller = RobustControl(robot, q + 0.1, Gains.from_frequency(8.0), Payload("panda_link7", 3.0, 0.2))
    rng = np.random.default_rng(0)
    for _ in range(50):
        v = rng.normal(size=7)
        state = kd.State(robot, q, v)
        controller(0.0, state)
        _, _, v_r, a_r = controller.errors(0.0, state)
        Y = controller.model(state, v_r, a_r)[1]
        mass, direction = rng.uniform(0.0, 3.0), rng.normal(size=3)
        com = 0.15 * rng.uniform() * direction / np.linalg.norm(direction)
        true = loaded_with(robot, "panda_link7", mass, com)
        pi = (true.inertial_parameters - robot.inertial_parameters).reshape(-1, 10)[-1]
        assert (np.abs(Y @ (pi - controller._middle)) <= controller.signals["bound"] + 1e-12).all()


@pytest.mark.parametrize("law", [AdaptiveControl, RobustControl])
def test_invalid_payloads_and_robots_raise(law: type, load: Callable) -> None:
    robot, q = load("panda")
    gains = Gains.from_frequency(8.0)
    with pytest.raises(kd.UnknownNameError, match="panda_link7"):
        law(robot, q, gains, Payload("panda_link77", 1.0, 0.1))
    with pytest.raises(kd.InputError, match="mass of the payload"):
        law(robot, q, gains, Payload("panda_link7", -1.0, 0.1))
    with pytest.raises(kd.InputError, match="payload must be"):
        law(robot, q, gains, 3.0)
    with pytest.raises(kd.InputError, match="damping"):
        law(robot, q, Gains(1.0, 0.0), Payload("panda_link7", 1.0, 0.1))
    human, standing = load("humanoid")
    with pytest.raises(kd.InputError, match="fixed base"):
        law(human, standing, gains, Payload(human.parameter_links[-1], 1.0, 0.1))
    with pytest.raises(kd.InputError, match="true_robot"):
        law(robot, q, gains, Payload("panda_link7", 1.0, 0.1), true_robot=human)
