"""Run a walking controller in a simulator, and record it."""

from __future__ import annotations

from typing import Any

from kinodyn.garbage import collection_paused
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
    # The collector would interrupt the control loop, which makes no reference cycles of its own. On a robot,
    # `gc.freeze()` and `gc.disable()` before the loop do the same.
    with collection_paused():
        return simulate(
            simulator.robot,
            controller if acting is None else acting,
            duration,
            q0=controller.body.q,
            engine=simulator,
            control_dt=controller.dt,
            **options,
        )
