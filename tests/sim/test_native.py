"""The native engine against closed forms and conservation laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import ellipk

import kinodyn as kd
from kinodyn.sim import JointStops, NativeSimulator, simulate

FREE = {"stops": None, "friction": False}


def energy(robot: kd.Robot, recording: kd.Recording) -> np.ndarray:
    kinetic = kd.dynamics.kinetic_energy(robot, recording.q, recording.v)
    return kinetic + kd.dynamics.potential_energy(robot, recording.q)


def assert_energy_kept(robot: kd.Robot, q0: Any, v0: Any, scale: float) -> None:
    recording = simulate(robot, None, 10.0, q0=q0, v0=v0, integrator="rk4", record_dt=0.01, **FREE)
    total = energy(robot, recording)
    assert recording.status == "complete"
    assert np.abs(total - total[0]).max() <= 1e-8 * scale


def test_energy_of_a_pendulum_is_conserved(pendulum: kd.Robot) -> None:
    # twice the energy that lifts the mass from its lowest place to that of the joint
    assert_energy_kept(pendulum, [3.0], [0.0], scale=2 * 2.0 * 9.81 * 0.7)


def test_energy_of_a_double_pendulum_is_conserved() -> None:
    robot = kd.load("planar2r").replace(damping=0.0, gravity=[0.0, -9.81, 0.0])
    potential = np.ptp(kd.dynamics.potential_energy(robot, [[-np.pi / 2, 0.0], [np.pi / 2, 0.0]]))
    assert potential > 1.0  # gravity does act in the plane of the arm
    # let go where it lies level: the second rod reaches 22 rad/s
    assert_energy_kept(robot, [0.0, 0.0], [0.0, 0.0], scale=float(potential))


def test_energy_of_a_floating_humanoid_is_conserved() -> None:
    robot = kd.load("humanoid").replace(damping=0.0)
    v0 = np.random.default_rng(0).normal(size=robot.nv)
    q0 = robot.configuration("standing")
    assert_energy_kept(robot, q0, v0, scale=float(kd.dynamics.kinetic_energy(robot, q0, v0)))


@pytest.mark.parametrize("angle", [0.1, 1.0, 2.5])
def test_the_period_of_a_pendulum_is_the_elliptic_integral(pendulum: kd.Robot, angle: float) -> None:
    period = 4 * np.sqrt(0.7 / 9.81) * ellipk(np.sin(angle / 2) ** 2)
    recording = simulate(pendulum, None, 5.0, q0=[angle], integrator="rk4")
    q, v, t = recording.q[:, 0], recording.v[:, 0], recording.time
    down = np.flatnonzero((q[:-1] > 0) & (q[1:] <= 0))
    crossings = t[down] - q[down] / v[down]  # the acceleration vanishes there
    assert len(crossings) >= 2
    np.testing.assert_allclose(np.diff(crossings), period, rtol=1e-6)


@pytest.mark.parametrize(("integrator", "order"), [("rk4", 4), ("semi-implicit", 1)])
@pytest.mark.parametrize("name", ["humanoid", "every kind"])
def test_integrators_have_their_order_on_the_manifold(
    every_kind: kd.Robot, name: str, integrator: Any, order: int
) -> None:
    robot = every_kind if name == "every kind" else kd.load(name)
    v0 = 2.0 * np.random.default_rng(1).normal(size=robot.nv)
    q0 = robot.random(seed=3)
    steps = np.array([4e-3, 2e-3, 1e-3]) if order == 4 else np.array([2e-3, 1e-3, 5e-4])
    exact = simulate(robot, None, 0.2, q0=q0, v0=v0, integrator="rk4", dt=1e-4, record_dt=0.2, **FREE)
    errors = []
    for dt in steps:
        end = simulate(robot, None, 0.2, q0=q0, v0=v0, integrator=integrator, dt=dt, record_dt=0.2, **FREE)
        errors.append(np.abs(robot.difference(exact.q[-1], end.q[-1])).max())
    measured = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(measured, order, atol=0.35)


def test_a_free_body_flies_on_a_parabola_while_it_tumbles(block: kd.Robot) -> None:
    v0 = np.array([1.0, 2.0, 3.0, 4.0, -2.0, 1.0])
    recording = simulate(block, None, 2.0, v0=v0)
    t = recording.time[:, None]
    dt = 1e-3
    # velocities are stepped first, hence (t + dt) t / 2
    expected = v0[:3] * t - 0.5 * np.array([0, 0, 9.81]) * t * (t + dt)
    np.testing.assert_allclose(recording.q[:, :3], expected, atol=1e-10)


def test_runge_kutta_conserves_the_momentum_of_a_tumbling_body(block: kd.Robot) -> None:
    robot = block.replace(gravity=[0.0, 0.0, 0.0])
    recording = simulate(robot, None, 5.0, v0=[0.3, 0.1, 0.2, 0.01, 4.0, 0.01], integrator="rk4", record_dt=0.1)
    momentum = kd.centroidal.momentum(robot, recording.q, recording.v)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-8)


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_a_batch_agrees_with_single_simulations(integrator: Any) -> None:
    robot = kd.load("humanoid")
    q0, v0 = robot.random(7, seed=0), np.random.default_rng(0).normal(size=robot.nv)
    together = simulate(robot, None, 0.02, q0=q0, v0=v0, integrator=integrator)
    assert together.q.shape == (21, 7, robot.nq) and together.batch == (7,)
    for k in (0, 6):
        alone = simulate(robot, None, 0.02, q0=q0[k], v0=v0, integrator=integrator)
        np.testing.assert_allclose(together.member(k).q, alone.q, atol=1e-10)


def test_threads_give_bit_identical_batches() -> None:
    robot = kd.load("humanoid")
    q0 = robot.random(300, seed=0)
    threads, ends = kd.get_threads(), []
    try:
        for count in (1, 2):
            kd.set_threads(count)
            ends.append(simulate(robot, None, 0.01, q0=q0, record_dt=0.01).q[-1])
    finally:
        kd.set_threads(threads)
    np.testing.assert_array_equal(*ends)


def test_many_steps_in_one_call_agree_with_single_calls() -> None:
    robot = kd.load("puma560")
    simulators = [NativeSimulator(robot) for _ in range(2)]
    tau = np.linspace(-1, 1, robot.nv)
    for simulator in simulators:
        simulator.reset(robot.random(seed=1))
    simulators[0].step(tau, steps=50)
    for _ in range(50):
        simulators[1].step(tau)
    np.testing.assert_array_equal(simulators[0].q, simulators[1].q)
    assert simulators[0].time == pytest.approx(simulators[1].time)


def test_wrenches_act_as_in_forward_dynamics() -> None:
    robot = kd.load("humanoid")
    q0, dt = robot.random(seed=2), 1e-6
    wrenches = {"left_hand": [5.0, -3.0, 2.0, 0.4, 0.2, -0.1], "head": [0.0, 0.0, 9.0, 0.0, 0.0, 0.0]}
    tau = np.concatenate([np.zeros(6), np.ones(robot.nv - 6)])
    for integrator in ("semi-implicit", "rk4"):
        simulator = NativeSimulator(robot, dt=dt, integrator=integrator, stops=None, friction=False)  # type: ignore[arg-type]
        simulator.reset(q0)
        simulator.step(tau, wrenches)
        a = kd.dynamics.forward(robot, q0, np.zeros(robot.nv), tau, wrenches)
        np.testing.assert_allclose(simulator.v / dt, a, atol=2e-2, rtol=1e-3)


def test_damping_slows_a_wheel_exponentially(make_wheel: Any) -> None:
    robot = make_wheel(damping=0.8)
    recording = simulate(robot, None, 1.0, v0=[3.0], integrator="rk4")
    np.testing.assert_allclose(recording.v[:, 0], 3.0 * np.exp(-0.8 / 0.5 * recording.time), rtol=1e-10)


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_coulomb_friction_stops_a_wheel_in_time_and_keeps_it_at_rest(make_wheel: Any, dt: float) -> None:
    robot = make_wheel(friction=0.4)
    recording = simulate(robot, None, 2.0, v0=[1.0], dt=dt, record_dt=1e-2)
    expected = np.maximum(1.0 - 0.4 / 0.5 * recording.time, 0.0)  # at rest after 1.25 s
    assert np.abs(recording.v[:, 0] - expected).max() <= 5 * dt + 1e-3  # 1e-3: below that speed friction fades
    pushed = simulate(robot, lambda t, state: [0.3], 2.0)
    assert 0 < pushed.q[-1, 0] < 2 * 1e-3  # it creeps at 3/4 of the speed at which friction is full
    moved = simulate(robot, lambda t, state: [0.6], 1.0)
    np.testing.assert_allclose(moved.v[-1, 0], (0.6 - 0.4) / 0.5, rtol=5e-3)


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_stops_have_the_given_stiffness(make_wheel: Any, integrator: Any) -> None:
    robot = make_wheel(lower=-1.0, upper=0.2)
    stops = JointStops(frequency=100.0)
    recording = simulate(robot, lambda t, state: [2.0], 1.0, integrator=integrator, stops=stops)
    np.testing.assert_allclose(recording.q[-1, 0], 0.2 + 2.0 / (0.5 * 100.0**2), atol=1e-6)
    assert recording.q.max() < 0.25
    back = simulate(robot, lambda t, state: [-2.0], 1.5, integrator=integrator, stops=stops)
    np.testing.assert_allclose(back.q[-1, 0], -1.0 - 2.0 / (0.5 * 100.0**2), atol=1e-6)


def test_a_stop_never_pulls_and_never_adds_energy(make_wheel: Any) -> None:
    robot = make_wheel(lower=-1.0, upper=0.2)
    for ratio in (0.1, 1.0):
        recording = simulate(robot, None, 0.3, v0=[3.0], stops=JointStops(damping_ratio=ratio))
        assert (np.diff(recording.v[:, 0]) <= 0.0).all()
        assert -3.0 < recording.v[-1, 0] < 0.0 or (ratio == 1.0 and abs(recording.v[-1, 0]) < 1e-2)


def test_without_stops_joints_move_beyond_their_limits(make_wheel: Any) -> None:
    robot = make_wheel(lower=-1.0, upper=0.2)
    assert simulate(robot, None, 1.0, v0=[3.0], stops=None).q[-1, 0] == pytest.approx(3.0)


def test_mimic_joints_are_simulated_with_friction_and_stops(every_kind: kd.Robot) -> None:
    recording = simulate(every_kind, None, 0.05, q0=every_kind.random(seed=1), record_dt=0.05)
    assert recording.status == "complete"
    assert not np.allclose(recording.q[-1], recording.q[0])


def test_resistance_in_python_agrees_with_the_core(every_kind: kd.Robot) -> None:
    """The law of resistance is written twice: hard contacts need it too."""
    robot = kd.load("panda")
    simulator = NativeSimulator(robot, dt=1e-3)
    q = np.where(np.isfinite(robot.limits.upper), robot.limits.upper + 0.01, 0.0)
    v = np.random.default_rng(0).normal(size=robot.nv)
    simulator.reset(q, v)
    resistance = simulator.resistance
    force, inertia = resistance.implicit(robot, q, v, 1e-3)
    M = kd.dynamics.mass_matrix(robot, q) + np.diag(inertia)
    bias = kd.dynamics.bias(robot, q, v) - robot.damping * v
    simulator.step(np.zeros(robot.nv))
    np.testing.assert_allclose(simulator.v, v + 1e-3 * np.linalg.solve(M, force - bias), atol=1e-12)
    assert (inertia > 1e-3 * robot.damping + 1e-6).any()


@pytest.mark.parametrize(
    "options",
    [
        {"dt": 0.0},
        {"dt": np.nan},
        {"integrator": "euler"},
        {"max_rate": -1},
        {"contacts": 3},
        {"friction_velocity": 0.0},
    ],
)
def test_invalid_options_are_rejected(pendulum: kd.Robot, options: dict[str, Any]) -> None:
    with pytest.raises(kd.InputError):
        NativeSimulator(pendulum, **options)


def test_invalid_states_are_rejected(pendulum: kd.Robot) -> None:
    simulator = NativeSimulator(pendulum)
    for q, v in (([np.nan], None), ([0.0, 1.0], None), ([0.0], [np.inf]), ("here", None)):
        with pytest.raises(kd.InputError):
            simulator.reset(q, v)
    with pytest.raises(kd.InputError, match="tau"):
        simulator.step([np.nan])
    with pytest.raises(kd.InputError, match="frequency"):
        JointStops(frequency=-1.0)
