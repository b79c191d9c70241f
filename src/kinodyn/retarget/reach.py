"""Which targets of wrists and soles the limbs of a robot reach: inverse kinematics of each limb, within its limits."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.description.types import Frame
from kinodyn.errors import DescriptionWarning
from kinodyn.ik.problem import METHODS, Problem
from kinodyn.ik.search import search
from kinodyn.model.robot import Robot
from kinodyn.retarget.body import SIDES, Body, Limb, sole_corners
from kinodyn.retarget.targets import CORNERS, Targets
from kinodyn.spatial.poses import inverse_pose

REACH = 0.03  # [m] from a target, within which a limb reaches it
RESTARTS = 4  # of a search, from other postures of the limb

_ROBOTS: WeakKeyDictionary[Body, Robot] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Reachable:
    """Which targets are within reach.

    Attributes
    ----------
    hands, feet : (n, frames) of bool
        By limb, the left one first; no hands if the robot has no arms.
    """

    hands: NDArray[np.bool_]
    feet: NDArray[np.bool_]


def reachable(body: Body, q: Array, targets: Targets, hands: Array, feet: Array) -> Reachable:
    """Find the frames in which limbs reach the targets of wrists and soles.

    A limb reaches a target if its joints, within their limits, bring wrist or middle of the sole to within 3 cm of it,
    in any orientation, while base and trunk are where the motion has them. Contacts, velocity limits and collisions do
    not count. The motion itself shows this where its error is smaller; elsewhere a search with restarts decides, which
    may miss a posture in rare cases.

    Parameters
    ----------
    body
        The robot.
    q
        Configurations (frames, nq).
    targets
        The targets.
    hands, feet
        Distances (n, frames) of wrists and soles from them [m].

    Returns
    -------
    Reachable
    """
    wrists = [targets.names.index(f"{side}_wrist") + 2 * CORNERS for side in SIDES if body.arms]
    soles = targets.reference.reshape(len(SIDES), CORNERS, -1, 3).mean(axis=1)
    return Reachable(
        _of_limbs(body, q, "wrist", body.arms, targets.positions[wrists], hands),
        _of_limbs(body, q, "sole", body.legs, soles, feet),
    )


def _of_limbs(body: Body, q: Array, end: str, limbs: dict[str, Limb], wanted: Array, error: Array) -> NDArray[np.bool_]:
    reached = np.asarray(error <= REACH)
    for (side, limb), found, positions in zip(limbs.items(), reached, wanted, strict=True):
        far = np.flatnonzero(~found)
        if len(far):
            found[far] = _search(body, q[far], _frame(side, end), limb, positions[far])
    return reached


def _search(body: Body, q: Array, frame: str, limb: Limb, wanted: Array) -> NDArray[np.bool_]:
    """Return which positions (n, 3) a limb reaches with its frame, from q (n, nq)."""
    T = np.tile(np.eye(4), (len(q), 1, 1))
    T[:, :3, 3] = wanted
    joints = [joint.name for joint in body.robot.joints if joint.child in limb.links and joint.mimic is None]
    problem = Problem(_with_ends(body), {frame: T}, None, True, REACH, joints)
    _, start = problem.flatten(q)
    return np.asarray(search(problem, METHODS["lm"], start, RESTARTS, True, 0).success)


def _frame(side: str, end: str) -> str:
    return f"retarget {side} {end}"


def _with_ends(body: Body) -> Robot:
    """Return the robot with frames at its wrists and in the middle of its soles; it has the same coordinates."""
    if body not in _ROBOTS:
        frames = [_placed(body, side, "sole") for side in SIDES] + [_placed(body, side, "wrist") for side in body.arms]
        description = body.robot.description
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DescriptionWarning)  # the robot itself had them
            _ROBOTS[body] = Robot(replace(description, frames=(*description.frames, *frames)))
    return _ROBOTS[body]


def _placed(body: Body, side: str, end: str) -> Frame:
    """Place a frame at the wrist or in the middle of the sole."""
    if end == "wrist":
        arm = body.arms[side]
        link, position = arm.links[-1], arm.tip
    else:
        link, position = (
            body.legs[side].links[-1],
            body.sole_pose(side)[:3] @ [*sole_corners(body, side).mean(axis=0), 0.0, 1.0],
        )
    T = np.eye(4)
    T[:3, 3] = (inverse_pose(body.pose(link)) @ [*position, 1.0])[:3]
    return Frame(_frame(side, end), link, T)
