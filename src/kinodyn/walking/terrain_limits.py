"""The largest step heights of a robot, and the footholds that support its feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.display import displayed
from kinodyn.terrain.footholds import FootholdRules
from kinodyn.walking.biped import SIDES, Biped
from kinodyn.walking.step_limits import StepLimits

STEP_HEIGHTS = np.arange(0.45, 0.04, -0.025)  # fractions of the leg that are tried as height of a step
HEIGHT_FRACTION = 0.7  # fraction of the height that is reached which a step may have
LENGTH_FRACTION = 0.7  # fraction of the longest step at which these heights must be reached
FREE_ROLL_RISE = 0.06  # of the leg: highest step of feet whose roll the legs do not control


@check_types
@displayed
@dataclass(frozen=True)
class TerrainLimits:
    """What a robot can step on and over.

    Attributes
    ----------
    max_rise : float
        Largest difference of height between consecutive feet [m].
    body_radius : float
        Radius around the centre between the feet that must be free of obstacles [m].
    obstacle : float
        Height above the higher foot from which on ground is an obstacle to the body [m].
    rules : FootholdRules
        What counts as support.
    """

    max_rise: float
    body_radius: float
    obstacle: float
    rules: FootholdRules = FootholdRules()

    @classmethod
    @check_types
    def from_robot(cls, body: Biped, limits: StepLimits, *, rules: FootholdRules | None = None) -> TerrainLimits:
        """Derive the limits from the legs, the height of a step by inverse kinematics.

        Parameters
        ----------
        body
        limits
            Of steps on level ground.
        rules
            What counts as support.

        Returns
        -------
        TerrainLimits
        """
        free_roll = any(foot.free == "roll" for foot in body.feet.values())
        return cls(
            max_rise=min(_reachable_rise(body, limits), FREE_ROLL_RISE * body.leg if free_roll else np.inf),
            body_radius=0.5 * body.width + float(body.left.size[1]),
            obstacle=0.5 * body.leg,
            rules=rules or FootholdRules(min_support=1.0 if body.left.on_points else FootholdRules.min_support),
        )


def _reachable_rise(body: Biped, limits: StepLimits) -> float:
    """Find the highest step at which both feet can stand flat, the CoM at its usual height above the lower one."""
    rises = STEP_HEIGHTS * body.leg
    poses = {side: np.tile(np.eye(4), (2 * len(rises), 1, 1)) for side in SIDES}
    for k, (side, sign) in enumerate((("left", 1.0), ("right", -1.0))):
        own = slice(k * len(rises), (k + 1) * len(rises))
        poses[side][own, 0, 3] = LENGTH_FRACTION * limits.forward
        poses[side][own, 1, 3] = sign * limits.width
        poses[side][own, 2, 3] = rises
    middles = sum(poses[side] @ np.append(body.feet[side].middle, [0.0, 1.0]) for side in SIDES) / 2
    com = np.column_stack([middles[:, :2], np.full(len(middles), body.com_height)])
    reached = body.solve_posture(poses, com, np.zeros(len(middles))).success.reshape(2, -1).all(axis=0)
    return HEIGHT_FRACTION * float(rises[reached][0]) if reached.any() else 0.0
