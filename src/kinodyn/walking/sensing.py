"""Walking by what the robot feels: simulated sensors, the estimate from them, a controller that sees nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.control.controller import ControlFunction
from kinodyn.dynamics.contact.ground import Plane
from kinodyn.errors import InputError, unknown_name
from kinodyn.estimation import LeggedEstimator, SensorNoise
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.recording import Recording
from kinodyn.sim import Imu, MujocoSimulator
from kinodyn.walking.biped import Biped

NOISES = ("q", "v", "gyro", "accelerometer", "gyro_bias", "accelerometer_bias")


class SensedSimulator(MujocoSimulator):
    """MuJoCo with an inertial unit that samples at every physical step and reports the mean since it was last read."""

    def __init__(self, robot: Robot, **settings: Any) -> None:
        self._samples: list[Imu] = []
        super().__init__(robot, **settings)

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Go back to time 0; see `MujocoSimulator`."""
        super().reset(q, v)
        self._samples = []

    def step(self, tau: ArrayLike, wrenches: Mapping[str, ArrayLike] | None = None, *, steps: int = 1) -> None:
        """Advance; see `MujocoSimulator`."""
        for _ in range(steps):
            super().step(tau, wrenches)
            self._samples.append(self.imu())

    def mean_imu(self) -> Imu:
        """Give the mean of the readings since the last call, or the present one if nothing moved."""
        samples, self._samples = self._samples or [self.imu()], []
        return Imu(*np.mean(samples, axis=0))


class SensedController:
    """Lets a controller see the estimate in place of the state.

    Of the simulator's state it reads the joints, with noise; never the base.

    Parameters
    ----------
    controller
        A function of time and state.
    simulator
    dt
        Time between calls [s].
    noise
        Standard deviations: "q", "v" of the joints' positions [rad] and velocities [rad/s], "gyro" [rad/s],
        "accelerometer" [m/s^2] of a reading; "gyro_bias", "accelerometer_bias" of biases that are drawn once.
    seed
    start
        Where the robot is told that it stands (nq,).

    Attributes
    ----------
    signals : dict
        Those of the controller, and "q_estimated" (nq,), "v_estimated" (nv,).
    """

    def __init__(
        self,
        controller: ControlFunction,
        simulator: SensedSimulator,
        start: ArrayLike,
        *,
        dt: float,
        noise: Mapping[str, ArrayLike] | None = None,
        seed: int = 0,
    ) -> None:
        self.controller, self.simulator, self.dt = controller, simulator, dt
        self._deviation = {name: _deviation(name, value) for name, value in dict(noise or {}).items()}
        self._random = np.random.default_rng(seed)
        self._bias = {name: self._noise(f"{name}_bias", 3) for name in ("gyro", "accelerometer")}
        self.estimator = LeggedEstimator(simulator.robot, noise=expected(self._deviation), ground=Plane())
        self._start: Array = np.array(start, dtype=float)
        self.estimator.reset(self._start)
        self._state = State(simulator.robot, self._start)

    @property
    def signals(self) -> dict[str, object]:
        """Give what is recorded at every tick."""
        inner: dict[str, object] = getattr(self.controller, "signals", {})
        return {**inner, "q_estimated": self.estimator.q, "v_estimated": self.estimator.v}

    def __call__(self, t: float, state: State) -> Array:
        """Read the sensors, estimate, and let the controller decide; `state` gives the encoders' readings alone."""
        joints_q = state.q[7:] + self._noise("q", len(self._start) - 7)
        joints_v = state.v[6:] + self._noise("v", len(state.v) - 6)
        imu = self.simulator.mean_imu()
        if t > 0.0:  # before, no time has passed of which there are readings
            reading = Imu(
                imu.acceleration + self._bias["accelerometer"] + self._noise("accelerometer", 3),
                imu.angular_velocity + self._bias["gyro"] + self._noise("gyro", 3),
            )
            self.estimator.update(self.dt, reading, joints_q, joints_v, self.simulator.contact_forces())
        return np.asarray(self.controller(t, self._state.update(self.estimator.q, self.estimator.v)))

    def _noise(self, name: str, size: int) -> Array:
        deviation = self._deviation.get(name)
        return np.zeros(size) if deviation is None else deviation * self._random.normal(size=size)


def fallen(body: Biped, recording: Recording, share: float) -> float | None:
    """Find when the true base was below a share of its height above the feet [s]; an estimate may not notice it."""
    q = np.vstack([body.q, recording.q])
    feet = np.min([kinematics.pose(body.robot, q, foot.frame)[:, 2, 3] for foot in body.feet.values()], axis=0)
    height = q[:, 2] - feet
    low = np.flatnonzero(height[1:] < share * height[0])
    return float(recording.time[low[0]]) if len(low) else None


def expected(deviation: Mapping[str, float]) -> SensorNoise:
    """Tell an estimator what to expect of sensors with these deviations; contacts are never without error."""
    usual = SensorNoise()
    names = ("gyro", "accelerometer", "gyro_bias", "accelerometer_bias")
    return SensorNoise(**{name: max(deviation.get(name, 0.0), getattr(usual, name)) for name in names})


def _deviation(name: str, value: ArrayLike) -> float:
    if name not in NOISES:
        raise unknown_name("noise", name, NOISES)
    number = numbers(f"noise[{name!r}]", value)
    if number.shape != () or number < 0:
        raise InputError(f"noise[{name!r}] must be one standard deviation from 0 on, got {value!r}")
    return float(number)
