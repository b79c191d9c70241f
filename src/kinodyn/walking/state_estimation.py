"""Walking with an estimated state: noisy simulated sensors, and a controller that sees only the estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types, evaluate_annotations
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.display import displayed
from kinodyn.dynamics.contact.ground import Plane
from kinodyn.errors import InputError, unknown_name
from kinodyn.estimation import LeggedEstimator, SensorNoise
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.sim import Imu, Observation, ObservationController

NOISES = ("q", "v", "gyro", "accelerometer", "gyro_bias", "accelerometer_bias")


@displayed
class EstimatingController:
    """Passes an estimate to a controller in place of the measured state.

    Of the observed state it reads the joints only, with noise; never the base.

    Parameters
    ----------
    controller
        The controller that sees the estimate.
    robot
    start
        Initial configuration (nq,), known to the estimator.
    dt
        Control period [s].
    noise
        Standard deviations of the readings: "q", "v" of joint positions [rad] and velocities [rad/s], "gyro" [rad/s],
        "accelerometer" [m/s^2]; "gyro_bias", "accelerometer_bias" of biases that are drawn once.
    seed
        Seed of the noise.

    Attributes
    ----------
    signals : dict
        Those of the controller, and "q_estimated" (nq,), "v_estimated" (nv,).
    """

    @check_types
    def __init__(
        self,
        controller: ObservationController,
        robot: Robot,
        start: ArrayLike,
        *,
        dt: float,
        noise: Mapping[str, ArrayLike] | None = None,
        seed: int = 0,
    ) -> None:
        self.controller, self.dt = controller, dt
        self._deviation = {name: _deviation(name, value) for name, value in dict(noise or {}).items()}
        self._random = np.random.default_rng(seed)
        self._bias = {name: self._noise(f"{name}_bias", 3) for name in ("gyro", "accelerometer")}
        self.estimator = LeggedEstimator(robot, noise=expected_noise(self._deviation), ground=Plane())
        q = np.array(start, dtype=float)
        self.estimator.reset(q)
        self._state = State(robot, q)
        evaluate_annotations(EstimatingController.act)

    @property
    def signals(self) -> dict[str, object]:
        """Signals to record at every tick."""
        inner: dict[str, object] = getattr(self.controller, "signals", {})
        return {**inner, "q_estimated": self.estimator.q, "v_estimated": self.estimator.v}

    @check_types
    def act(self, observation: Observation) -> Array:
        """Read the sensors, estimate the state, and let the controller act on it.

        Parameters
        ----------
        observation
            With IMU and foot forces.

        Returns
        -------
        (nv,)
            Torques [N m].
        """
        q, v, imu = observation.state.q, observation.state.v, observation.imu
        joints_q = q[7:] + self._noise("q", len(q) - 7)
        joints_v = v[6:] + self._noise("v", len(v) - 6)
        if imu is None or observation.forces is None:
            raise InputError("an observation without IMU or foot forces is not enough to estimate the state")
        if observation.time > 0.0:  # at time 0 the readings do not cover any time yet
            reading = Imu(
                imu.acceleration + self._bias["accelerometer"] + self._noise("accelerometer", 3),
                imu.angular_velocity + self._bias["gyro"] + self._noise("gyro", 3),
            )
            rolling = getattr(self.controller, "rolling_feet", ())  # they move although they bear load
            forces = {frame: force for frame, force in observation.forces.items() if frame not in rolling}
            self.estimator.update(self.dt, reading, joints_q, joints_v, forces)
        state = self._state.update(self.estimator.q, self.estimator.v)
        return np.asarray(self.controller.act(replace(observation, state=state, imu=imu)))

    def _noise(self, name: str, size: int) -> Array:
        deviation = self._deviation.get(name)
        return np.zeros(size) if deviation is None else deviation * self._random.normal(size=size)


def expected_noise(deviation: Mapping[str, float]) -> SensorNoise:
    """Return the noise that an estimator should expect of such sensors; at least the default."""
    default = SensorNoise()
    names = ("gyro", "accelerometer", "gyro_bias", "accelerometer_bias")
    return SensorNoise(**{name: max(deviation.get(name, 0.0), getattr(default, name)) for name in names})


def _deviation(name: str, value: ArrayLike) -> float:
    if name not in NOISES:
        raise unknown_name("noise", name, NOISES)
    number = numbers(f"noise[{name!r}]", value)
    if number.shape != () or number < 0:
        raise InputError(f"noise[{name!r}] must be a nonnegative standard deviation, got {value!r}")
    return float(number)
