"""State estimation: where a legged robot is, from its inertial unit, its encoders and the forces at its feet."""

from kinodyn.estimation.legged import LeggedEstimator
from kinodyn.estimation.noise import SensorNoise

__all__ = ["LeggedEstimator", "SensorNoise"]
