"""Measurements of a biped: feet, legs, walking stance, natural frequency of its pendulum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, copied_on_access
from kinodyn.balance.feet import biped_feet
from kinodyn.balance.foot import Foot
from kinodyn.balance.knees import Knee, find_knee
from kinodyn.balance.legs import find_legs
from kinodyn.balance.limbs import limb_mass, link_mass
from kinodyn.balance.lipm import natural_frequency
from kinodyn.balance.standing_links import Legs
from kinodyn.checks import number, numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError, KinodynError
from kinodyn.ik import WholeBody
from kinodyn.ik.whole_body_result import WholeBodyResult
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot
from kinodyn.spatial import rot_y, rot_z
from kinodyn.tasks import ComTask, FrameTask, PostureTask
from kinodyn.walking.completion import completed
from kinodyn.walking.leg_control import free_rotation
from kinodyn.walking.leg_requirements import require_gravity_downwards, require_joints, require_knee

SIDES = ("left", "right")
ANKLE_FRACTION = 0.8  # of the torque of an ankle that may bear the weight in the plan; the rest is for feedback
MAX_LOWERINGS = 3  # of the stance of a robot with inclined legs
MAX_SLANT = 0.015  # of the extension of inclined legs in the stance above that of upright ones of the same height
STANCE_TOLERANCE = 1e-3  # [m, rad] of feet and CoM in a stance at joint limits
PARALLEL = 1e-9  # 1 - cosine of the angle within which an axis counts as vertical


def opposite(side: str) -> str:
    """Return the other side."""
    return "right" if side == "left" else "left"


@displayed
@copied_on_access("q")
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
    trunk : str
        The link that is kept upright: the base, unless the description starts with a part of a leg, a head or a hand;
        then the pelvis. A link that is heavier than both legs together, such as a torso above a waist, takes its place.
    """

    robot: Robot
    left: Foot
    right: Foot
    leg: float
    width: float
    q: Array
    com_height: float
    trunk: str

    @classmethod
    @check_types
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
        if robot.base == "floating":  # a fixed base, which has no feet, raises an error below
            require_gravity_downwards(robot)
        robot = completed(robot)
        left, right = biped_feet(robot)
        legs = [_Leg(robot, foot) for foot in (left, right)]
        left, right = (leg.foot for leg in legs)
        length = min(leg.length for leg in legs)
        apart = _natural_width(robot, legs) if width is None else float(width)
        least = _min_width(left, right)
        apart = max(apart, least) if width is None else apart
        if not apart >= least:
            raise InputError(f"width must be at least {least:.3g} m, so that the feet do not touch, got {width!r}")
        q = _stance(robot, legs, leg_extension * length, apart)
        return cls(robot, left, right, length, apart, q, float(kinematics.com(robot, q)[2]), _upright_link(robot))

    @cached_property
    def omega(self) -> float:
        """Natural frequency sqrt(g / CoM height) [rad/s] of the linear inverted pendulum."""
        return natural_frequency(self.com_height, float(np.linalg.norm(self.robot.gravity)))

    @property
    def base(self) -> Array:
        """Pose (4, 4) of the base in the stance."""
        return kinematics.pose(self.robot, self.q, self.robot.joints[0].child)

    @property
    def T_world_trunk(self) -> Array:
        """Pose (4, 4) of the trunk in the stance."""
        return kinematics.pose(self.robot, self.q, self.trunk)

    @cached_property
    def feet(self) -> dict[str, Foot]:
        """The feet by side."""
        return {"left": self.left, "right": self.right}

    @cached_property
    def hip_height(self) -> float:
        """Height of the hips above the ankles in the stance [m]."""
        return float(np.mean([_Leg(self.robot, foot).hip_over_ankle(self.q) for foot in (self.left, self.right)]))

    @cached_property
    def knees(self) -> dict[str, Knee]:
        """The knees by side."""
        return {side: _Leg(self.robot, foot).knee for side, foot in self.feet.items()}

    @cached_property
    def ankles(self) -> dict[str, tuple[JointInfo, ...]]:
        """The joints between knee and sole by side, from the knee on, without those that follow others."""
        found = {}
        for side, foot in self.feet.items():
            leg = _Leg(self.robot, foot)
            below = leg.joints[leg.joints.index(leg.knee.joint) + 1 :]
            found[side] = tuple(joint for joint in below if joint.mimic is None)
        return found

    @cached_property
    def leg_joints(self) -> tuple[JointInfo, ...]:
        """The joints from the hips to the soles of both legs, without those that follow others."""
        joints = [joint for foot in self.feet.values() for joint in _Leg(self.robot, foot).joints]
        return tuple(joint for joint in joints if joint.mimic is None)

    @cached_property
    def weight(self) -> float:
        """Weight [N]."""
        return self.robot.mass * float(np.linalg.norm(self.robot.gravity))

    def min_width(self) -> float:
        """Return the least lateral distance of the ankles at which parallel feet do not touch [m]."""
        return _min_width(self.left, self.right)

    @check_types
    def solve_posture(
        self,
        soles: dict[str, Array],
        com: Array,
        heading: Array,
        *,
        lean: float = 0.0,
        q0: Array | None = None,
        iterations: int = 100,
    ) -> WholeBodyResult:
        """Find configurations by whole-body inverse kinematics.

        The feet have the highest priority, then the CoM, then an upright trunk, then a posture near the stance.

        Parameters
        ----------
        soles
            T_world_sole (..., 4, 4) by side.
        com
            Position of the CoM (..., 3) [m].
        heading
            Yaw of the trunk (...) [rad].
        lean
            By how much the trunk is inclined forward [rad].
        q0
            Initial guess (..., nq); by default the stance.
        iterations
            Maximum number of steps of the solver.

        Returns
        -------
        WholeBodyResult
            With q (..., nq).
        """
        for side in ("left", "right"):
            if side not in soles:
                raise InputError(f"soles must have poses of 'left' and 'right', got {sorted(map(str, soles))}")
        heading, lean = numbers("heading", heading), number("lean", lean)
        start = self.q if q0 is None else q0
        T_trunk = np.array(np.broadcast_to(self.T_world_trunk, (*np.shape(heading), 4, 4)))
        T_trunk[..., :3, :3] = rot_z(heading) @ rot_y(lean) @ self.T_world_trunk[:3, :3]
        tasks = [
            *(
                FrameTask(foot.frame, foot.frame_pose(soles[foot.side]), weights=foot.controlled, priority=0)
                for foot in (self.left, self.right)
            ),
            ComTask(com, priority=1),
            FrameTask(self.trunk, T_trunk, weights=(0, 0, 0, 1, 1, 1), priority=2, required=False),
            PostureTask(self.q, priority=3, required=False),
        ]
        return WholeBody(self.robot, tasks).solve(start, iterations=iterations, tolerance=1e-4)


