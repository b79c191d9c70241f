"""Groups of joints that a planner moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kinodyn.errors import InputError, unknown_name
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot

Group = str | Sequence[str] | None


def group_joints(robot: Robot, group: Group) -> tuple[JointInfo, ...]:
    """Return the joints of a group.

    Parameters
    ----------
    robot
    group
        Name of a chain of the robot (a group of its SRDF), names of joints, or None for all joints with one coordinate.
    """
    own = {joint.name: joint for joint in robot.joints if joint.mimic is None}
    single = {name: joint for name, joint in own.items() if joint.q.stop - joint.q.start == 1}
    if group is None:
        chosen = list(single)
    elif isinstance(group, str):
        chains = robot.description.chains
        if group not in chains:
            raise unknown_name("group", group, chains)
        chosen = [name for name in chains[group] if name in own]
    else:
        chosen = list(group)
    for name in chosen:
        if name not in own:
            raise unknown_name("joint", name, single)
        if name not in single:
            raise InputError(
                f"joint {name} of the group is a {own[name].kind} joint; only joints with one coordinate move"
            )
    if not chosen:
        raise InputError(f"group {group!r} of {robot.name} has no joints that move")
    return tuple(single[name] for name in dict.fromkeys(chosen))


def moving_dofs(robot: Robot, joints: Sequence[JointInfo]) -> NDArray[np.bool_]:
    """Return which degrees of freedom (nv,) the joints have."""
    moves = np.zeros(robot.nv, dtype=bool)
    for joint in joints:
        moves[joint.v] = True
    return moves
