"""Carrying a box in both hands: the stance that holds it, and the tasks that keep it level."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive, vector
from kinodyn.display import displayed
from kinodyn.errors import KinodynError
from kinodyn.ik import WholeBody
from kinodyn.model.chain import first_joint_position, reach_bounds
from kinodyn.model.robot import Robot
from kinodyn.sim import Load
from kinodyn.tasks import ComTask, FrameTask, PostureTask
from kinodyn.walking.biped import Biped, upright_trunk
from kinodyn.walking.hands import arm_joints, hands

HAND_WEIGHT, HAND_FREQUENCY = 10.0, 4.0  # of the tasks that hold the box; the frequency in natural frequencies
BOX_OFFSET = (0.45, -0.5)  # of the box ahead of and above the shoulders, as fractions of the arm's length
BOX_WIDTH = 1.25  # of the box, relative to the distance of the shoulders: elbows stay clear of the trunk


@check_types
@displayed
@dataclass(frozen=True, eq=False)
class Carrying:
    """A box in both hands.

    Attributes
    ----------
    body : Biped
        The biped with the box as a payload, in the stance that holds it.
    unloaded : Biped
        The same stance of the robot alone.
    load : sim.Load
    tasks : tuple of FrameTask
        Poses of the hands in the heading frame.
    """

    body: Biped
    unloaded: Biped
    load: Load
    tasks: tuple[FrameTask, FrameTask]

    @classmethod
    @check_types
    def from_robot(cls, robot: Robot | Biped, mass: float, *, size: ArrayLike | None = None) -> Carrying:
        """Find a stance that holds a box in front of the trunk.

        Parameters
        ----------
        robot
            A robot with two feet and two arms, or its `Biped`.
        mass
            Mass of the box [kg].
        size
            Lengths (3,) of the box [m]; by default 1.25 times as wide as the shoulders, and half as deep and high.

        Returns
        -------
        Carrying

        Raises
        ------
        KinodynError
            If the robot does not have two arms, or these do not reach around the box.

        Examples
        --------
        >>> import kinodyn as kd
        >>> carrying = kd.walking.Carrying.from_robot(kd.load("humanoid"), mass=5.0)
        >>> sorted(carrying.load.grasps)
        ['left_palm', 'right_palm']
        """
        body = robot if isinstance(robot, Biped) else Biped.from_robot(robot)
        positive("mass of the box", mass)
        left, right = hands(body.robot)
        shoulders = np.array([_shoulder(body.robot, frame, body.q) for frame in (left, right)])
        reach = _arm_length(body.robot, left, body.q)
        width = BOX_WIDTH * float(np.ptp(shoulders[:, 1]))
        lengths = np.array([0.5 * width, width, 0.5 * width]) if size is None else vector("size of the box", size, 3)
        centre = shoulders.mean(axis=0) + reach * np.array([BOX_OFFSET[0], 0.0, BOX_OFFSET[1]])
        side = np.array([0.0, 0.5 * lengths[1], 0.0])
        q = _stance(body, [FrameTask(left, centre + side), FrameTask(right, centre - side)])
        T_world_box = np.eye(4)
        T_world_box[:3, 3] = centre
        load = Load.held(body.robot, q, (left, right), mass, size=lengths, pose=T_world_box)
        loaded = replace(body, robot=load.carried_by(body.robot))
        poses = [FrameTask(frame, kinematics.pose(body.robot, q, frame)) for frame in (left, right)]
        q = _stance(loaded, poses, q)
        for task in poses:
            task.weights, task.frequency = HAND_WEIGHT, HAND_FREQUENCY * body.omega
        return cls(_standing(loaded, q), _standing(body, q), load, (poses[0], poses[1]))


def _stance(body: Biped, holding: list[FrameTask], q0: Array | None = None) -> Array:
    """Find the stance (nq,) in which tasks of the hands hold: feet and trunk as in the stance of the biped."""
    robot, q = body.robot, body.q if q0 is None else q0
    feet = [
        FrameTask(foot.frame, kinematics.pose(robot, body.q, foot.frame), priority=0) for foot in body.feet.values()
    ]
    trunk = upright_trunk(body.trunk, body.T_world_trunk)
    com = ComTask((0.0, 0.0, 0.0), weights=(1, 1, 0), priority=1)
    tasks = [*feet, *trunk, com, *holding, PostureTask(q, priority=2, required=False)]
    found = WholeBody(robot, tasks).solve(q, tolerance=1e-4)
    if not found.success:
        why = "; ".join(str(conflict) for conflict in found.conflicts)
        raise KinodynError(f"{robot.name!r} has no stance that holds the box: {why}")
    return np.array(found.q)


def _standing(body: Biped, q: Array) -> Biped:
    """Return a biped with another stance."""
    robot = body.robot
    height = float(kinematics.com(robot, q)[2])
    return replace(body, q=q, com_height=height)


def _shoulder(robot: Robot, hand: str, q: Array) -> Array:
    """Return the position (3,) of the first joint of an arm."""
    return first_joint_position(robot, hand, q, [joint.name for joint in arm_joints(robot, hand)])


def _arm_length(robot: Robot, hand: str, q: Array) -> float:
    """Return the length of the stretched arm [m], from the first joint to the hand."""
    return reach_bounds(robot, hand, q, [joint.name for joint in arm_joints(robot, hand)])[2]
