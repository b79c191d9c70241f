"""Run a walking controller in a simulator, and record it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kinodyn.recording import Recording
from kinodyn.sim import ObservationController, Simulator, simulate
from kinodyn.walking.controller import WalkingController


def run_controller(
    simulator: Simulator,
    controller: WalkingController,
    duration: float,
    *,
    acting: ObservationController | None = None,
    **options: Any,
) -> Recording:
    """Simulate a walking controller from its stance on.

    Parameters
    ----------
    simulator
        See `make_simulator`.
    controller
        It is called every `controller.dt`, and its stance is the initial configuration.
    duration
        [s]
    acting
        What is called instead of the controller, and calls it.
    options
        Of `sim.simulate`: pushes, noise, seed, until, progress.
    """
    with no_garbage_collection():
        return simulate(
            simulator.robot,
            controller if acting is None else acting,
            duration,
            q0=controller.body.q,
            engine=simulator,
            control_dt=controller.dt,
            **options,
        )


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Keep Python's collector of reference cycles from interrupting a control loop; counted references are unaffected.

    The loop makes no reference cycles of its own; on a robot, `gc.freeze()` and `gc.disable()` before it do the same.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
