"""Warm-up of the planner before a walk begins: first calls take milliseconds, which a control tick does not have.

At its first call a function evaluates the annotations of its arguments (`argument_types.check_types`), and libraries
load or compile what they need.
"""

from __future__ import annotations

import numpy as np

from kinodyn.walking.planner import Planner

PUSH = 0.5  # of the distance between the feet, by which the DCM is displaced


def warm_up(planner: Planner) -> None:
    """Plan a walk with disturbances on another planner with the same settings, so that every function is called once.

    Parameters
    ----------
    planner
        Its robot, settings, limits and MPC are used; it does not change.
    """
    _warm_up_recovery(_copy(planner))
    own = _copy(planner)
    own.command((0.0, 0.0, 0.0))
    own.update(own.schedule.phases[0].start)
    swing = next(phase for phase in own.schedule.phases if phase.swing is not None)
    assert swing.swing is not None
    t = swing.start + 0.3 * swing.length
    own.reference(t)
    _push(own, t)
    own.delay(t, own.settings.descent_interval)
    own.stumble(t, swing.swing.side, own.reference(t).feet[swing.swing.side].pose, np.zeros(2))
    own.touchdown(t, swing.swing.side)
    double = own.schedule.at(t + 1e-6)
    own.roll(double.start + 0.05 * double.length, next(iter(double.feet)), "toe")
    _push(own, double.start + 0.1 * double.length)
    own.stop()
    own.update(double.start + 0.2 * double.length)


def _copy(planner: Planner) -> Planner:
    """Return a planner at rest with the same robot and settings."""
    return Planner(planner.body, settings=planner.settings, limits=planner.limits, mpc=planner.mpc)


def _warm_up_recovery(planner: Planner) -> None:
    """Push a standing robot, which has to step."""
    _push(planner, planner.schedule.phases[0].start)


def _push(planner: Planner, t: float) -> None:
    """Change the steps and plan the CoM after a push to the left."""
    com = planner.reference(t).com[:2]
    planner.update(t, com, (0.0, PUSH * planner.body.width * planner.body.omega))
