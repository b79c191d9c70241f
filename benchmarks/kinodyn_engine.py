"""kinodyn as an engine of the benchmark, and the check that other engines agree with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol

import numpy as np

import kinodyn as kd
from setups import COM, D_FORWARD, D_INVERSE, ENDS, FORWARD, FRAMES, INVERSE, JACOBIAN, MASS, Array, Setup
from timing import Run

TOLERANCE = 1e-8


class Engine(Protocol):
    """An engine on one robot: its functions, the run to be timed, and its value for one state."""

    functions: dict[str, Callable[..., Any]]

    def single(self, function: str) -> Run:
        """Return a run that calls `function` once per state."""

    def value(self, function: str, index: int) -> list[Array]:
        """Compute `function` for one state, in kinodyn's conventions."""


class Kinodyn:
    """kinodyn's functions with preallocated output."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        robot = setup.robot
        self.functions: dict[str, Callable[..., Any]] = {
            ENDS: partial(kd.kinematics.poses, robot, frames=setup.ends),
            FRAMES: partial(kd.kinematics.poses, robot),
            JACOBIAN: partial(kd.kinematics.jacobian, robot, frame=setup.hand),
            COM: partial(kd.kinematics.com, robot),
            INVERSE: partial(kd.dynamics.inverse, robot),
            MASS: partial(kd.dynamics.mass_matrix, robot),
            FORWARD: partial(kd.dynamics.forward, robot),
            D_INVERSE: partial(kd.dynamics.inverse_derivatives, robot),
            D_FORWARD: partial(kd.dynamics.forward_derivatives, robot),
        }

    def single(self, function: str) -> Run:
        """Return a run that calls `function` once per state, in a plain loop."""
        robot, ends, hand = self.setup.robot, self.setup.ends, self.setup.hand
        columns = [list(column) for column in self.setup.columns(function)]
        out = self.functions[function](*(column[0] for column in columns))
        call: Any = self.functions[function].func  # type: ignore[attr-defined]

        def run() -> None:
            if function == ENDS:
                for q in columns[0]:
                    call(robot, q, frames=ends, out=out)
            elif function == JACOBIAN:
                for q in columns[0]:
                    call(robot, q, hand, out=out)
            elif len(columns) == 1:
                for q in columns[0]:
                    call(robot, q, out=out)
            else:
                for q, v, a in zip(*columns, strict=True):
                    call(robot, q, v, a, out=out)

        return run

    def batch(self, function: str) -> Run:
        """Return a run that calls `function` once for all states."""
        call, columns = self.functions[function], self.setup.columns(function)
        return partial(call, *columns, out=call(*columns))

    def value(self, function: str, index: int) -> list[Array]:
        """Compute `function` for one state out of a batch."""
        return [array[index] for array in as_list(self.functions[function](*self.setup.columns(function)))]


def as_list(result: Any) -> list[Array]:
    """Return one or several result arrays as a list."""
    return list(result) if isinstance(result, tuple) else [result]


def require_agreement(kinodyn: Kinodyn, peer: Engine, functions: Iterable[str], states: int) -> None:
    """Stop the benchmark if `peer` and kinodyn differ, relative to the largest entry of the peer's result."""
    for function in functions:
        for index in range(states):
            pairs = zip(kinodyn.value(function, index), peer.value(function, index), strict=True)
            error = max(float(np.abs(ours - theirs).max() / np.abs(theirs).max()) for ours, theirs in pairs)
            if not error < TOLERANCE:
                who = f"kinodyn and {type(peer).__name__} on {kinodyn.setup.name}"
                raise SystemExit(f"{who} differ by {error:.1e} in {function!r}, state {index}: comparison stopped")
