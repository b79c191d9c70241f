"""Checks before a walk over terrain: whether the robot is fast and strong enough for its steps."""

from __future__ import annotations

from math import cos, sin

import numpy as np

from kinodyn.errors import KinodynError
from kinodyn.walking.biped import ANKLE_FRACTION, SIDES, Biped, opposite
from kinodyn.walking.feasibility import joint_speed, torque_fault
from kinodyn.walking.footsteps import standing_feet
from kinodyn.walking.planner import Planner
from kinodyn.walking.terrain_plan import TerrainPlan

LEVEL = 0.01  # [m] by which the CoM is lower than in the stance, up to which the checks of level ground suffice
MAX_FREE_ROLL = float(np.tan(np.deg2rad(2.0)))  # of the ground across feet whose roll is free
WEIGHT_SHARE = 0.9  # of the torque of a joint that may bear the weight; the rest is for motion and feedback
JOINT_SPEED_SHARE = 0.85  # of joint velocities of level ground; swings that clear the terrain need the rest
RESOLUTION = 0.01  # [m] of heights that are checked once
TOE_SHARE = 0.5  # of the weight, which the toes of the foot behind bear in the middle of a double support


def takes_long_steps(planner: Planner, speed: float) -> bool:
    """Return whether the longest steps over terrain suit the robot at a speed [m/s].

    Where a joint is too slow for them, the foot lags behind its swing, and the whole body sinks to bring it forward.
    Where an ankle is too weak to bear half of the weight on the toes, the foot behind turns over as its heel lifts.

    Parameters
    ----------
    planner
    speed
        [m/s]

    Returns
    -------
    bool
    """
    if any(toe_load(planner.body, side) < TOE_SHARE for side in SIDES):
        return False
    own = planner.settings
    reach = planner.limits.scaled(own.terrain.step_fraction).forward
    fastest = min(own.terrain.slow_step_length * planner.body.leg, reach) / own.step_time
    return joint_speed(planner, (fastest, 0.0, 0.0)) * min(speed / fastest, 1.0) <= JOINT_SPEED_SHARE


def toe_load(body: Biped, side: str) -> float:
    """Return the part of the weight that the ankle of a foot bears at the front edge of the sole.

    Parameters
    ----------
    body
    side
        "left" or "right".

    Returns
    -------
    float
    """
    foot = body.feet[side]
    return foot.reach[0] / ANKLE_FRACTION / float(foot.corners[:, 0].max())


def require_strong_steps(plan: TerrainPlan, friction: float = 0.5) -> None:
    """Raise KinodynError, with joint and torque, unless each foot alone bears the robot on every step of a plan.

    On a step up the CoM is over the upper foot before it rises, on a step down before the lower foot has landed: the
    knee of the foot that stands is bent then. The other foot is beside it, and nothing moves.

    Parameters
    ----------
    plan
    friction
        Coefficient of the ground.
    """
    if any(foot.free for foot in plan.body.feet.values()):
        _require_level_across(plan)  # they do not stand flat on one foot; `TerrainLimits` allows low steps only
        return
    feet, checked = dict(plan.plan.start), set()
    for step in plan.steps:
        stance, lifted = feet[opposite(step.side)], feet[step.side]
        height, lean = plan.posture.lowest_in_step(lifted, stance, step)
        case = (stance.side, round(height / RESOLUTION), round(lean / RESOLUTION))
        if case not in checked and height < plan.body.com_height - LEVEL:
            rise = max((step.z - stance.z, stance.z - lifted.z), key=abs)
            _require(plan.body, stance.side, rise, height, lean, friction)
        checked.add(case)
        if plan.posture.heel_rise(lifted, stance) > RESOLUTION:
            _require_strong_toes(plan.body, lifted.side, stance.z - lifted.z)
        feet[step.side] = step


def _require_level_across(plan: TerrainPlan) -> None:
    """Raise KinodynError where ground is inclined across feet whose roll the legs do not control."""
    for step in plan.steps:
        across = step.gradient[1] * cos(step.yaw) - step.gradient[0] * sin(step.yaw)
        if plan.body.feet[step.side].free == "roll" and abs(across) > MAX_FREE_ROLL:
            raise KinodynError(
                f"{plan.body.robot.name!r} cannot walk there: the joints of its legs do not control the roll of its "
                f"feet, and the ground at ({step.x:.2f}, {step.y:.2f}) is inclined by "
                f"{np.rad2deg(np.arctan(abs(across))):.2g} degrees across its {step.side} foot, "
                f"more than {np.rad2deg(np.arctan(MAX_FREE_ROLL)):.2g} degrees"
            )


def _require_strong_toes(body: Biped, side: str, rise: float) -> None:
    """Raise KinodynError unless a foot bears its part of the weight on its toes, on a step up by `rise` [m]."""
    load = toe_load(body, side)
    if load >= TOE_SHARE:
        return
    foot = body.feet[side]
    limit = foot.reach[0] / ANKLE_FRACTION * body.weight
    efforts = {joint.name: float(body.robot.limits.effort[joint.v.start]) for joint in body.ankles[side]}
    name = min(efforts, key=lambda joint: abs(efforts[joint] - limit))
    raise KinodynError(
        f"{body.robot.name!r} cannot walk there: its {side} heel has to lift before a step of {rise:.3g} m up, and it "
        f"is too weak to bear {100.0 * TOE_SHARE:.0f} % of its weight on its toes: joint {name} needs "
        f"{TOE_SHARE / load * limit:.3g} N m and has {limit:.3g} N m"
    )


def _require(body: Biped, side: str, rise: float, height: float, lean: float, friction: float) -> None:
    """Raise KinodynError unless the robot bears its weight on one foot, its CoM at a height [m], leaning [rad]."""
    soles = {side: foot.pose for side, foot in standing_feet(body).items()}
    foot = body.feet[side]
    over = soles[side][:2, 3] + foot.middle
    found = body.solve_posture(soles, np.array([*over, height]), np.zeros(()), lean=lean)
    if not found.success:  # on its steps the pelvis turns, and the other foot may incline: nothing is ruled out
        return
    weak, _ = torque_fault(body, found.q, np.zeros(body.robot.nv), [foot], friction, WEIGHT_SHARE)
    if weak:
        what = f"bear a step of {abs(rise):.3g} m {'up' if rise > 0.0 else 'down'} on its {side} foot"
        raise KinodynError(f"{body.robot.name!r} cannot walk there: it is too weak to {what}: {weak}")