class _Leg:
    """The joints from hip to ankle."""

    def __init__(self, robot: Robot, foot: Foot) -> None:
        self.robot, self.foot = robot, foot
        legs = find_legs(robot)
        link = next(link for link in legs.feet if foot.frame in (link, *_on(robot, legs, link)))
        self.joints = [joint.info for joint in legs.limbs[link]]
        require_joints(robot, foot, self.joints)
        self.knee = find_knee(robot, legs.q, link, legs.feet)
        places = {joint.child: legs.pose[joint.child][:3, 3] for joint in self.joints}
        knee, hip = places[self.knee.joint.child], places[self.knee.hip]
        above = [places[joint.child] for joint in self.joints[: self.joints.index(self.knee.joint)]] or [hip]
        self.hip = np.array([hip[0], np.mean(above, axis=0)[1], hip[2]])
        self.ankle = places[self.knee.ankle]
        self.length = float(np.linalg.norm(knee - hip) + np.linalg.norm(self.ankle - knee))
        if self.knee.joint.kind == "prismatic":
            straight = legs.q.copy()
            straight[self.knee.joint.q] = self.knee.straight
            self.length = float(np.linalg.norm(self._hip_to_ankle(straight)))
        require_knee(robot, foot, self.knee, (hip, knee, self.ankle))
        bent = legs.q.copy()
        self.bend(bent, 0.95)
        level = bent.copy()
        self.level(level)
        free = free_rotation(robot, foot, self.joints, self.length, bent=bent, level=level)
        self.foot = replace(foot, free=free, reach=_reach(robot, foot, self))

    def hip_over_ankle(self, q: Array) -> float:
        hip, ankle = (kinematics.pose(self.robot, q, link)[2, 3] for link in (self.knee.hip, self.knee.ankle))
        return float(hip - ankle)

    def excess_height(self, q: Array, extension: float) -> float:
        """Return by how much the hip is too high for this relative length of the leg [m]; 0 if it hardly is.

        Hip and ankle are not above each other where the CoM of the robot is far from its hips.
        """
        joint = self.knee.joint
        if joint.kind == "prismatic":
            full, whole = self.length, float(np.linalg.norm(self._hip_to_ankle(q)))
        else:
            full, whole = self._lengths(q)
        if whole <= (extension + MAX_SLANT) * full:
            return 0.0
        height = self.hip_over_ankle(q)
        aside = whole**2 - height**2
        return height - float(np.sqrt(max((extension * full) ** 2 - aside, 0.0)))

    def _hip_to_ankle(self, q: Array) -> Array:
        """Return the vector (3,) from the hip to the ankle."""
        hip, ankle = (kinematics.pose(self.robot, q, link)[:3, 3] for link in (self.knee.hip, self.knee.ankle))
        result: Array = ankle - hip
        return result

    def _lengths(self, q: Array) -> tuple[float, float]:
        """Return the length of the straight leg and that from hip to ankle, across the axis of the knee [m]."""
        joint = self.knee.joint
        axis = next(written.axis for written in self.robot.description.joints if written.name == joint.name)
        T = kinematics.pose(self.robot, q, joint.child)
        across = np.eye(3) - np.outer(T[:3, :3] @ axis, T[:3, :3] @ axis)  # origins are anywhere along an axis
        hip, ankle = (kinematics.pose(self.robot, q, link)[:3, 3] for link in (self.knee.hip, self.knee.ankle))
        thigh, shank, whole = (
            float(np.linalg.norm(across @ part)) for part in (T[:3, 3] - hip, ankle - T[:3, 3], ankle - hip)
        )
        return thigh + shank, whole

    def bend(self, q: Array, extension: float) -> None:
        """Bend the knee towards the longer side of its range until the leg has about this relative length."""
        index = self.knee.joint.q.start
        low, high = float(self.robot.limits.lower[index]), float(self.robot.limits.upper[index])
        is_slide = self.knee.joint.kind == "prismatic"
        bend = (1.0 - extension) * self.length if is_slide else 2.0 * np.arccos(extension)
        q[index] = np.clip(self.knee.straight + self.knee.bending * bend, low, high)

    def level(self, q: Array) -> None:
        """Turn the ankle until the sole has no pitch."""
        below = [joint for joint in self.joints[self.joints.index(self.knee.joint) + 1 :] if joint.mimic is None]
        y_axes = [float(kinematics.jacobian(self.robot, q, self.foot.frame)[4, joint.v.start]) for joint in below]
        if below and max(map(abs, y_axes)) > 0.5:
            k = int(np.abs(y_axes).argmax())
            x, z = self.foot.sole_pose(self.robot, q)[[0, 2], 0]
            q[below[k].q.start] += float(np.arctan2(z, x)) / y_axes[k]


