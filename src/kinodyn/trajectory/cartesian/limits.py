"""Speed limits of a frame in metres and radians."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.checks import positive
from kinodyn.display import displayed


@check_types
@displayed
@dataclass(frozen=True)
class CartesianLimits:
    """Limits of a moving frame: norms of the linear and angular rates of its origin. Infinite by default: no limit.

    Attributes
    ----------
    linear_velocity : float
        [m/s]
    linear_acceleration : float
        [m/s^2]; on a curve it includes the centripetal acceleration.
    linear_jerk : float
        [m/s^3], along the path.
    angular_velocity : float
        [rad/s]
    angular_acceleration : float
        [rad/s^2]
    angular_jerk : float
        [rad/s^3]

    Examples
    --------
    >>> limits = CartesianLimits(linear_velocity=0.3, linear_acceleration=1.0)
    >>> limits.angular_velocity
    inf
    """

    linear_velocity: float = np.inf
    linear_acceleration: float = np.inf
    linear_jerk: float = np.inf
    angular_velocity: float = np.inf
    angular_acceleration: float = np.inf
    angular_jerk: float = np.inf

    def __post_init__(self) -> None:
        for name, value in self._items():
            object.__setattr__(self, name, float(np.inf) if value == np.inf else positive(name, value))

    def _items(self) -> list[tuple[str, float]]:
        """List names and values."""
        return [(field.name, getattr(self, field.name)) for field in fields(self)]

    @property
    def is_limited(self) -> bool:
        """Whether anything is limited."""
        return any(np.isfinite(value) for _, value in self._items())


NO_LIMITS = CartesianLimits()
