"""Choose the frames that can be dragged: hands, feet, tools, found from the kinematic tree rather than from names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinodyn.balance.feet import feet as feet_of
from kinodyn.errors import InputError, KinodynError
from kinodyn.model.chain import moving_joints
from kinodyn.model.robot import Robot

MIN_LIMB_JOINTS = 3  # a branch with fewer joints, such as a finger, is not a limb
MAX_FRAMES = 8  # chosen automatically


@dataclass(frozen=True)
class Limb:
    """A frame that can be dragged.

    Attributes
    ----------
    frame : str
    pose : bool
        Whether its orientation can be controlled too: at least six joints move it.
    foot : bool
        Whether it is a foot, which stays in place while other frames are dragged.
    """

    frame: str
    pose: bool
    foot: bool


def limbs(robot: Robot, frames: Sequence[str] | None = None) -> tuple[Limb, ...]:
    """Return what can be dragged: `frames`, or by default end effectors, feet and the ends of other limbs."""
    soles = _feet(robot)
    if frames is None:
        chosen = [*robot.description.end_effectors.values(), *soles]
        reached = {joint.name for frame in chosen for joint in moving_joints(robot, frame)}
        chosen += [end for end in _ends(robot) if not _chain(robot, end) <= reached]
        names = [frame for frame in dict.fromkeys(chosen) if moving_joints(robot, frame)][:MAX_FRAMES]
    else:
        if isinstance(frames, str):
            raise InputError(f"drag must be a list of frames, got the string {frames!r}")
        names = list(dict.fromkeys(frames))
        for frame in names:
            robot.frame_index(frame)
    return tuple(Limb(frame, len(moving_joints(robot, frame)) >= 6, frame in soles) for frame in names)


def _feet(robot: Robot) -> list[str]:
    try:
        return [foot.frame for foot in feet_of(robot)]
    except KinodynError:
        return []


def _chain(robot: Robot, frame: str) -> set[str]:
    return {joint.name for joint in moving_joints(robot, frame)}


def _ends(robot: Robot) -> list[str]:
    """Return the end of every branch that is long enough; of a hand with short fingers this is the palm."""
    below: dict[str, list[str]] = {}
    for joint in robot.joints:
        if joint.mimic is None:
            below.setdefault(_body(robot, joint.parent), []).append(joint.child)
    ends: list[str] = []
    waiting = [robot.frame_names[0]]
    while waiting:
        link = waiting.pop(0)
        children = below.get(link, [])
        far = (
            children
            if len(children) == 1
            else [child for child in children if 1 + _depth(below, child) >= MIN_LIMB_JOINTS]
        )
        if far:
            waiting += far
        else:
            ends.append(link)
    return ends


def _body(robot: Robot, link: str) -> str:
    """Return the moving link to which this link is rigidly attached."""
    above = {joint.child: joint for joint in robot.description.joints}
    while link in above and above[link].kind == "fixed":
        link = above[link].parent
    return link


def _depth(below: dict[str, list[str]], link: str) -> int:
    depth, level = 0, below.get(link, [])
    while level:
        depth, level = depth + 1, [child for parent in level for child in below.get(parent, [])]
    return depth
