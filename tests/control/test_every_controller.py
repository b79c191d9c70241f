"""What all controllers share: the protocol, torque limits, batches and error messages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.control import (
    AdaptiveControl,
    CartesianImpedance,
    ComputedTorque,
    Controller,
    Gains,
    HybridForceMotion,
    JointImpedance,
    OperationalSpaceControl,
    Payload,
    PDGravity,
    RobustControl,
    TaskSpaceControl,
)

TCP = "panda_hand_tcp"
GAINS = Gains.from_frequency(20.0)
POSTURE = np.array([0.0, -0.4, 0.2, -2.0, 0.0, 1.8, 0.5])
PAYLOAD = Payload("panda_link7", 3.0, 0.2)
LAWS = {
    "pd": lambda robot, q, T, **more: PDGravity(robot, q, GAINS, **more),
    "impedance": lambda robot, q, T, **more: JointImpedance(robot, q, GAINS, integral=10.0, **more),
    "computed torque": lambda robot, q, T, **more: ComputedTorque(robot, q, GAINS, **more),
    "task space": lambda robot, q, T, **more: TaskSpaceControl(robot, TCP, T, GAINS, posture=POSTURE, **more),
    "operational space": lambda robot, q, T, **more: OperationalSpaceControl(robot, TCP, T, GAINS, **more),
    "cartesian impedance": lambda robot, q, T, **more: CartesianImpedance(
        robot, TCP, T, [4e3, 4e3, 4e3, 100, 100, 100], axes="target", posture=POSTURE, **more
    ),
    "shaped impedance": lambda robot, q, T, **more: CartesianImpedance(
        robot,
        TCP,
        T,
        [4e3, 4e3, 4e3, 100, 100, 100],
        inertia=np.full(6, 2.0),
        external=lambda t, state: np.ones(6),
        **more,
    ),
    "hybrid": lambda robot, q, T, **more: HybridForceMotion(
        robot, TCP, T, np.full(6, 10.0), [0, 0, 1, 0, 0, 0], lambda t, state: np.ones(6), GAINS, axes=TCP, **more
    ),
    "adaptive": lambda robot, q, T, **more: AdaptiveControl(robot, q, GAINS, PAYLOAD, **more),
    "robust": lambda robot, q, T, **more: RobustControl(robot, q, GAINS, PAYLOAD, **more),
}


@pytest.fixture(params=list(LAWS))
def made(request: pytest.FixtureRequest, load: Callable) -> tuple:
    """Return a factory for each controller of the panda, states (3, 7) and targets."""
    robot, q = load("panda")
    rng = np.random.default_rng(0)
    target = q + rng.uniform(-0.3, 0.3, size=(3, 7))
    state = q + rng.uniform(-0.1, 0.1, size=(3, 7)), rng.normal(size=(3, 7))
    return LAWS[request.param], robot, state, target, kd.kinematics.pose(robot, target, TCP)


def test_it_implements_the_protocol_within_the_effort_limits_of_the_robot(made: tuple) -> None:
    make, robot, (q, v), target, T = made
    controller = make(robot, target, T)
    assert isinstance(controller, Controller)
    desired = 0.0
    for t in (0.0, 0.001):
        tau = controller(t, kd.State(robot, q, 3.0 * v))
        assert (np.abs(tau) <= robot.limits.effort).all()
        np.testing.assert_array_equal(
            tau, np.clip(controller.signals["tau_desired"], -robot.limits.effort, robot.limits.effort)
        )
        np.testing.assert_array_equal(controller.signals["saturated"], tau != controller.signals["tau_desired"])
        desired = np.abs(controller.signals["tau_desired"] / robot.limits.effort).max()
    assert desired > 1.0  # otherwise the limits were not tested


def test_given_torque_limits_hold(made: tuple) -> None:
    make, robot, (q, v), target, T = made
    limits = np.linspace(1.0, 2.0, 7)
    tau = make(robot, target, T, torque_limits=limits)(0.0, kd.State(robot, q, v))
    assert (np.abs(tau) <= limits).all()
    for wrong in (-1.0, np.ones(3), np.nan):
        with pytest.raises(kd.InputError, match="torque_limits"):
            make(robot, target, T, torque_limits=wrong)


def test_a_batch_agrees_with_single_states(made: tuple) -> None:
    make, robot, (q, v), target, T = made
    together = make(robot, target, T, torque_limits=np.inf)
    states = [kd.State(robot, q, v), kd.State(robot, q + 0.01, 0.9 * v)]
    both = np.stack([together(t, state) for t, state in zip((0.0, 0.01), states, strict=True)])
    for i in range(3):
        alone = make(robot, target[i], T[i], torque_limits=np.inf)
        for t, state, tau in zip((0.0, 0.01), states, both, strict=True):
            got = alone(t, kd.State(robot, state.q[i], state.v[i]))
            np.testing.assert_allclose(got, tau[i], rtol=1e-7, atol=1e-7)


def test_reset_restores_the_initial_state(made: tuple) -> None:
    make, robot, (q, v), target, T = made
    controller, state = make(robot, target, T), kd.State(robot, q, v)
    first = [controller(t, state) for t in (0.0, 0.1, 0.2)]
    controller.reset()
    assert not controller.signals
    np.testing.assert_array_equal([controller(t, state) for t in (0.0, 0.1, 0.2)], first)


def test_simulate_records_its_signals(made: tuple) -> None:
    make, robot, (q, _), target, T = made
    controller = make(robot, target, T)
    recording = kd.sim.simulate(robot, controller, 0.02, q0=q, control_dt=2e-3)
    assert {"tau_desired", "saturated", "error"} <= set(recording.signals)
    assert recording.signals["saturated"].shape == recording.tau.shape


def test_nan_states_other_robots_and_infinite_times_raise(made: tuple) -> None:
    make, robot, (q, v), target, T = made
    controller = make(robot, target, T)
    state = kd.State(robot, q, v)
    with pytest.raises(kd.InputError, match="NaN|finite"):
        controller(0.0, state.update(q, np.full_like(v, np.nan)))
    with pytest.raises(kd.InputError, match="finite time"):
        controller(np.nan, kd.State(robot, q, v))
    with pytest.raises(kd.InputError, match="model=controller.robot"):
        controller(0.0, kd.State(robot.replace(damping=1.0), q, v))
    with pytest.raises(kd.InputError, match="Robot"):
        make("panda", target, T)
