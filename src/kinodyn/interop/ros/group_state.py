"""GroupState: the joints and frames of a MoveGroup, and the current state of its robot."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import unknown_name
from kinodyn.interop.moveit.fields import Message
from kinodyn.interop.moveit.states import read_state
from kinodyn.interop.moveit.writing import to_message
from kinodyn.interop.ros.group_settings import GroupSettings
from kinodyn.interop.ros.poses import stamped_pose
from kinodyn.interop.ros.session import Session
from kinodyn.model.robot import Robot
from kinodyn.planning.motion_planner import MotionPlanner
from kinodyn.rosmsgs.messages import as_dict
from kinodyn.spatial import as_euler


class GroupState(GroupSettings):
    """Joints, links, frames and state of a group of joints.

    Parameters
    ----------
    name
        Name of the group: a chain of the robot.
    session
    """

    def __init__(self, name: str, session: Session) -> None:
        chains = session.robot.description.chains
        if name not in chains:
            raise unknown_name("group", name, chains)
        super().__init__(name, session.config)
        self._session = session
        self._planner = MotionPlanner(session.robot, name, world=session.world, q=session.q)
        self._link, self._frame = self._planner.frame, ""
        self._start: Array | None = None
        self._remembered: dict[str, list[float]] = {}

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self._session.robot

    def get_active_joints(self) -> list[str]:
        """Return the names of the joints that the group moves."""
        return list(self._planner.group)

    def get_joints(self) -> list[str]:
        """Return the names of the joints of the group, as `get_active_joints`."""
        return self.get_active_joints()

    def get_variable_count(self) -> int:
        """Return the number of coordinates of the group."""
        return len(self._columns)

    def has_end_effector_link(self) -> bool:
        """Return whether the group has an end effector."""
        return bool(self._link)

    def get_end_effector_link(self) -> str:
        """Return the name of the end effector's link."""
        return self._link

    def set_end_effector_link(self, link_name: str) -> None:
        """Set the link that pose targets are for."""
        self.robot.frame_index(link_name)
        self._link = link_name

    def get_planning_frame(self) -> str:
        """Return the name of the frame in which plans are made."""
        return self.robot.frame_names[0]

    def get_pose_reference_frame(self) -> str:
        """Return the name of the frame that poses are in unless they name another."""
        return self._frame or self.get_planning_frame()

    def set_pose_reference_frame(self, reference_frame: str) -> None:
        """Set the frame that poses are in unless they name another."""
        self._session.frames().pose(reference_frame)
        self._frame = reference_frame

    def get_current_joint_values(self) -> list[float]:
        """Return the positions of the joints of the group [rad or m]."""
        return [float(value) for value in self._session.q[self._columns]]

    def get_current_pose(self, end_effector_link: str = "") -> Any:
        """Return the pose of a link, by default the end effector, as a PoseStamped."""
        return stamped_pose(self._link_pose(end_effector_link), self.get_planning_frame())

    def get_current_rpy(self, end_effector_link: str = "") -> list[float]:
        """Return roll, pitch and yaw of a link [rad]."""
        return [float(angle) for angle in as_euler(self._link_pose(end_effector_link)[:3, :3], "ZYX")[::-1]]

    def get_current_state(self) -> Any:
        """Return the state of the robot as a moveit_msgs/RobotState."""
        return to_message(self._session.scene(), self.robot).robot_state

    def get_random_joint_values(self) -> list[float]:
        """Return random positions of the joints of the group within their limits."""
        return [float(value) for value in self.robot.random(seed=random.randrange(2**31))[self._columns]]

    def get_random_pose(self, end_effector_link: str = "") -> Any:
        """Return the pose of a link at random joint positions."""
        q = self._session.q
        q[self._columns] = self.get_random_joint_values()
        T = kinematics.pose(self.robot, q, end_effector_link or self._link)
        return stamped_pose(T, self.get_planning_frame())

    def remember_joint_values(self, name: str, values: Sequence[float] | None = None) -> None:
        """Remember joint positions, by default the current ones, as a named target."""
        self._remembered[name] = self.get_current_joint_values() if values is None else [float(x) for x in values]

    def get_remembered_joint_values(self) -> dict[str, list[float]]:
        """Return the positions that were remembered, by name."""
        return dict(self._remembered)

    def forget_joint_values(self, name: str) -> None:
        """Forget remembered positions."""
        self._remembered.pop(name, None)

    def get_jacobian_matrix(self, joint_values: Sequence[float], reference_point: Sequence[float] | None = None) -> Any:
        """Return the Jacobian (6, n) of the end effector, or of a point of it, in the axes of the world."""
        q = self._session.q
        q[self._columns] = numbers("joint_values", joint_values, len(self._columns))
        J = kinematics.jacobian(self.robot, q, self._link)
        offset = kinematics.pose(self.robot, q, self._link)[:3, :3] @ np.asarray(reference_point or (0.0, 0.0, 0.0))
        J[:3] += np.cross(J[3:].T, offset).T
        return J[:, self._dofs]

    def set_start_state(self, msg: Any) -> None:
        """Plan from a moveit_msgs/RobotState instead of the current state."""
        message = Message(msg if isinstance(msg, Mapping) else as_dict(msg), "start state")
        self._start, _ = read_state(message.fields, self.robot, self._session.q)

    def set_start_state_to_current_state(self) -> None:
        """Plan from the current state."""
        self._start = None

    @property
    def _columns(self) -> list[int]:
        return [self.robot.joint(name).q.start for name in self._planner.group]

    @property
    def _dofs(self) -> list[int]:
        return [self.robot.joint(name).v.start for name in self._planner.group]

    def _is_held(self, name: str) -> bool:
        return self._session.world[self._session.parts(name)[0]].attached_to is not None

    def _current(self) -> dict[str, float]:
        return dict(zip(self._planner.group, self.get_current_joint_values(), strict=True))

    def _link_pose(self, link: str) -> Array:
        return kinematics.pose(self.robot, self._session.q, link or self._link)

    def _in_world(self, pose: Any) -> Array:
        return self._session.pose_in_world(pose, self._frame)
