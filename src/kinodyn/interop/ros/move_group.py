"""MoveGroup: plans and executes motions of a group of joints, with the interface of MoveIt's MoveGroupCommander."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.display import displayed
from kinodyn.interop.moveit.config import MoveItConfig
from kinodyn.interop.moveit.constraints import Constraints
from kinodyn.interop.moveit.fields import Message
from kinodyn.interop.moveit.planning import plan as plan_request
from kinodyn.interop.moveit.request import Request, goal_of
from kinodyn.interop.moveit.states import read_state
from kinodyn.interop.moveit.trajectories import RobotTrajectory, read_trajectory
from kinodyn.interop.moveit.writing import to_message
from kinodyn.interop.ros.group_targets import GroupTargets
from kinodyn.interop.ros.poses import pose_matrix_of, pose_message
from kinodyn.interop.ros.session import MoveItCommanderException, Session, current_session
from kinodyn.interop.ros.targets import PoseTarget, error_code, joint_constraints, pose_constraints
from kinodyn.model.robot import Robot
from kinodyn.planning.motion_planner import MotionPlanner
from kinodyn.planning.result import Plan
from kinodyn.rosmsgs.messages import as_dict, new
from kinodyn.rosmsgs.trajectories import JointTrajectory, joint_trajectory
from kinodyn.trajectory.piecewise import PiecewisePolynomial


@displayed
class MoveGroup(GroupTargets):
    """A group of joints that plans and executes motions, as MoveIt's MoveGroupCommander does.

    Methods have the names, arguments and results of MoveGroupCommander; messages are those of `kd.interop.ros.new` or
    of any library with the same fields. Poses are in the pose reference frame unless they name another.

    Parameters
    ----------
    name
        Name of the group: a chain of the robot, such as a group of its SRDF.
    robot_description
        A robot, a MoveIt configuration, a name or a file, with which a session starts unless it has one already; by
        default that of the current session, see `start`.
    ns, wait_for_servers
        Of MoveGroupCommander; there are no servers to wait for.
    session
        By default the current one.

    Examples
    --------
    >>> import kinodyn as kd
    >>> session = kd.interop.ros.start("panda")  # doctest: +SKIP
    >>> group = kd.interop.ros.MoveGroup("arm")  # doctest: +SKIP
    >>> group.set_named_target("ready")  # doctest: +SKIP
    >>> group.go(wait=True)  # doctest: +SKIP
    True
    """

    @check_types
    def __init__(
        self,
        name: str,
        robot_description: Robot | MoveItConfig | str | os.PathLike[str] = "robot_description",
        ns: str = "",
        wait_for_servers: float = 5.0,
        *,
        session: Session | None = None,
    ) -> None:
        super().__init__(name, session if session is not None else current_session(robot_description))

    def get_path_constraints(self) -> Any:
        """Return the constraints along the path as a moveit_msgs/Constraints."""
        return self.construct_motion_plan_request(goals=False).path_constraints

    def plan(self, joints: Any = None) -> tuple[bool, Any, float, Any]:
        """Plan to the target.

        Parameters
        ----------
        joints
            Sets the target first, as `set_joint_value_target` or `set_pose_target`.

        Returns
        -------
        success : bool
        trajectory : moveit_msgs/RobotTrajectory
            Timed within the scaled limits; empty without success.
        planning_time : float
            [s]
        error_code : moveit_msgs/MoveItErrorCodes
        """
        if joints is not None:
            self._set_target(joints)
        found = self._plan()
        motion = found.trajectory(**self._limits()) if found.success else None
        seconds = found.planning_time + found.simplification_time
        return found.success, self._trajectory_message(motion), seconds, error_code(found.status, found.message)

    def go(self, joints: Any = None, wait: bool = True) -> bool:
        """Plan to the target and execute; return whether the robot is there, or whether it moves if not waiting.

        Parameters
        ----------
        joints
            Sets the target first, see `plan`.
        wait
            Whether to wait for the end of the motion.

        Returns
        -------
        success : bool
        """
        if joints is not None:
            self._set_target(joints)
        self._session.wait()
        found = self._plan()
        if not found.success:
            return False
        return self._execute(found.trajectory(**self._limits()), wait)

    def execute(self, plan_msg: Any, wait: bool = True) -> bool:
        """Follow a trajectory: what `plan` returned, its message, or the one of `compute_cartesian_path`.

        Parameters
        ----------
        plan_msg
            Trajectory that starts where the robot is.
        wait
            Whether to wait for the end of the motion.

        Returns
        -------
        success : bool
        """
        if isinstance(plan_msg, tuple):
            plan_msg = plan_msg[1]
        given = plan_msg if isinstance(plan_msg, (RobotTrajectory, JointTrajectory)) else read_trajectory(plan_msg)
        joints = given.joints if isinstance(given, RobotTrajectory) else given
        if not len(joints):
            return False
        self._session.wait()
        self._check_start(joints)
        return self._execute(joints.motion(self.robot, self._session.q), wait)

    def stop(self) -> None:
        """Stop a motion that `go` or `execute` did not wait for."""
        self._session.stop()

    def compute_cartesian_path(
        self,
        waypoints: Iterable[Any],
        eef_step: float,
        jump_threshold: float | bool = 0.0,
        avoid_collisions: bool = True,
        path_constraints: Any = None,
    ) -> tuple[Any, float]:
        """Plan a motion of the end effector along straight lines.

        Parameters
        ----------
        waypoints
            Poses at the ends of the lines.
        eef_step
            Maximum distance between configurations [m].
        jump_threshold
            Not needed: inverse kinematics follows one branch, there are no jumps.
        avoid_collisions
            Whether the motion ends before a collision. In its place `jump_threshold` was removed from MoveIt 2: a bool
            there is this flag.
        path_constraints
            Not supported; constraints are an error.

        Returns
        -------
        trajectory : moveit_msgs/RobotTrajectory
        fraction : float
            How much of the motion was planned, 0 to 1.
        """
        if path_constraints:
            raise MoveItCommanderException("path_constraints of a Cartesian path must be None; they are not supported")
        if isinstance(jump_threshold, bool):
            avoid_collisions = jump_threshold
        T = np.stack([self._in_world(pose) for pose in waypoints])
        found = self._cartesian(T, positive("eef_step", eef_step), avoid_collisions)
        motion = found.trajectory(**self._limits()) if len(found.path) > 1 else None
        return self._trajectory_message(motion), float(found.fraction)

    def retime_trajectory(
        self,
        ref_state_in: Any,
        traj_in: Any,
        velocity_scaling_factor: float = 1.0,
        acceleration_scaling_factor: float = 1.0,
        algorithm: str = "",
    ) -> Any:
        """Time the points of a trajectory again within scaled limits, and return it as a message.

        Parameters
        ----------
        ref_state_in
            A moveit_msgs/RobotState with the joints that do not move.
        traj_in
            A moveit_msgs/RobotTrajectory.
        velocity_scaling_factor, acceleration_scaling_factor
            Factors of the limits.
        algorithm
            Ignored: there is one.

        Returns
        -------
        trajectory : moveit_msgs/RobotTrajectory
        """
        message = Message(as_dict(ref_state_in), "reference state")
        start, _ = read_state(message.fields, self.robot, self._session.q)
        given = read_trajectory(traj_in)
        joints = given.joints if isinstance(given, RobotTrajectory) else given
        path = joints.motion(self.robot, start)(joints.time)
        limits = self._limits(velocity_scaling_factor, acceleration_scaling_factor)
        empty = replace(self._planner.plan_to_joint_values(path[0], start=path[0]), path=path)
        return self._trajectory_message(empty.trajectory(**limits))

    def construct_motion_plan_request(self, goals: bool = True) -> Any:
        """Return the moveit_msgs/MotionPlanRequest of the target.

        Parameters
        ----------
        goals
            Whether to include the target.

        Returns
        -------
        request : moveit_msgs/MotionPlanRequest
        """
        return to_message(self._request(self._goals() if goals else ()), self.robot)

    def attach_object(self, object_name: str, link_name: str = "", touch_links: Sequence[str] = ()) -> bool:
        """Attach an object of the world to a link, by default the end effector's.

        Parameters
        ----------
        object_name
            Name of the object.
        link_name
            By default the end effector's link.
        touch_links
            Links that may touch it, by default the link itself.

        Returns
        -------
        attached : bool
        """
        touch = list(touch_links) or [self._link]
        held = {"link_name": link_name or self._link, "object": {"id": object_name}, "touch_links": touch}
        self._session.parts(object_name)
        self._session.attach_object(held)
        return True

    def detach_object(self, name: str = "") -> bool:
        """Detach an object, or all; it stays where it is.

        Parameters
        ----------
        name
            Name of the object; empty for all.

        Returns
        -------
        detached : bool
        """
        held = [each for each in self._session.objects if self._is_held(each)]
        for each in [name] if name else held:
            self._session.detach_object(each)
        return bool(name or held)

    def _solved(self, pose: Any, link: str) -> dict[str, float]:
        """Return joint positions at which a link has a pose."""
        target = PoseTarget((self._in_world(pose),))
        request = self._request(pose_constraints({link or self._link: target}, self))
        found = self._planned(request, seed=0)
        if not found.success:
            raise MoveItCommanderException(f"no joint positions reach the pose: {found.status}: {found.message}")
        return dict(zip(self._planner.group, found.path[-1][self._columns].tolist(), strict=True))

    def _goals(self) -> tuple[Constraints, ...]:
        if self._poses:
            return pose_constraints(self._poses, self)
        return (joint_constraints(self._joint_target or self._current(), self),)

    def _request(self, goals: tuple[Constraints, ...]) -> Request:
        start = self._session.q if self._start is None else self._start
        return Request(
            group=self.get_name(),
            start=start,
            goal=start,
            goal_constraints=goals,
            path_constraints=self._path_constraints,
            workspace=self._workspace,
            planner=self.get_planner_id(),
            time_budget=self.get_planning_time(),
            attempts=self._attempts,
            velocity_scaling=self._velocity_scaling,
            acceleration_scaling=self._acceleration_scaling,
        )

    def _plan(self) -> Plan:
        """Plan the requested number of times, and return the shortest plan."""
        request = self._request(self._goals())
        found = [self._planned(request, seed) for seed in range(self._attempts)]
        return min(found, key=lambda each: (not each.success, each.length))

    def _planned(self, request: Request, seed: int) -> Plan:
        goals = tuple(goal_of(part, self.robot, request.start) for part in request.goal_constraints)
        given = replace(request, goal=goals[0] if len(goals) == 1 else goals)
        options = {"planner": self._planner_name()} if self.get_planner_id() else {}
        return plan_request(self._session.scene(), given, self.robot, seed=seed, **options)

    def _cartesian(self, T: Array, step: float, avoid_collisions: bool) -> Any:
        world = self._session.world if avoid_collisions else None
        start = self._session.q if self._start is None else self._start
        planner = MotionPlanner(self.robot, self.get_name(), world=world, frame=self._link, q=start)
        return planner.plan_cartesian(T, step=step)

    def _trajectory_message(self, motion: PiecewisePolynomial | None) -> Any:
        if motion is None:
            return new("moveit_msgs/RobotTrajectory")
        sampled = joint_trajectory(motion, self.robot, joints=self._planner.group)
        return to_message(RobotTrajectory(replace(sampled, frame=self.get_planning_frame())))

    def _check_start(self, joints: JointTrajectory) -> None:
        """A trajectory must start where the robot is, as MoveIt requires it."""
        first = dict(zip(joints.joints, joints.position[0], strict=True)) if joints.position is not None else {}
        for name, value in first.items():
            here = float(self._session.q[self.robot.joint(name).q.start])
            if joints.time[0] == 0.0 and abs(here - value) > self._start_tolerance:
                raise MoveItCommanderException(f"the trajectory starts with {name} at {value:.6g}, it is at {here:.6g}")

    def _execute(self, motion: PiecewisePolynomial, wait: bool) -> bool:
        return self._session.execute(motion, wait, time_budget=self.get_planning_time())

    def _limits(self, velocity: float | None = None, acceleration: float | None = None) -> dict[str, Any]:
        return self._scaled_limits(self.robot, velocity, acceleration)

    def __repr__(self) -> str:
        return f"MoveGroup({self.get_name()!r}, {len(self._planner.group)} joints, end effector {self._link!r})"


def pose_to_list(pose: Any) -> list[float]:
    """Return x y z qx qy qz qw of a Pose, as moveit_commander.conversions does."""
    p, quaternion = pose.position, pose.orientation
    return [p.x, p.y, p.z, quaternion.x, quaternion.y, quaternion.z, quaternion.w]


def list_to_pose(values: Sequence[float]) -> Any:
    """Return a Pose of x y z with roll pitch yaw or qx qy qz qw, as moveit_commander.conversions does."""
    return pose_message(pose_matrix_of(values)[0])
