"""One tick of operational space control on the Panda, and of the other controllers beside it.

A tick is what a control loop does: `state.update(q, v)`, then `controller(t, state)`, all signals included, each time
at another state. Before it is timed, the torques are compared with the formula of the book, put together from
`operational_space`. Times are the shortest of many rounds; on a machine that others use too they are longer, by up to
two where two threads share a core.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import kinodyn as kd
from kinodyn.control import Gains, OperationalSpaceControl, Payload, operational_space
from setups import Array
from timing import Entry, best_of

FRAME = "panda_hand_tcp"
HOME = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
GOAL_US = 30.0
STATES, BATCH = 40, 1000
ROUNDS, QUICK = 200, 1


def measure(rounds: int) -> dict[str, Any]:
    """Measure a tick of each controller [us], operational space first."""
    robot = kd.load("panda")
    rng = np.random.default_rng(0)
    q = HOME + rng.uniform(-0.2, 0.2, size=(BATCH, 7))
    v = rng.normal(scale=0.3, size=(BATCH, 7))
    T = kd.kinematics.pose(robot, HOME + 0.1, FRAME)
    gains = Gains.from_frequency(10.0)
    law = OperationalSpaceControl(robot, FRAME, T, gains, posture=HOME)
    off = agrees(law, q[:STATES], v[:STATES])
    controllers = {"operational space": law, **others(robot, T, gains)}
    entries = {name: Entry(ticks(robot, one, q[:STATES], v[:STATES]), STATES) for name, one in controllers.items()}
    entries["operational space, batch of 1000"] = Entry(batch(robot, law, q, v), BATCH)
    return {"robot": "panda", "us per tick": best_of(entries, rounds), "off from the book": off}


def others(robot: kd.Robot, T: Array, gains: Gains) -> dict[str, kd.control.Controller]:
    """Make the other controllers for the same robot."""
    control, load = kd.control, Payload("panda_link7", 3.0, 0.2)
    return {
        "operational space, position only": control.OperationalSpaceControl(
            robot, FRAME, T[:3, 3], gains, part="linear", posture=HOME
        ),
        "task space": control.TaskSpaceControl(robot, FRAME, T, gains, posture=HOME),
        "PD with gravity": control.PDGravity(robot, HOME, gains),
        "computed torque": control.ComputedTorque(robot, HOME, gains),
        "joint impedance": control.JointImpedance(robot, HOME, gains),
        "cartesian impedance": control.CartesianImpedance(robot, FRAME, T, [500, 500, 500, 30, 30, 30]),
        "adaptive": control.AdaptiveControl(robot, HOME, gains, load),
        "robust": control.RobustControl(robot, HOME, gains, load),
    }


def ticks(robot: kd.Robot, controller: kd.control.Controller, q: Array, v: Array) -> Callable[[], None]:
    """Make a run of one tick at each state."""
    state = kd.State(robot, q[0], v[0])
    pairs = list(zip(q, v, strict=True))

    def run() -> None:
        for place, rate in pairs:
            controller(0.0, state.update(place, rate))

    return run


def batch(robot: kd.Robot, controller: kd.control.Controller, q: Array, v: Array) -> Callable[[], None]:
    """Make a run of one call for all states."""
    state = kd.State(robot, q, v)

    def run() -> None:
        controller(0.0, state.update(q, v))

    return run


def agrees(law: OperationalSpaceControl, q: Array, v: Array) -> float:
    """Compare torques with J^T (Lambda y + mu + p) + N^T tau0, or stop; gives the largest difference [N m]."""
    robot, worst = law.robot, 0.0
    for place, rate in zip(q, v, strict=True):
        law(0.0, kd.State(robot, place, rate))
        space = operational_space(robot, place, rate, FRAME)
        y = law.stiffness * law.signals["error"] + law.damping * law.signals["error_rate"]
        a0 = law.posture.stiffness * (HOME - place) - law.posture.damping * rate
        tau0 = kd.dynamics.inverse(robot, place, rate, a0)
        book = space.J.T @ (space.Lambda @ y + space.mu + space.p) + space.N.T @ tau0
        worst = max(worst, float(np.abs(law.signals["tau_desired"] - book).max()))
    if worst > 1e-8:
        raise SystemExit(f"torques are {worst:.1e} N m off from the formula of the book")
    return worst


def goals(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Judge what is asked of operational space control."""
    us = row["us per tick"]["operational space"]
    what = f"{row['robot']}: a tick of operational space control under {GOAL_US:g} us"
    return [{"what": what, "measured": us, "met": us < GOAL_US}]


def text(row: dict[str, Any]) -> list[str]:
    """Write the row as lines."""
    lines = [f"A tick of each controller, {row['robot']}; torques {row['off from the book']:.0e} N m off from the book"]
    return lines + [f"  {name:34} {us:9.1f} us" for name, us in row["us per tick"].items()]
