"""simulate around the physics: rates, sensors, pushes, signals, runs that end early."""

from __future__ import annotations

import gc
import io
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.sim import Push, simulate


class Counter:
    """A controller that keeps what it was shown."""

    def __init__(self, tau: float = 0.0) -> None:
        self.tau, self.times, self.seen, self.resets = tau, [], [], 0  # type: ignore[var-annotated]
        self.signals: dict[str, Any] = {}

    def reset(self) -> None:
        self.resets += 1

    def __call__(self, t: float, state: kd.State) -> np.ndarray:
        self.times.append(t)
        self.seen.append((state.q.copy(), state.v.copy()))
        self.signals = {"calls": len(self.times), "pair": [t, 2 * t]}
        return np.full(state.v.shape, self.tau)


def test_a_controller_is_called_at_its_rate_and_its_torque_is_constant_in_between(pendulum: kd.Robot) -> None:
    controller = Counter()
    recording = simulate(pendulum, controller, 0.1, q0=[0.5], control_dt=0.01, record_dt=0.005)
    np.testing.assert_allclose(controller.times, np.arange(10) * 0.01)
    np.testing.assert_allclose(recording.time, np.arange(21) * 0.005)
    assert controller.resets == 1
    fine = simulate(pendulum, None, 0.1, q0=[0.5])
    np.testing.assert_array_equal(recording.q, fine.q[::5])


def test_garbage_collection_is_frozen_during_a_run_only(pendulum: kd.Robot) -> None:
    before, frozen = gc.get_freeze_count(), []

    def controller(t: float, state: kd.State) -> np.ndarray:
        frozen.append(gc.get_freeze_count())
        if t > 0.005:
            raise ZeroDivisionError
        return np.zeros(state.v.shape)

    with pytest.raises(ZeroDivisionError):
        simulate(pendulum, controller, 0.1)
    assert min(frozen) > 1000 and gc.get_freeze_count() == before == 0


def test_torques_act_from_their_row_on(pendulum: kd.Robot) -> None:
    recording = simulate(pendulum, lambda t, state: [1.0 if t < 0.05 else -1.0], 0.1)
    assert (recording.tau[:50] == 1.0).all() and (recording.tau[50:] == -1.0).all()


def test_controllers_move_the_robot_as_commanded() -> None:
    robot = kd.load("puma560")
    target = 0.5 * robot.random(seed=3)

    def track(t: float, state: kd.State) -> np.ndarray:
        a = 100 * (target - state.q) - 20 * state.v
        return state.mass_matrix @ a + state.bias

    recording = simulate(robot, track, 1.5, q0=robot.neutral(), clip=False, friction=False)
    t = recording.time[:, None]
    expected = target + (robot.neutral() - target) * (1 + 10 * t) * np.exp(-10 * t)  # critically damped
    np.testing.assert_allclose(recording.q, expected, atol=0.02)
    np.testing.assert_allclose(recording.q[-1], target, atol=1e-4)


def test_a_batch_is_controlled_as_a_batch(pendulum: kd.Robot) -> None:
    controller = Counter()
    recording = simulate(pendulum, controller, 0.01, q0=[[0.1], [0.2]])
    assert controller.seen[0][0].shape == (2, 1) and recording.tau.shape == (11, 2, 1)


def test_torques_are_clipped_to_the_effort_limits() -> None:
    robot = kd.load("panda")
    recording = simulate(robot, lambda t, state: np.full(robot.nv, 1e5), 0.002)
    np.testing.assert_array_equal(recording.tau[0], robot.limits.effort)
    free = simulate(robot, lambda t, state: np.full(robot.nv, 2 * robot.limits.effort.max()), 0.002, clip=False)
    assert (free.tau[0] > robot.limits.effort).all()


def test_a_delayed_controller_sees_the_past(pendulum: kd.Robot) -> None:
    controller = Counter()
    recording = simulate(pendulum, controller, 0.1, q0=[0.5], control_dt=0.01, delay=0.03)
    seen = np.array([q for q, _ in controller.seen])
    np.testing.assert_array_equal(seen[3:], recording.q[:7])
    np.testing.assert_array_equal(seen[:3], np.tile(recording.q[0], (3, 1)))
    np.testing.assert_array_equal(recording.signals["q_measured"][:10], seen)


def test_noise_has_the_given_deviation_and_seed() -> None:
    robot = kd.load("humanoid").replace(gravity=[0.0, 0.0, 0.0])
    noise = {"q": 0.01, "v": np.linspace(0.0, 0.2, robot.nv)}
    runs = [simulate(robot, Counter(), 0.5, noise=noise, seed=seed, stops=None) for seed in (1, 1, 2)]
    measured = [run.signals["q_measured"] for run in runs]
    np.testing.assert_array_equal(measured[0], measured[1])
    assert not np.array_equal(measured[0], measured[2])
    off = robot.difference(runs[0].q[:-1], measured[0][:-1])
    np.testing.assert_allclose(off.std(axis=0), 0.01, rtol=0.2)
    spread = (runs[0].signals["v_measured"] - runs[0].v)[:-1].std(axis=0)
    np.testing.assert_allclose(spread, noise["v"], rtol=0.2)
    np.testing.assert_allclose(np.linalg.norm(measured[0][:, 3:7], axis=1), 1.0)