def _upright_link(robot: Robot) -> str:
    """Choose the link that is kept upright.

    While only the pelvis is, a torso that is heavier than the legs swings on the waist.
    """
    legs = find_legs(robot)
    heaviest = max(robot.parameter_links, key=lambda link: link_mass(robot, link))
    lower = sum(limb_mass(robot, limb) for limb in legs.limbs.values())
    return heaviest if link_mass(robot, heaviest) > lower else legs.trunk


def _natural_width(robot: Robot, legs: list[_Leg]) -> float:
    """Measure the distance at which legs are parallel [m]: that of the hips, or of feet that only stand flat then."""
    if any(leg.foot.free == "roll" for leg in legs):
        q = find_legs(robot).q
        left, right = (leg.foot.sole_pose(robot, q)[1, 3] for leg in legs)
        return float(left - right)
    return float(legs[0].hip[1] - legs[1].hip[1])


def _reach(robot: Robot, foot: Foot, leg: _Leg) -> tuple[float, float]:
    """Compute how far from the ankle the torques of the joints below the knee bear the weight, along x and y [m]."""
    q = find_legs(robot).q
    R_sole = foot.sole_pose(robot, q)[:3, :3]
    weight = robot.mass * float(np.linalg.norm(robot.gravity))
    written = {joint.name: joint for joint in robot.description.joints}
    reach = [np.inf, np.inf]
    for joint in leg.joints[leg.joints.index(leg.knee.joint) + 1 :]:
        if joint.mimic is None:
            axis = R_sole.T @ kinematics.pose(robot, q, joint.child)[:3, :3] @ written[joint.name].axis
            about = int(np.abs(axis).argmax())
            if about < 2:  # a pitch axis, along y, bears forces at x, a roll axis those at y
                lever = ANKLE_FRACTION * float(robot.limits.effort[joint.v.start]) / weight
                reach[1 - about] = min(reach[1 - about], lever)
    return reach[0], reach[1]


