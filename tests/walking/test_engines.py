"""The same controller walks on any simulator that offers the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import ArrayLike

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.sim import Imu, Observation
from kinodyn.walking import Biped, make_simulator


@pytest.mark.parametrize("contacts", ["soft", "hard"])
def test_the_humanoid_walks_on_the_native_engine(contacts: str) -> None:
    result = kd.walking.walk(kd.load("humanoid"), (0.3, 0.0, 0.0), duration=5.5, engine="native", contacts=contacts)
    assert result.walked and result.fallen is None
    assert result.speed == pytest.approx(0.3, rel=0.1)
    assert result.torque <= 1.0 + 1e-9 and result.slip < 0.01
    assert set(result.recording.forces) == {"left_sole", "right_sole"}


def test_it_walks_on_the_native_engine_by_estimated_state() -> None:
    noise = {"q": 1e-4, "v": 1e-2, "gyro": 0.01, "accelerometer": 0.1}
    robot = kd.load("humanoid")
    result = kd.walking.walk(robot, (0.3, 0.0, 0.0), duration=5.0, engine="native", estimate=True, noise=noise, seed=1)
    assert result.walked
    q, v = (np.asarray(result.recording.signals[name]) for name in ("q_estimated", "v_estimated"))
    errors = kd.estimation.base_errors(result.recording.q, result.recording.v, q, v)
    assert np.degrees(errors.tilt).max() < 0.5 and np.abs(errors.velocity).max() < 0.05


class Wrapped:
    """A simulator of a user: nothing but the protocol, around another one."""

    def __init__(self, inner: kd.sim.Simulator) -> None:
        self._inner, self.robot, self.dt = inner, inner.robot, inner.dt

    @property
    def time(self) -> float:
        return self._inner.time

    @property
    def q(self) -> Array:
        return self._inner.q

    @property
    def v(self) -> Array:
        return self._inner.v

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        self._inner.reset(q, v)

    def step(self, tau: ArrayLike, wrenches: Mapping[str, ArrayLike] | None = None, *, steps: int = 1) -> None:
        self._inner.step(tau, wrenches, steps=steps)

    def contact_forces(self) -> dict[str, Array]:
        return self._inner.contact_forces()

    def read_imu(self) -> Imu:
        return self._inner.read_imu()


def test_a_user_s_simulator_gives_the_same_walk_as_the_one_inside_it() -> None:
    robot = kd.load("humanoid")
    body = Biped.from_robot(robot)
    wrapped: Any = Wrapped(make_simulator(body, "mujoco"))
    first = kd.walking.walk(body, (0.2, 0.0, 0.0), duration=3.2, engine=wrapped)
    second = kd.walking.walk(body, (0.2, 0.0, 0.0), duration=3.2)
    np.testing.assert_array_equal(first.recording.q, second.recording.q)


def test_without_measured_forces_feet_land_as_planned() -> None:
    body = Biped.from_robot(kd.load("humanoid"))
    controller = kd.walking.WalkingController(body)
    tau = controller.act(Observation(0.0, kd.State(body.robot, body.q), None))
    assert np.isfinite(tau).all() and not tau[:6].any()


@pytest.mark.parametrize(
    ("engine", "options", "message"),
    [
        ("bullet", {}, 'must be "mujoco", "native" or an object with the protocol'),
        ("native", {"contacts": "rigid"}, 'contacts must be "hard" or "soft"'),
        ("native", {"mass_scale": 1.1}, "unknown option of the native engine 'mass_scale'"),
        ("mujoco", {"frictions": 1.1}, "unknown settings frictions"),
    ],
)
def test_unknown_engines_and_options_are_rejected(engine: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(kd.KinodynError, match=message):
        kd.walking.walk(kd.load("humanoid"), duration=3.0, engine=engine, **options)


def test_a_simulator_of_another_robot_is_rejected() -> None:
    simulator = make_simulator(Biped.from_robot(kd.load("humanoid")))
    with pytest.raises(kd.InputError, match="simulates another robot"):
        kd.walking.walk(kd.load("humanoid"), duration=3.0, engine=simulator)


@pytest.mark.filterwarnings("ignore::kinodyn.errors.DescriptionWarning")
def test_flat_soles_of_meshes_touch_the_ground_at_all_their_corners() -> None:
    """MuJoCo alone finds three contacts of such a foot with a plane, within 4 cm of each other."""
    body = Biped.from_robot(kd.load("talos", base="floating"))
    simulator = make_simulator(body)
    assert isinstance(simulator, kd.sim.MujocoSimulator)
    q = body.q.copy()
    q[2] -= 5e-4
    simulator.reset(q)
    mujoco.mj_forward(simulator.model, simulator.data)
    points = np.array([contact.pos[:2] for contact in simulator.data.contact])
    for foot in body.feet.values():
        T = foot.sole_pose(body.robot, q)
        local = (points - T[:2, 3]) @ T[:2, :2]
        outline = kd.balance.hull(local[np.abs(local).max(axis=1) < 0.15])
        assert (kd.balance.margin(outline, foot.rectangle) > -0.01).all()