def test_a_push_changes_momentum_by_force_times_time(block: kd.Robot) -> None:
    robot = block.replace(gravity=[0.0, 0.0, 0.0])
    pushes = [Push("block", [4.0, 0.0, 0.0], start=0.02, duration=0.05), Push("block", [0, 0, 2.0], duration=0.01)]
    recording = simulate(robot, None, 0.1, pushes=pushes, record_dt=0.02)
    np.testing.assert_allclose(2.0 * recording.v[-1, :3], [0.2, 0.0, 0.02], atol=1e-12)
    np.testing.assert_allclose(recording.v[1, 0], 0.0, atol=1e-15)


def test_the_controller_may_have_another_model(pendulum: kd.Robot) -> None:
    weightless = pendulum.replace(gravity=[0.0, 0.0, 0.0])
    seen = []
    simulate(pendulum, lambda t, state: seen.append(state.robot) or [0.0], 0.002, model=weightless)
    assert all(robot is weightless for robot in seen)


def test_signals_are_recorded(pendulum: kd.Robot) -> None:
    energy = {"energy": lambda t, state: kd.dynamics.kinetic_energy(state.robot, state.q, state.v)}
    recording = simulate(pendulum, Counter(), 0.01, q0=[1.0], signals=energy)
    np.testing.assert_allclose(
        recording.signals["energy"], kd.dynamics.kinetic_energy(pendulum, recording.q, recording.v)
    )
    np.testing.assert_array_equal(recording.signals["calls"], [*range(1, 11), 10])
    assert recording.signals["pair"].shape == (11, 2)


def test_a_diverging_run_keeps_what_was_recorded_and_says_why() -> None:
    robot = kd.load("puma560")
    wild = lambda t, state: 1e4 * state.v + 1.0  # noqa: E731
    recording = simulate(robot, wild, 1.0, clip=False, stops=None, integrator="rk4")
    assert recording.status == "diverged" and 1 < len(recording) < 1000
    assert np.isfinite(recording.q).all()
    assert "max_rate" in recording.reason and any(name in recording.reason for name in robot.joint_names)
    assert f"{recording.time[-1]:.6g} s" in recording.reason


def test_the_diverging_member_of_a_batch_is_named(pendulum: kd.Robot) -> None:
    def wild(t: float, state: kd.State) -> np.ndarray:
        return np.where(np.arange(5)[:, None] == 3, 1e4 * state.v + 1.0, 0.0)

    recording = simulate(pendulum, wild, 1.0, q0=np.zeros((5, 1)), clip=False)
    assert recording.status == "diverged" and "simulation (3,)" in recording.reason and "swing" in recording.reason
    assert np.abs(recording.q[:, [0, 1, 2, 4]]).max() == 0.0


def test_an_interrupted_run_keeps_what_was_recorded(pendulum: kd.Robot) -> None:
    def controller(t: float, state: kd.State) -> list[float]:
        if t >= 0.05:
            raise KeyboardInterrupt
        return [0.0]

    recording = simulate(pendulum, controller, 1.0)
    assert recording.status == "interrupted" and len(recording) == 50 and "0.05 s" in recording.reason
    at_once = simulate(pendulum, lambda t, state: controller(1.0, state), 1.0)
    assert at_once.status == "interrupted" and len(at_once) == 1


def test_other_errors_of_a_controller_propagate(pendulum: kd.Robot) -> None:
    with pytest.raises(ZeroDivisionError):
        simulate(pendulum, lambda t, state: [1 / 0], 0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": -1.0}, "duration"),
        ({"duration": 0.0123456}, "multiple of dt"),
        ({"control_dt": 0.0015}, "control_dt must be a multiple"),
        ({"delay": 0.0005}, "delay must be a multiple"),
        ({"engine": "bullet"}, "engine"),
        ({"noise": {"q": -1.0}}, "noise"),
        ({"pushes": [3]}, "pushes"),
        ({"pushes": Push("rod", [1, 0, 0], duration=1.0)}, "list"),
        ({"pushes": [Push("rod", [1, 0, 0], duration=1e-5)]}, "shorter"),
        ({"model": 3}, "model"),
        ({"stopps": None}, "unknown options stopps"),
        ({"q0": [np.inf]}, "q"),
        ({"controller": lambda t, state: [np.nan]}, "not finite at 0 s"),
        ({"controller": lambda t, state: [1.0, 2.0]}, "shape"),
        ({"controller": lambda t, state: None}, "None at 0 s"),
    ],
)
def test_invalid_arguments_are_rejected(pendulum: kd.Robot, options: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"controller": None, "duration": 0.01, **options}
    with pytest.raises(kd.InputError, match=message):
        simulate(pendulum, **arguments)


