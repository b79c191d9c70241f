"""Measurements of a biped: feet, legs, walking stance, natural frequency of its pendulum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.feet import Foot, biped_feet, upright
from kinodyn.balance.lipm import natural_frequency
from kinodyn.errors import InputError, KinodynError
from kinodyn.ik import WholeBody
from kinodyn.ik.whole_body_result import WholeBodyResult
from kinodyn.model.chain import first_joint_position, moving_joints
from kinodyn.model.robot import Robot
from kinodyn.spatial import rot_z
from kinodyn.tasks import ComTask, FrameTask, PostureTask

SIDES = ("left", "right")


def opposite(side: str) -> str:
    """Return the other side."""
    return "right" if side == "left" else "left"


@dataclass(frozen=True, eq=False)
class Biped:
    """Measurements of a robot with two feet, made by `Biped.from_robot`.

    Attributes
    ----------
    robot : Robot
    left, right : Foot
    leg : float
        Length of a straight leg from hip to ankle [m].
    width : float
        Lateral distance between the ankles in the walking stance [m].
    q : (nq,)
        The walking stance: feet flat beside each other, knees bent, the CoM above the world origin and above the centre
        of the soles.
    com_height : float
        Height of the CoM above the ground in the stance [m].
    base : (4, 4)
        Pose of the base in the stance.
    """

    robot: Robot
    left: Foot
    right: Foot
    leg: float
    width: float
    q: Array
    com_height: float
    base: Array

    @classmethod
    def from_robot(cls, robot: Robot, *, leg_extension: float = 0.95, width: float | None = None) -> Biped:
        """Measure a robot with two feet, and find its walking stance.

        Parameters
        ----------
        robot
            With a floating base and two feet.
        leg_extension
            Length of a leg in the stance, as a fraction of the straight leg, from 0.5 to below 1.
        width
            Lateral distance between the ankles in the stance [m]; by default that of the hips.

        Returns
        -------
        Biped

        Raises
        ------
        KinodynError
            If the robot does not have two feet with soles, or has no such stance.

        Examples
        --------
        >>> import kinodyn as kd
        >>> body = kd.walking.Biped.from_robot(kd.load("humanoid"))
        >>> print(round(body.leg, 2), round(body.omega, 1))
        0.82 3.3
        """
        if not isinstance(leg_extension, int | float | np.number) or not 0.5 <= leg_extension < 1:
            raise InputError(f"leg_extension must be at least 0.5 and below 1, got {leg_extension!r}")
        left, right = biped_feet(robot)
        legs = [_Leg(robot, foot) for foot in (left, right)]
        length = min(leg.length for leg in legs)
        apart = float(legs[0].hip[1] - legs[1].hip[1]) if width is None else float(width)
        least = _min_width(left, right)
        apart = max(apart, least) if width is None else apart
        if not apart >= least:
            raise InputError(f"width must be at least {least:.3g} m, so that the feet do not touch, got {width!r}")
        q = _stance(robot, legs, leg_extension * length, apart)
        body = cls(
            robot,
            left,
            right,
            length,
            apart,
            q,
            float(kinematics.com(robot, q)[2]),
            kinematics.pose(robot, q, robot.joints[0].child),
        )
        for array in (q, body.base):
            array.flags.writeable = False
        return body

    @cached_property
    def omega(self) -> float:
        """Natural frequency sqrt(g / CoM height) [rad/s] of the linear inverted pendulum."""
        return natural_frequency(self.com_height, float(np.linalg.norm(self.robot.gravity)))

    @cached_property
    def feet(self) -> dict[str, Foot]:
        """The feet by side."""
        return {"left": self.left, "right": self.right}

    @property
    def hip_height(self) -> float:
        """Height of the hips above the ankles in the stance [m]."""
        return float(np.mean([_Leg(self.robot, foot).hip_over_ankle(self.q) for foot in (self.left, self.right)]))

    @cached_property
    def weight(self) -> float:
        """Weight [N]."""
        return self.robot.mass * float(np.linalg.norm(self.robot.gravity))

    def min_width(self) -> float:
        """Return the least lateral distance of the ankles at which parallel feet do not touch [m]."""
        return _min_width(self.left, self.right)

    def solve_posture(
        self, soles: dict[str, Array], com: Array, heading: Array, *, q0: Array | None = None, iterations: int = 100
    ) -> WholeBodyResult:
        """Find configurations by whole-body inverse kinematics.

        The feet have the highest priority, then the CoM, then an upright base, then a posture near the stance.

        Parameters
        ----------
        soles
            T_world_sole (..., 4, 4) by side.
        com
            Position of the CoM (..., 3) [m].
        heading
            Yaw of the base (...) [rad].
        q0
            Initial guess (..., nq); by default the stance.
        iterations
            Maximum number of steps of the solver.

        Returns
        -------
        WholeBodyResult
            With q (..., nq).
        """
        start = self.q if q0 is None else q0
        T_base = np.array(np.broadcast_to(self.base, (*np.shape(heading), 4, 4)))
        T_base[..., :3, :3] = rot_z(heading) @ self.base[:3, :3]
        tasks = [
            *(FrameTask(foot.frame, foot.frame_pose(soles[foot.side]), priority=0) for foot in (self.left, self.right)),
            ComTask(com, priority=1),
            FrameTask(self.robot.joints[0].child, T_base, weights=(0, 0, 0, 1, 1, 1), priority=2, required=False),
            PostureTask(self.q, priority=3, required=False),
        ]
        return WholeBody(self.robot, tasks).solve(start, iterations=iterations, tolerance=1e-4)


class _Leg:
    """The joints from hip to ankle."""

    def __init__(self, robot: Robot, foot: Foot) -> None:
        self.robot, self.foot = robot, foot
        q = upright(robot)
        own = moving_joints(robot, foot.frame)
        common = _shared(robot)
        self.joints = [joint for joint in own if joint.name not in common]
        if len(self.joints) < 6:
            listed = ", ".join(joint.name for joint in self.joints)
            raise KinodynError(
                f"the {foot.side} leg of {robot.name!r} has {len(self.joints)} joints of its own ({listed}); six are "
                "needed to put a foot down anywhere"
            )
        names = [joint.name for joint in self.joints]
        places = np.array([first_joint_position(robot, foot.frame, q, [name]) for name in names])
        # the knee is farthest from both ends; the hip pitch is the joint above it with the most similar axis
        ends = np.minimum(*(np.linalg.norm(places - places[end], axis=1) for end in (0, -1)))
        knee = int(ends.argmax())
        axes = np.array([_axis(robot, joint.name, q) for joint in self.joints])
        hip = int(np.abs(axes[:knee] @ axes[knee]).argmax()) if knee else 0
        self.knee = self.joints[knee]
        self.hip = np.array([places[hip, 0], places[: max(knee, 1), 1].mean(), places[hip, 2]])
        self.ankle = places[-1]
        self.length = float(np.linalg.norm(places[knee] - places[hip]) + np.linalg.norm(self.ankle - places[knee]))
        self._hip_name, self._ankle_name = names[hip], names[-1]

    def hip_over_ankle(self, q: Array) -> float:
        hip, ankle = (
            first_joint_position(self.robot, self.foot.frame, q, [name]) for name in (self._hip_name, self._ankle_name)
        )
        return float(hip[2] - ankle[2])

    def bend(self, q: Array, extension: float) -> None:
        """Bend the knee towards the longer side of its range until the leg has about this relative length."""
        index = self.knee.q.start
        low, high = float(self.robot.limits.lower[index]), float(self.robot.limits.upper[index])
        sign = 1.0 if high >= -low else -1.0
        q[index] = np.clip(sign * 2.0 * np.arccos(extension), low, high)


def _axis(robot: Robot, name: str, q: Array) -> Array:
    """Compute the axis (3,) of a joint in the world."""
    joint = next(joint for joint in robot.description.joints if joint.name == name)
    return np.asarray(kinematics.pose(robot, q, joint.child)[:3, :3] @ joint.axis)


def _shared(robot: Robot) -> set[str]:
    """Find the joints that move both feet."""
    left, right = ({joint.name for joint in moving_joints(robot, foot.frame)} for foot in biped_feet(robot))
    return left & right


def _min_width(left: Foot, right: Foot) -> float:
    inner = float(-left.corners[:, 1].min() + right.corners[:, 1].max())
    return inner + 0.1 * float(left.size[1])


def _stance(robot: Robot, legs: list[_Leg], length: float, width: float) -> Array:
    """Find the walking stance: the base at the height at which the legs have the given length."""
    q = upright(robot)
    for leg in legs:
        leg.bend(q, length / leg.length)
    left, right = (leg.foot for leg in legs)
    middle = 0.5 * (left.middle[0] + right.middle[0])
    soles = {foot.side: np.eye(4) for foot in (left, right)}
    for foot, sign in ((left, 0.5), (right, -0.5)):
        soles[foot.side][:3, 3] = (-middle, sign * width, 0.0)
    T_base = kinematics.pose(robot, q, robot.joints[0].child).copy()
    T_base[:3, 3] = (0.0, 0.0, T_base[2, 3] + length + left.ankle - float(np.mean([leg.hip[2] for leg in legs])))
    q[:3] = T_base[:3, 3]
    tasks = [
        *(FrameTask(foot.frame, foot.frame_pose(soles[foot.side]), priority=0) for foot in (left, right)),
        FrameTask(robot.joints[0].child, T_base, weights=(0, 0, 1, 1, 1, 1), priority=1),
        ComTask((0.0, 0.0, 0.0), weights=(1, 1, 0), priority=1),
        PostureTask(q, priority=2, required=False),
    ]
    found = WholeBody(robot, tasks).solve(q, tolerance=1e-4)
    if not found.success:
        why = "; ".join(str(conflict) for conflict in found.conflicts)
        raise KinodynError(f"{robot.name!r} has no stance on two flat feet {width:.3g} m apart: {why}")
    return np.array(found.q)
