"""Task tracking in controllers: motion of the target, and gains of the error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import MAX_MAGNITUDE, numbers
from kinodyn.errors import InputError

FREQUENCY = 10.0  # rad/s


class Motion:
    """How controllers track a task.

    The desired accelerations a satisfy J a = -(dJ/dt) v + damping de/dt + stiffness e, plus the motion of the target:
    the error e of the task then decays like an oscillator with this stiffness and damping.

    Attributes
    ----------
    velocity, acceleration
        Of the target; None is zero. For a pose (..., 6): velocity of its origin, then angular velocity, in the axes of
        the world or of `relative_to`, as `kinematics.velocity` and `acceleration` return them; for a position (..., 3)
        in the same axes; for a configuration (..., nv); for a momentum (..., 6) its rate, as `velocity`.
    frequency, damping_ratio
        Natural frequency [rad/s] and damping ratio of the error if nothing opposes the task. One number, or one
        for each row of the task.
    gains
        Stiffness [1/s^2] and damping [1/s]; by default derived from the two above.
    """

    name: str
    _velocity: Array | None
    _acceleration: Array | None
    _frequency: Array
    _ratio: Array
    _gains: tuple[Array, Array]

    def _rest(self) -> None:
        """Begin with a target at rest and default gains."""
        self._velocity = self._acceleration = None
        self._frequency, self._ratio = np.array(FREQUENCY), np.array(1.0)
        self._derive()

    def _derive(self) -> None:
        w = self._frequency
        self._gains = (w * w, 2.0 * self._ratio * w)

    @property
    def velocity(self) -> Array | None:
        """Velocity of the target."""
        return self._velocity

    @velocity.setter
    def velocity(self, value: ArrayLike | None) -> None:
        self._velocity = None if value is None else vector(f"velocity of {self.name!r}", value)

    @property
    def acceleration(self) -> Array | None:
        """Acceleration of the target."""
        return self._acceleration

    @acceleration.setter
    def acceleration(self, value: ArrayLike | None) -> None:
        self._acceleration = None if value is None else vector(f"acceleration of {self.name!r}", value)

    @property
    def frequency(self) -> Array:
        """Natural frequency [rad/s]."""
        return self._frequency

    @frequency.setter
    def frequency(self, value: ArrayLike) -> None:
        self._frequency = _not_negative(f"frequency of {self.name!r}", value)
        self._derive()

    @property
    def damping_ratio(self) -> Array:
        """Damping ratio."""
        return self._ratio

    @damping_ratio.setter
    def damping_ratio(self, value: ArrayLike) -> None:
        self._ratio = _not_negative(f"damping_ratio of {self.name!r}", value)
        self._derive()

    @property
    def gains(self) -> tuple[Array, Array]:
        """Stiffness [1/s^2] and damping [1/s]."""
        return self._gains

    @gains.setter
    def gains(self, value: tuple[ArrayLike, ArrayLike]) -> None:
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise InputError(f"gains of {self.name!r} must be (stiffness, damping), got {value!r}")
        names = (f"stiffness of {self.name!r}", f"damping of {self.name!r}")
        stiffness, damping = (_not_negative(what, each) for what, each in zip(names, value, strict=True))
        self._gains = (stiffness, damping)


def vector(what: str, value: ArrayLike) -> Array:
    """Return a copy of vectors (..., any size), or raise."""
    if (
        type(value) is np.ndarray
        and value.dtype == np.float64
        and value.ndim > 0
        and np.vdot(value, value) <= MAX_MAGNITUDE
    ):
        copy: Array = value.copy()
        return copy
    if np.ndim(value) == 0:
        raise InputError(f"{what} must be a vector, got {value!r}")
    return np.array(numbers(what, value, np.shape(value)[-1]))


def _not_negative(what: str, value: ArrayLike) -> Array:
    result = numbers(what, value) if np.ndim(value) == 0 else numbers(what, value, *np.shape(value))
    if (result < 0).any() or result.ndim > 1:
        raise InputError(f"{what} must be a nonnegative number, or one for each row, got {value!r}")
    return np.array(result)
