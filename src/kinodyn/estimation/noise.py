"""Expected noise of the sensors of a legged robot."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kinodyn.argument_types import check_types
from kinodyn.checks import nonnegative, positive
from kinodyn.display import displayed


@check_types
@displayed
@dataclass(frozen=True)
class SensorNoise:
    """Standard deviations that a `LeggedEstimator` expects.

    Attributes
    ----------
    gyro, accelerometer : float
        Noise of one reading [rad/s], [m/s^2].
    gyro_bias, accelerometer_bias : float
        Uncertainty of the biases at the start [rad/s], [m/s^2].
    gyro_drift, accelerometer_drift : float
        Random walk of the biases: after t seconds this times sqrt(t) [rad/s], [m/s^2].
    foot_position, foot_rotation : float
        Uncertainty of a foot's pose in the base from the encoders, including elasticity [m], [rad].
    slip, roll : float
        Random walk of a standing foot: after t seconds this times sqrt(t) [m], [rad]; more just after touchdown and
        under little load.
    ground : float
        Uncertainty of the height of the ground at touchdown, where it is known [m].
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
            # no measurement is exact: these divide
            check = positive if field.name in ("foot_position", "foot_rotation", "ground") else nonnegative
            check(field.name, getattr(self, field.name))
