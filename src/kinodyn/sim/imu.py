"""The inertial measurement unit of a simulated base."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.spatial import exp3, from_quaternion, log3


@displayed
class Imu(NamedTuple):
    """Reading of an inertial measurement unit at the origin of the base, in base axes.

    Attributes
    ----------
    acceleration : (3,)
        Specific force: acceleration of the base minus gravity, (0, 0, 9.81) at rest [m/s^2].
    angular_velocity : (3,)
        [rad/s]
    """

    acceleration: Array
    angular_velocity: Array


class ImuFromMotion:
    """Computes mean IMU readings from the motion of the base between two readings.

    Over an interval the mean specific force is the change of the base's world velocity per time, minus gravity; the
    mean angular velocity is the rotation between both ends per time.
    """

    def __init__(self, gravity: Array) -> None:
        self._gravity = gravity
        self._time, self._R, self._velocity = 0.0, np.eye(3), np.zeros(3)
        self._last = Imu(np.zeros(3), np.zeros(3))
        self._start: tuple[Array, Array] | None = None  # quaternion and twist that are not yet evaluated

    def reset(self, q: Array, v: Array) -> None:
        """Start at time 0; until time passes, the reading is that of a base without acceleration."""
        self._start = np.array(q[..., 3:7]), np.array(v[..., :6])

    def _begin(self, quaternion: Array, twist: Array) -> None:
        self._time, self._R = 0.0, from_quaternion(quaternion)
        self._velocity = _rotate(self._R, twist[..., :3])
        self._last = Imu(_rotate(_transpose(self._R), -self._gravity), twist[..., 3:])
        self._start = None

    def read(self, time: float, q: Array, v: Array) -> Imu:
        """Return the mean since the previous reading, or that reading again if no time has passed."""
        if self._start is not None:
            self._begin(*self._start)
        duration = time - self._time
        if duration <= 0.0:
            return self._last
        R = from_quaternion(q[..., 3:7])
        velocity = _rotate(R, v[..., :3])
        turn = log3(_transpose(self._R) @ R)
        halfway = self._R @ exp3(0.5 * turn)
        force = (velocity - self._velocity) / duration - self._gravity
        self._last = Imu(_rotate(_transpose(halfway), force), turn / duration)
        self._time, self._R, self._velocity = time, R, velocity
        return self._last


def _rotate(R: Array, vector: Array) -> Array:
    result: Array = (R @ np.asarray(vector)[..., None])[..., 0]
    return result


def _transpose(R: Array) -> Array:
    return np.swapaxes(R, -1, -2)
