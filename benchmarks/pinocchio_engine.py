"""Pinocchio as an engine of the benchmark: with one preallocated `Data`, or its parallel functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
import pinocchio as pin

from setups import COM, D_FORWARD, D_INVERSE, ENDS, FORWARD, FRAMES, INVERSE, JACOBIAN, MASS, Array, Setup
from timing import Run, loop

FUNCTIONS = {
    ENDS: pin.forwardKinematics,
    FRAMES: pin.framesForwardKinematics,
    JACOBIAN: pin.computeFrameJacobian,
    COM: pin.centerOfMass,
    INVERSE: pin.rnea,
    MASS: pin.crba,
    FORWARD: pin.aba,
    D_INVERSE: pin.computeRNEADerivatives,
    D_FORWARD: pin.computeABADerivatives,
}
# Some wheels of Pinocchio lack these, such as version 3.8, which Placo requires.
PARALLEL = {
    function: getattr(pin, name)
    for function, name in ((INVERSE, "rneaInParallel"), (FORWARD, "abaInParallel"))
    if hasattr(pin, name)
}


class Pinocchio:
    """Pinocchio's functions on one robot."""

    def __init__(self, setup: Setup, model: Any, threads: int = 2) -> None:
        self.setup, self.model, self.data = setup, model, model.createData()
        self.pool = pin.ModelPool(model, threads) if PARALLEL else None
        self.hand = model.getFrameId(setup.hand)
        self.functions: dict[str, Callable[..., Any]] = {
            name: partial(function, model, self.data) for name, function in FUNCTIONS.items()
        }

    def single(self, function: str) -> Run:
        """Return a run that calls `function` once per state."""
        columns: list[Any] = [list(column) for column in self.setup.columns(function)]
        if function == JACOBIAN:
            columns += [repeat(self.hand), repeat(pin.LOCAL_WORLD_ALIGNED)]
        return loop(self.functions[function], *columns)

    def batch(self, function: str, threads: int) -> Run | None:
        """Return a run that takes all states in one call, where Pinocchio has one; it takes one state per column."""
        if function not in PARALLEL:
            return None
        columns = [np.asfortranarray(column.T) for column in self.setup.columns(function)]
        out = np.zeros_like(columns[1], order="F")
        return partial(PARALLEL[function], threads, self.pool, *columns, out)

    def value(self, function: str, index: int) -> list[Array]:
        """Compute `function` for one state."""
        arguments: list[Any] = [column[index] for column in self.setup.columns(function)]
        if function in (ENDS, FRAMES):
            self.functions[FRAMES](*arguments)
            return [self.frame_poses(self.setup.ends if function == ENDS else self.setup.robot.frame_names)]
        if function == JACOBIAN:
            arguments += [self.hand, pin.LOCAL_WORLD_ALIGNED]
        result = self.functions[function](*arguments)
        values = [np.array(value) for value in (result if isinstance(result, tuple) else (result,))]
        if function in (MASS, D_INVERSE, D_FORWARD):
            values[-1] = np.triu(values[-1]) + np.triu(values[-1], 1).T
        return values

    def frame_poses(self, names: Any) -> Array:
        """Stack the poses `(frames, 4, 4)` that the last call left in the data."""
        return np.stack([self.data.oMf[self.model.getFrameId(name)].homogeneous for name in names])
