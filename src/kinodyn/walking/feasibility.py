"""Checks before a walk: whether the robot is strong enough, and whether its legs reach."""

from __future__ import annotations

from dataclasses import replace
from math import cosh

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.foot import Foot
from kinodyn.dynamics import centroidal, contact
from kinodyn.errors import KinodynError
from kinodyn.walking.biped import Biped
from kinodyn.walking.footsteps import standing_feet
from kinodyn.walking.pattern import Feasibility, walking_pattern
from kinodyn.walking.planner import Planner

TRIAL_STEPS = 4
TRIAL_INTERVAL = 0.1  # [s] between the configurations that are solved for
POSITION_TOLERANCE = 5e-3  # [m]
VELOCITY_TOLERANCE = 1.05  # on joint velocity limits: the trial has flat feet and a level CoM, the walk need not
STEP_SHARE = 1.05  # of the torques in the middle of a step: it lasts an instant, and the trunk can sway
HALF_STEP = 1.0  # half a step as a multiple of the pendulum's time constant


def require_strong(body: Biped, friction: float = 0.5) -> None:
    """Raise KinodynError, with joint and torque, unless the robot can stand and step within its torque limits.

    Standing: on both feet. Stepping: on each foot alone in the middle of a step in place, where the CoM of the linear
    inverted pendulum is half the width of the feet / cosh(omega T / 2) beside the foot and accelerates away from it.
    """
    soles = {side: foot.pose for side, foot in standing_feet(body).items()}
    still = np.zeros(body.robot.nv)
    _require_torques(body, body.q, still, list(body.feet.values()), friction, "stand on its two feet")
    for side, foot in body.feet.items():
        over = soles[side][:2, 3] + foot.middle
        centre = np.array([0.0, 0.0])
        away = (centre - over) * np.array([0.0, 1.0 / cosh(HALF_STEP)])
        found = body.solve_posture(soles, np.array([*(over + away), body.com_height]), np.zeros(()))
        if not found.success:
            why = "; ".join(str(conflict) for conflict in found.conflicts)
            raise KinodynError(f"{body.robot.name!r} cannot walk: its CoM does not reach its {side} foot: {why}")
        acceleration = _acceleration(body, found.q, foot, body.omega**2 * np.array([*away, 0.0]))
        _require_torques(body, found.q, acceleration, [foot], friction, f"step on its {side} foot", STEP_SHARE)


def _acceleration(body: Biped, q: Array, foot: Foot, com: Array) -> Array:
    """Compute the least acceleration (nv,) with which the CoM accelerates without angular momentum, on a foot at rest.

    A foot whose roll is free turns about its line of contact.
    """
    robot = body.robot
    J_foot = kinematics.jacobian(robot, q, foot.frame, reference="local")[foot.controlled > 0]
    angular = centroidal.momentum_matrix(robot, q)[3:]
    J = np.vstack([J_foot, kinematics.com_jacobian(robot, q), angular])
    rows = np.concatenate([np.zeros(len(J_foot)), com, np.zeros(3)])
    result: Array = np.linalg.lstsq(J, rows, rcond=None)[0]
    return result


def _require_torques(
    body: Biped, q: Array, a: Array, feet: list[Foot], friction: float, what: str, share: float = 1.0
) -> None:
    weak, other = torque_fault(body, q, a, feet, friction, share)
    if weak or other:
        raise KinodynError(f"{body.robot.name!r} cannot walk: it is too weak to {what}: {weak or other}")


def torque_fault(
    body: Biped, q: Array, a: Array, feet: list[Foot], friction: float, share: float = 1.0
) -> tuple[str, str]:
    """Return which joint cannot bear an acceleration (nv,) at rest on some feet, and what else prevents it; "" if none.

    `share` is the part of the torques that may be used.
    """
    robot, still = body.robot, np.zeros(body.robot.nv)
    contacts = [replace(foot, free="").contact(friction) for foot in feet]  # the whole sole bears the load
    weights = 1e-3
    limits = share * np.where(robot.limits.effort > 0.0, robot.limits.effort, np.inf)  # springs bear passive toes
    found = contact.inverse(robot, q, still, a, contacts, method="qp", torque_limits=limits, torque_weights=weights)
    if str(found.status) == "solved":
        return "", ""
    free = contact.inverse(robot, q, still, a, contacts, method="qp", torque_weights=weights)
    excess = np.abs(free.tau) / np.maximum(limits, 1e-9)
    excess[:6] = 0.0
    k = int(excess.argmax())
    if str(free.status) != "solved" or excess[k] <= 1.0:
        return "", str(found.limiting) or str(found.status)
    joint = next(joint for joint in robot.joints if joint.mimic is None and joint.v.start == k)
    most = f"{100.0 * share:.0f} % of " if share < 1.0 else ""
    unit, limit = "N" if joint.kind == "prismatic" else "N m", float(robot.limits.effort[k])
    return f"joint {joint.name} needs {abs(free.tau[k]):.3g} {unit} and has {most}{limit:.3g} {unit}", ""


def require_feasible(planner: Planner, velocity: ArrayLike) -> None:
    """Raise KinodynError, with the reason, unless inverse kinematics can follow a few steps at a velocity (3,)."""
    fault = _trial_fault(planner, velocity, VELOCITY_TOLERANCE)
    if fault:
        raise KinodynError(f"{planner.body.robot.name!r} cannot walk at {np.asarray(velocity).tolist()}: {fault}")


def follows(planner: Planner, velocity: ArrayLike) -> bool:
    """Return whether inverse kinematics can follow a few steps at a velocity (3,)."""
    return not _trial_fault(planner, velocity)


def joint_speed(planner: Planner, velocity: ArrayLike) -> float:
    """Return the largest fraction of a joint's velocity limit in a few steps at a velocity (3,)."""
    return _trial(planner, velocity).speed


def _trial(planner: Planner, velocity: ArrayLike) -> Feasibility:
    pattern = walking_pattern(
        planner.body, velocity=velocity, steps=TRIAL_STEPS, limits=planner.limits, settings=planner.settings
    )
    return pattern.check(every=TRIAL_INTERVAL, tolerance=POSITION_TOLERANCE)


def _trial_fault(planner: Planner, velocity: ArrayLike, max_speed: float = 1.0) -> str:
    """Return why a few steps cannot be followed, or ""; `max_speed` is the largest fraction of a velocity limit."""
    found = _trial(planner, velocity)
    fast = found.error <= POSITION_TOLERANCE and found.speed <= max_speed  # only too fast, and not by much
    return "" if found.success or fast else str(found.status)
