"""How far the sensors of a legged robot may be trusted."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from kinodyn.errors import InputError


@dataclass(frozen=True)
class SensorNoise:
    """Standard deviations that a `LeggedEstimator` counts with.

    Attributes
    ----------
    gyro, accelerometer : float
        Of one reading [rad/s], [m/s^2].
    gyro_bias, accelerometer_bias : float
        Of the biases at the start [rad/s], [m/s^2].
    gyro_drift, accelerometer_drift : float
        How fast the biases wander: after t seconds by this times sqrt(t) [rad/s], [m/s^2].
    foot_position, foot_rotation : float
        Of a foot's pose in the base from the encoders, with all that bends between [m], [rad].
    slip, roll : float
        How far a foot that stands creeps and turns: after t seconds by this times sqrt(t) [m], [rad]. A foot that has
        just landed or bears little creeps more.
    ground : float
        Of the height of a place where a foot lands, where the ground is known [m].
    """

    gyro: float = 0.01
    accelerometer: float = 0.1
    gyro_bias: float = 0.005
    accelerometer_bias: float = 0.03
    gyro_drift: float = 1e-4
    accelerometer_drift: float = 1e-3
    foot_position: float = 1e-3
    foot_rotation: float = 2e-3
    slip: float = 2e-3
    roll: float = 5e-3
    ground: float = 0.02

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not number or not 0 <= value < np.inf:
                raise InputError(f"{field.name} must be a standard deviation, a number from 0 on, got {value!r}")
        for name in ("foot_position", "foot_rotation", "ground"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} must be above 0, got {getattr(self, name)!r}; no measurement is exact")
