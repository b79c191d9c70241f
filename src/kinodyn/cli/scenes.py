"""Scenes and requests of MoveIt, and goals of plans, on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np

from kinodyn.arrays import Array
from kinodyn.cli import args
from kinodyn.cli.options import option
from kinodyn.cli.poses import pose_from_numbers
from kinodyn.errors import InputError

if TYPE_CHECKING:
    from kinodyn.collision import World
    from kinodyn.interop.moveit import Request
    from kinodyn.model.robot import Robot

SceneFile: TypeAlias = Annotated[
    Path | None, option("obstacles: a YAML file with a PlanningScene of MoveIt", "--scene", metavar="FILE")
]
SrdfFile: TypeAlias = Annotated[
    Path | None, option("SRDF file with groups, named states and disabled collision pairs", "--srdf", metavar="FILE")
]
GOAL_TEXT = (
    "goal: a configuration, as --q of fk, or a pose FRAME=x,y,z,roll,pitch,yaw or FRAME=x,y,z,qx,qy,qz,qw; "
    "FRAME=x,y,z leaves the orientation free; repeat it for several frames"
)
_POSE = re.compile(r"\s*([^=,\s][^=,]*)=([^=]+,[^=]+)$")  # one name and at least two numbers


@dataclass(frozen=True)
class Surroundings:
    """The environment of a robot, as read from files.

    Attributes
    ----------
    world : World or None
        None without a file.
    allowed : set of pairs of names
        Links and objects that may touch.
    q : (nq,) array
        The configuration of the robot.
    request : Request or None
    """

    world: World | None
    allowed: frozenset[Any]
    q: Array
    request: Request | None


def read_surroundings(
    robot: Robot, scene: Path | None, request: Path | None = None, packages: Sequence[Path] = ()
) -> Surroundings:
    """Read a scene and a request; packages are folders of meshes."""
    from kinodyn.interop import moveit

    if scene is None and request is None:
        return Surroundings(None, frozenset(), _neutral(robot), None)
    if request is None:
        assert scene is not None
        found, asked = moveit.read_scene(scene, robot, package_dirs=packages), None
    else:
        found, asked = moveit.read({} if scene is None else scene, request, robot, package_dirs=packages)
    q = found.robot_state if asked is None else asked.start
    q = _neutral(robot) if np.array_equal(q, robot.neutral()) else q  # the files do not specify it
    return Surroundings(found.world, found.allowed_pairs, q, asked)


def _neutral(robot: Robot) -> Array:
    """Return the neutral configuration (nq,), within the joint limits."""
    return np.clip(robot.neutral(), robot.limits.lower, robot.limits.upper)


def read_goal(robot: Robot, texts: Sequence[str], *, seed: int = 0) -> Any:
    """Parse the values of `--to`: one configuration, or poses of frames."""
    poses = [match for text in texts if (match := _POSE.match(text)) is not None and "=" not in match[2]]
    if not poses:
        if len(texts) > 1:
            raise InputError("--to is given several times, which is for poses FRAME=x,y,z,roll,pitch,yaw of frames")
        return args.configurations(robot, texts[0], seed=seed, what="--to")
    if len(poses) < len(texts):
        raise InputError("--to mixes a configuration and poses; give one or the other")
    return {args.end_frame(robot, match[1].strip()): _pose(match[1], match[2]) for match in poses}


def _pose(frame: str, text: str) -> Any:
    values = args.numbers(text, f"--to {frame}", (3, 6, 7))
    T = pose_from_numbers(values, f"--to {frame}")
    if len(values) > 3:
        return T
    from kinodyn.planning import PoseRegion

    return PoseRegion(T, rotation_tolerance=np.full(3, np.pi))
