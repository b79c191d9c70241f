"""One tick of operational space control on the Panda, and of the other controllers.

A tick is `state.update(q, v)` followed by `controller(t, state)`, all signals included, each time at another state.
Before timing, the torques are compared with the textbook formula, evaluated by `operational_space`. Times are the
shortest of many rounds; on a shared machine they are up to twice as long.
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
    difference = check_torques(law, q[:STATES], v[:STATES])
    controllers = {"operational space": law, **others(robot, T, gains)}
    entries = {name: Entry(ticks(robot, one, q[:STATES], v[:STATES]), STATES) for name, one in controllers.items()}
    entries["operational space, batch of 1000"] = Entry(batch(robot, law, q, v), BATCH)
    return {"robot": "panda", "us per tick": best_of(entries, rounds), "difference": difference}


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
    """Return a run of one tick at each state."""
    state = kd.State(robot, q[0], v[0])
    pairs = list(zip(q, v, strict=True))

    def run() -> None:
        for q_k, v_k in pairs:
            controller(0.0, state.update(q_k, v_k))

    return run


def batch(robot: kd.Robot, controller: kd.control.Controller, q: Array, v: Array) -> Callable[[], None]:
    """Return a run of one call for all states."""
    state = kd.State(robot, q, v)

    def run() -> None:
        controller(0.0, state.update(q, v))

    return run


def check_torques(law: OperationalSpaceControl, q: Array, v: Array) -> float:
    """Return the largest difference [N m] from J^T (Lambda y + mu + p) + N^T tau0; stop if it is too large."""
    robot, worst = law.robot, 0.0
    for q_k, v_k in zip(q, v, strict=True):
        law(0.0, kd.State(robot, q_k, v_k))
        space = operational_space(robot, q_k, v_k, FRAME)
        y = law.stiffness * law.signals["error"] + law.damping * law.signals["error_rate"]
        a0 = law.posture.stiffness * (HOME - q_k) - law.posture.damping * v_k
        tau0 = kd.dynamics.inverse(robot, q_k, v_k, a0)
        book = space.J.T @ (space.Lambda @ y + space.mu + space.p) + space.N.T @ tau0
        worst = max(worst, float(np.abs(law.signals["tau_desired"] - book).max()))
    if worst > 1e-8:
        raise SystemExit(f"torques differ from the textbook formula by {worst:.1e} N m")
    return worst


def goals(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Evaluate the goal for operational space control."""
    us = row["us per tick"]["operational space"]
    what = f"{row['robot']}: a tick of operational space control under {GOAL_US:g} us"
    return [{"what": what, "measured": us, "met": us < GOAL_US}]


def text(row: dict[str, Any]) -> list[str]:
    """Format the results as lines of text."""
    accuracy = f"torques within {row['difference']:.0e} N m of the textbook formula"
    lines = [f"One tick of each controller, {row['robot']}; {accuracy}"]
    return lines + [f"  {name:34} {us:9.1f} us" for name, us in row["us per tick"].items()]
