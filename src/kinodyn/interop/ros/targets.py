"""Targets of a MoveGroup as constraints of a goal, and the results of planning as MoveIt's error codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.shapes import Sphere
from kinodyn.interop.moveit.constraints import (
    Constraints,
    JointConstraint,
    OrientationConstraint,
    PositionConstraint,
    Region,
)
from kinodyn.interop.ros.group_settings import GroupSettings
from kinodyn.rosmsgs.messages import new

_CODES = {
    "solved": 1,
    "start_in_collision": -10,
    "start_violates_constraint": -11,
    "goal_in_collision": -12,
    "goal_violates_constraint": -13,
    "out_of_reach": -31,
    "no_path": -1,
    "interrupted": -7,
}


@dataclass(frozen=True, eq=False)
class PoseTarget:
    """Poses (4, 4) of a link, of which one is enough; position or orientation may be free."""

    poses: tuple[Array, ...]
    position: bool = True
    orientation: bool = True


def pose_constraints(targets: Mapping[str, PoseTarget], settings: GroupSettings) -> tuple[Constraints, ...]:
    """Return alternative goals, in each of which every link has one of its poses."""
    choices = product(*(target.poses for target in targets.values()))
    return tuple(_goal(dict(zip(targets, poses, strict=True)), targets, settings) for poses in choices)


def _goal(poses: Mapping[str, Array], targets: Mapping[str, PoseTarget], settings: GroupSettings) -> Constraints:
    ball = Sphere(settings.get_goal_position_tolerance())
    tolerance = np.full(3, settings.get_goal_orientation_tolerance())
    at, turned = [], []
    for link, T in poses.items():
        if targets[link].position:
            region = np.eye(4)
            region[:3, 3] = T[:3, 3]
            at.append(PositionConstraint(link, np.zeros(3), (Region(ball, region),)))
        if targets[link].orientation:
            turned.append(OrientationConstraint(link, T[:3, :3], tolerance))
    return Constraints("", positions=tuple(at), orientations=tuple(turned))


def joint_constraints(values: Mapping[str, float], settings: GroupSettings) -> Constraints:
    """Return a goal with positions of joints."""
    tolerance = settings.get_goal_joint_tolerance()
    return Constraints("", tuple(JointConstraint(name, value, tolerance, tolerance) for name, value in values.items()))


def error_code(status: str, message: str) -> Any:
    """Return a moveit_msgs/MoveItErrorCodes of the status of a plan."""
    return new("moveit_msgs/MoveItErrorCodes", val=_CODES.get(status, 99999), message=message, source="kinodyn")