def test_a_free_base_has_no_motors() -> None:
    robot = kd.load("humanoid")
    with pytest.raises(kd.InputError, match="floating base"):
        simulate(robot, lambda t, state: np.ones(robot.nv), 0.01)


def test_unknown_frames_and_noise_are_named(pendulum: kd.Robot) -> None:
    with pytest.raises(kd.UnknownNameError, match="rood"):
        simulate(pendulum, None, 0.1, pushes=[Push("rood", [1, 0, 0], duration=1.0)])
    with pytest.raises(kd.UnknownNameError, match="tau"):
        simulate(pendulum, None, 0.1, noise={"tau": 1.0})


def test_the_bar_is_drawn_on_a_terminal_only(pendulum: kd.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr("sys.stderr", stream)
        simulate(pendulum, None, 0.1, progress=True)
        assert ("times real time" in stream.getvalue()) == shown


class Spring:
    """A soft floor at z = 0 under the origin of a frame, with the interface of soft contacts."""

    def __init__(self, frame: str) -> None:
        self.frame, self.calls = frame, 0

    def wrenches(self, robot: kd.Robot, q: Any, v: Any, anchors: Any = None) -> tuple[dict[str, np.ndarray], Any]:
        assert anchors is None or anchors == self.calls
        self.calls += 1
        z = kd.kinematics.pose(robot, q, self.frame)[..., 2, 3]
        rate = kd.kinematics.velocity(robot, q, v, self.frame)[..., 2]
        wrench = np.zeros((*z.shape, 6))
        wrench[..., 2] = np.where(z < 0, np.maximum(0.0, -5e3 * z - 100.0 * rate), 0.0)
        return {self.frame: wrench}, self.calls


@pytest.mark.parametrize("integrator", ["semi-implicit", "rk4"])
def test_soft_contacts_carry_the_weight_and_keep_their_anchors(block: kd.Robot, integrator: Any) -> None:
    spring = Spring("block")
    q0 = block.neutral()
    q0[2] = 0.05
    recording = simulate(block, None, 1.0, q0=q0, contacts=spring, integrator=integrator)
    np.testing.assert_allclose(recording.q[-1, 2], -2 * 9.81 / 5e3, atol=1e-5)
    np.testing.assert_allclose(recording.forces["block"][-1, 2], 2 * 9.81, rtol=1e-3)
    assert spring.calls == 1000 and not recording.contacts["block"][10] and recording.contacts["block"][-1]


def test_a_simulator_made_beforehand_brings_its_own_settings(pendulum: kd.Robot, block: kd.Robot) -> None:
    simulator = kd.sim.NativeSimulator(pendulum, dt=2e-3, integrator="rk4")
    recording = simulate(pendulum, None, 0.1, q0=[1.0], engine=simulator)
    assert len(recording) == 51 and simulator.time == pytest.approx(0.1)
    with pytest.raises(kd.InputError, match="time step of 0.002 s"):
        simulate(pendulum, None, 0.1, engine=simulator, dt=5e-3)
    with pytest.raises(kd.InputError, match="another robot"):
        simulate(block, None, 0.1, engine=simulator)
    with pytest.raises(kd.InputError, match="belong to the simulator"):
        simulate(pendulum, None, 0.1, engine=simulator, integrator="rk4")


def test_an_interrupted_row_is_dropped(pendulum: kd.Robot) -> None:
    calls = []

    def signal(t: float, state: kd.State) -> float:
        calls.append(t)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return t

    recording = simulate(pendulum, None, 0.1, signals={"first": lambda t, state: t, "second": signal})
    assert recording.status == "interrupted" and len(recording) == 4
    np.testing.assert_array_equal(recording.signals["first"], recording.time)


@pytest.mark.parametrize("dt", [1e-300, 1e-12])
def test_a_run_without_end_is_refused(dt: float) -> None:
    with pytest.raises(kd.InputError, match="at most 1000000000 steps"):
        kd.sim.simulate(kd.load("planar2r"), None, 1.0, dt=dt)


def test_a_push_after_the_end_is_refused() -> None:
    push = kd.sim.Push("link2", [1.0, 0.0, 0.0], start=0.2, duration=0.1)
    with pytest.raises(kd.InputError, match="before the end of the run at 0.1 s"):
        kd.sim.simulate(kd.load("planar2r"), None, 0.1, pushes=[push])


def test_a_torque_that_mujoco_would_ignore_is_a_divergence() -> None:
    robot = kd.load("planar2r")
    run = kd.sim.simulate(robot, lambda t, state: [1e12, 0.0], 0.01, engine="mujoco", clip=False)
    assert run.status == "diverged" and "joint1" in run.reason and "1e+12" in run.reason
