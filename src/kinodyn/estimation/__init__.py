"""State estimation: base pose and velocity of a legged robot from IMU, encoders and foot forces."""

from kinodyn.estimation.base_errors import BaseErrors, base_errors
from kinodyn.estimation.legged import LeggedEstimator
from kinodyn.estimation.noise import SensorNoise

__all__ = ["BaseErrors", "LeggedEstimator", "SensorNoise", "base_errors"]


def __dir__() -> list[str]:
    return list(__all__)
