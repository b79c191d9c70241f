"""The protocol of controllers, and the base class of those in this package: torque limits, signals, input checks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import nonnegative_vector
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot, require_robot
from kinodyn.model.state import State

Signals: TypeAlias = dict[str, Any]
ControlFunction: TypeAlias = Callable[[float, State], ArrayLike]  # a controller without memory or signals


@runtime_checkable
class Controller(Protocol):
    """Anything that computes torques from a state. `kinodyn.sim.simulate` runs it and records its signals.

    Simulators also take a plain function `(t, state) -> tau`.
    """

    @property
    def signals(self) -> Mapping[str, Any]:
        """Quantities that the last call computed, by name."""
        ...

    def __call__(self, t: float, state: State) -> ArrayLike:
        """Compute generalised forces.

        Parameters
        ----------
        t
            Time [s].
        state
            Measured state, or a batch of states.

        Returns
        -------
        (..., nv) array
            [N m, N]; zero in the six rows of a floating base.
        """
        ...

    def reset(self) -> None:
        """Clear all memory: the next call is the first of a new run."""
        ...


class TorqueController(ABC):
    """Base class of the controllers of this package. Subclasses implement `_law`.

    Attributes
    ----------
    robot : Robot
        The controller's model of the robot; states must belong to it.
    n_base : int
        Velocity coordinates of the base: 6 if it floats, else 0.
    n : int
        Number of actuated joint coordinates.
    torque_limits : (n,) array
        [N m, N]; infinite where there is no limit.
    signals : dict
        Results of the last call, by name: tracking errors, "tau_desired" (..., nv) before the torque limits,
        "saturated" (..., nv).
    """

    signals: Signals

    def __init__(self, robot: Robot, torque_limits: ArrayLike | None) -> None:
        require_robot(robot)
        self.robot = robot
        self.n_base = 6 if robot.base == "floating" else 0
        self.n = robot.nv - self.n_base
        self.torque_limits = _torque_limits(robot, self.n, torque_limits)
        self._negative_limits = -self.torque_limits
        self.signals = {}

    @abstractmethod
    def _law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute the joint torques (..., n) before the torque limits, and signals."""

    def reset(self) -> None:
        """Clear all memory: the next call is the first of a new run."""
        self.signals = {}

    def __call__(self, t: float, state: State) -> Array:
        """Compute generalised forces (..., nv) at time t [s], within the torque limits."""
        if state.robot is not self.robot:
            raise InputError(
                f"the state belongs to {state.robot!r}, the controller was made for {self.robot!r};"
                " make the controller with state.robot, or pass model=controller.robot to simulate"
            )
        if not math.isfinite(t):
            raise InputError(f"t must be a finite time [s], got {t!r}")
        desired, tau, signals = self._saturate(t, state)
        signals["tau_desired"] = desired
        signals["saturated"] = tau != desired
        self.signals = signals
        return tau

    def _saturate(self, t: float, state: State) -> tuple[Array, Array, Signals]:
        """Evaluate the control law: generalised forces (..., nv) before and within the torque limits, and signals."""
        desired, signals = self._law(t, state)
        finite = math.isfinite(desired.dot(desired)) if desired.ndim == 1 else bool(np.isfinite(desired).all())
        if not finite:
            raise InputError(f"the torques at {t:g} s are not finite: check the reference and the measured forces")
        tau = np.minimum(np.maximum(desired, self._negative_limits), self.torque_limits)
        return (self._padded(desired), self._padded(tau), signals) if self.n_base else (desired, tau, signals)

    def _padded(self, tau: Array) -> Array:
        padded = np.zeros((*tau.shape[:-1], self.robot.nv))
        padded[..., self.n_base :] = tau
        return padded


class Clock:
    """Time between the calls of a controller that has memory."""

    def __init__(self) -> None:
        self.last: float | None = None

    def step(self, t: float) -> float:
        """Return the time since the previous call [s], 0 at the first."""
        dt = 0.0 if self.last is None else t - self.last
        if dt < 0.0:
            raise InputError(f"time went back from {self.last:g} s to {t:g} s; call reset() before a new run")
        self.last = t
        return dt


def _torque_limits(robot: Robot, n: int, given: ArrayLike | None) -> Array:
    if given is None:
        return np.array(robot.limits.effort[robot.nv - n :])
    return nonnegative_vector("torque_limits", given, n, "actuated joint")
