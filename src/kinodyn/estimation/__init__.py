"""State estimation: where a legged robot is, from its inertial unit, its encoders and the forces at its feet."""

from kinodyn.estimation.judging import BaseErrors, base_errors
from kinodyn.estimation.legged import LeggedEstimator
from kinodyn.estimation.noise import SensorNoise

__all__ = ["BaseErrors", "LeggedEstimator", "SensorNoise", "base_errors"]
