"""What walking needs to know of a robot: its feet, its legs, how it stands, how fast it falls over."""

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
from kinodyn.ik.conflicts import WholeBodyResult
from kinodyn.model.chain import first_joint_position, moving_joints
from kinodyn.model.robot import Robot
from kinodyn.spatial import rot_z
from kinodyn.tasks import ComTask, FrameTask, PostureTask

BENT = 0.95  # of the straight leg: how long a leg is in the walking stance
SIDES = ("left", "right")


def other(side: str) -> str:
    """Name the other side."""
    return "right" if side == "left" else "left"


@dataclass(frozen=True, eq=False)
class Biped:
    """A robot that stands on two feet, measured. Made by `Biped.of`.

    Attributes
    ----------
    robot : Robot
    left, right : Foot
    leg : float
        Length of a straight leg from hip to ankle [m].
    width : float
        Distance between the ankles, sideways, in the walking stance [m].
    q : (nq,)
        The walking stance: feet flat beside each other, middle of the soles below the centre of mass, which is above
        the world's origin, knees bent.
    com_height : float
        Height of the centre of mass above the ground in it [m].
    base : (4, 4)
        Pose of the base in it.
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
    def of(cls, robot: Robot, *, bent: float = BENT, width: float | None = None) -> Biped:
        """Measure a robot; `bent` is the length of a leg in the stance as a share of the straight one.

        Raises KinodynError if it does not have two feet with soles, or cannot stand like this.

        Example
        -------
        >>> import kinodyn as kd
        >>> body = kd.walking.Biped.of(kd.load("humanoid"))
        >>> print(round(body.leg, 2), round(body.omega, 1))
        0.82 3.3
        """
        if not isinstance(bent, int | float | np.number) or not 0.5 <= bent < 1:
            raise InputError(f"bent must be from 0.5 up to below 1, got {bent!r}")
        left, right = biped_feet(robot)
        legs = [_Leg(robot, foot) for foot in (left, right)]
        length = min(leg.length for leg in legs)
        apart = float(legs[0].hip[1] - legs[1].hip[1]) if width is None else float(width)
        needed = _narrowest(left, right)
        apart = max(apart, needed) if width is None else apart
        if not apart >= needed:
            raise InputError(f"width must be {needed:.3g} m at least, so that the feet do not touch, got {width!r}")
        q = _stance(robot, legs, bent * length, apart)
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
        """Give the natural frequency sqrt(g / height) [1/s] of its pendulum."""
        return natural_frequency(self.com_height, float(np.linalg.norm(self.robot.gravity)))

    @cached_property
    def feet(self) -> dict[str, Foot]:
        """Give the feet by side."""
        return {"left": self.left, "right": self.right}

    @property
    def hip_height(self) -> float:
        """Give how high the hips are above the ankles in the stance [m]."""
        return float(np.mean([_Leg(self.robot, foot).hip_over_ankle(self.q) for foot in (self.left, self.right)]))

    def narrowest(self) -> float:
        """Give the least distance of the ankles sideways at which parallel feet do not touch [m]."""
        return _narrowest(self.left, self.right)

    def place(
        self, soles: dict[str, Array], com: Array, heading: Array, *, q0: Array | None = None, iterations: int = 100
    ) -> WholeBodyResult:
        """Find configurations (..., nq): soles at poses (..., 4, 4), mass at (..., 3), base turned to `heading` (...).

        Feet come first, then the centre of mass and an upright base, then a posture near the stance.
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
        # the knee is farthest from both ends; the hip is the joint above it that swings the leg the same way
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

    def bend(self, q: Array, share: float) -> None:
        """Bend the knee towards the longer side of its range until the leg is about so long."""
        where = self.knee.q.start
        low, high = float(self.robot.limits.lower[where]), float(self.robot.limits.upper[where])
        way = 1.0 if high >= -low else -1.0
        q[where] = np.clip(way * 2.0 * np.arccos(share), low, high)


def _axis(robot: Robot, name: str, q: Array) -> Array:
    """Find the axis (3,) of a joint in the world."""
    joint = next(joint for joint in robot.description.joints if joint.name == name)
    return np.asarray(kinematics.pose(robot, q, joint.child)[:3, :3] @ joint.axis)


def _shared(robot: Robot) -> set[str]:
    """Name the joints that move both feet."""
    left, right = ({joint.name for joint in moving_joints(robot, foot.frame)} for foot in biped_feet(robot))
    return left & right


def _narrowest(left: Foot, right: Foot) -> float:
    inner = float(-left.corners[:, 1].min() + right.corners[:, 1].max())
    return inner + 0.1 * float(left.size[1])


def _stance(robot: Robot, legs: list[_Leg], length: float, width: float) -> Array:
    """Find the walking stance: the height of the base is sought at which the legs are as long as wanted."""
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
        raise KinodynError(f"{robot.name!r} finds no stance on two flat feet {width:.3g} m apart: {why}")
    return np.array(found.q)