def _on(robot: Robot, legs: Legs, link: str) -> list[str]:
    """List the frames on a moving link."""
    links = {link, *legs.carried[link]}
    return [*legs.carried[link], *(frame.name for frame in robot.description.frames if frame.link in links)]


def _min_width(left: Foot, right: Foot) -> float:
    inner = float(-left.corners[:, 1].min() + right.corners[:, 1].max())
    return inner + 0.1 * float(left.size[1])


def upright_trunk(name: str, T_trunk: Array, *, priority: int = 1, required: bool = True) -> list[FrameTask]:
    """Make the tasks that keep a trunk at the height and the orientation of a pose (4, 4), whatever its axes are."""
    options: dict[str, Any] = {"priority": priority, "required": required}
    up = np.abs(T_trunk[2, :3])  # rows of the error of a pose are along the axes of the frame
    if up.max() > 1.0 - PARALLEL:
        return [FrameTask(name, T_trunk, weights=[*up.round(), 1, 1, 1], **options)]
    height = FrameTask(name, T_trunk[:3, 3], weights=(0, 0, 1), name="height of the trunk", **options)
    return [FrameTask(name, T_trunk, weights=(0, 0, 0, 1, 1, 1), **options), height]


def _stance(robot: Robot, legs: list[_Leg], length: float, width: float) -> Array:
    """Find the walking stance: the trunk at the height at which the legs have the given length."""
    height = length
    q = _stance_at(robot, legs, height, width)
    for _ in range(MAX_LOWERINGS):
        excess = max(leg.excess_height(q, length / leg.length) for leg in legs)
        if excess <= 0.0:
            break
        height -= excess
        q = _stance_at(robot, legs, height, width)
    return q


def _stance_at(robot: Robot, legs: list[_Leg], length: float, width: float) -> Array:
    """Find the stance with the hips at a height above the ankles [m]."""
    q = find_legs(robot).q.copy()
    for leg in legs:
        leg.bend(q, length / leg.length)
    left, right = (leg.foot for leg in legs)
    middle = 0.5 * (left.middle[0] + right.middle[0])
    soles = {foot.side: np.eye(4) for foot in (left, right)}
    for foot, sign in ((left, 0.5), (right, -0.5)):
        soles[foot.side][:3, 3] = (-middle, sign * width, 0.0)
    trunk = find_legs(robot).trunk
    T_trunk = kinematics.pose(robot, find_legs(robot).q, trunk).copy()
    T_trunk[2, 3] += length + left.ankle - float(np.mean([leg.hip[2] for leg in legs]))
    q[2] += T_trunk[2, 3] - kinematics.pose(robot, q, trunk)[2, 3]
    q[:2] -= kinematics.com(robot, q)[:2]
    feet = [FrameTask(foot.frame, foot.frame_pose(soles[foot.side]), priority=0) for foot in (left, right)]
    com = ComTask((0.0, 0.0, 0.0), weights=(1, 1, 0), priority=1)
    posture = PostureTask(q, priority=3, required=False)
    found = WholeBody(robot, [*feet, *upright_trunk(trunk, T_trunk), com, posture]).solve(q, tolerance=1e-4)
    if not found.success:  # joint limits: the trunk takes the nearest height and orientation that they allow
        near = upright_trunk(trunk, T_trunk, priority=2, required=False)
        found = WholeBody(robot, [*feet, com, *near, posture]).solve(q, iterations=300, tolerance=STANCE_TOLERANCE)
    if not found.success:
        why = "; ".join(str(conflict) for conflict in found.conflicts)
        raise KinodynError(f"{robot.name!r} has no stance on two flat feet {width:.3g} m apart: {why}")
    return np.array(found.q)
