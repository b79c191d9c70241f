"""What a controller is, and what all of ours share: torque limits, signals, the check of what comes in."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

Signals: TypeAlias = dict[str, Any]


@runtime_checkable
class Controller(Protocol):
    """Anything that gives torques for a state. `kinodyn.sim.simulate` runs it and records its signals."""

    @property
    def signals(self) -> Mapping[str, Any]:
        """What was last computed, by name."""
        ...

    def __call__(self, t: float, state: State) -> Array:
        """Compute generalised forces (..., nv) at time t [s]; those of a free base are zero."""
        ...

    def reset(self) -> None:
        """Forget everything: the next call is the first."""
        ...


class Loop(ABC):
    """A controller with torque limits and signals.

    Attributes
    ----------
    robot : Robot
        The robot that the controller believes in; states must be of it.
    torque_limits : (n,)
        Of the n joints that have motors; infinite where there is none.
    signals : dict
        What was last computed, by name: errors, "tau_wanted" (..., nv) before the limits, "saturated" (..., nv).
    """

    signals: Signals

    def __init__(self, robot: Robot, torque_limits: ArrayLike | None) -> None:
        if not isinstance(robot, Robot):
            raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
        self.robot = robot
        self.base = 6 if robot.base == "floating" else 0
        self.n = robot.nv - self.base
        self.torque_limits = _limits(robot, self.n, torque_limits)
        self._low = -self.torque_limits
        self.signals = {}

    @abstractmethod
    def law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute the torques (..., n) of the joints, not yet limited, and signals."""

    def reset(self) -> None:
        """Forget everything: the next call is the first."""
        self.signals = {}

    def __call__(self, t: float, state: State) -> Array:
        """Compute generalised forces (..., nv) at time t [s], within the torque limits."""
        if state.robot is not self.robot:
            raise InputError(
                f"the state is of {state.robot!r}, not of the robot that the controller was made for, {self.robot!r};"
                " make it with state.robot, or tell simulate by model=controller.robot"
            )
        if not math.isfinite(t):
            raise InputError(f"t must be a finite time [s], got {t!r}")
        wanted, tau, signals = self.limited(t, state)
        signals["tau_wanted"] = wanted
        signals["saturated"] = tau != wanted
        self.signals = signals
        return tau

    def limited(self, t: float, state: State) -> tuple[Array, Array, Signals]:
        """Compute generalised forces (..., nv) as the law wants them, those within the torque limits, and signals."""
        wanted, signals = self.law(t, state)
        finite = math.isfinite(wanted.dot(wanted)) if wanted.ndim == 1 else bool(np.isfinite(wanted).all())
        if not finite:
            raise InputError(f"the torques at {t:g} s are not finite: look at the reference and at measured forces")
        tau = np.minimum(np.maximum(wanted, self._low), self.torque_limits)
        return (self._padded(wanted), self._padded(tau), signals) if self.base else (wanted, tau, signals)

    def _padded(self, tau: Array) -> Array:
        padded = np.zeros((*tau.shape[:-1], self.robot.nv))
        padded[..., self.base :] = tau
        return padded


class Clock:
    """Seconds between calls of a controller that remembers something."""

    def __init__(self) -> None:
        self.last: float | None = None

    def step(self, t: float) -> float:
        """Tell how long the last call was ago [s], 0 the first time."""
        dt = 0.0 if self.last is None else t - self.last
        if dt < 0.0:
            raise InputError(f"time ran back from {self.last:g} s to {t:g} s; call reset() before another run")
        self.last = t
        return dt


def _limits(robot: Robot, n: int, given: ArrayLike | None) -> Array:
    own = robot.limits.effort[robot.nv - n :]
    if given is None:
        return np.array(own)
    try:
        limits = np.array(np.broadcast_to(np.asarray(given, dtype=float), (n,)))
    except (TypeError, ValueError) as cause:
        raise InputError(f"torque_limits must be one number or ({n},), one for each joint with a motor") from cause
    if not (limits >= 0).all():
        raise InputError(f"torque_limits must not be negative, got {limits.tolist()}")
    return limits
