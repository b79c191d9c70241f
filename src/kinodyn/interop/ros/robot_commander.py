"""RobotCommander: the groups, joints, links and state of a robot, with the interface of moveit_commander's."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.display import displayed
from kinodyn.errors import unknown_name
from kinodyn.interop.moveit.config import MoveItConfig
from kinodyn.interop.moveit.writing import to_message
from kinodyn.interop.ros.move_group import MoveGroup
from kinodyn.interop.ros.poses import stamped_pose
from kinodyn.interop.ros.session import Session, current_session
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot


class JointView:
    """A joint of a RobotCommander."""

    def __init__(self, session: Session, joint: JointInfo) -> None:
        self._session, self._joint = session, joint

    def name(self) -> str:
        """Return the name."""
        return self._joint.name

    def value(self) -> float:
        """Return the current position [rad or m]."""
        return float(self._session.q[self._joint.q.start])

    def min_bound(self) -> float:
        """Return the lower limit [rad or m]."""
        return float(self._session.robot.limits.lower[self._joint.q.start])

    def max_bound(self) -> float:
        """Return the upper limit [rad or m]."""
        return float(self._session.robot.limits.upper[self._joint.q.start])

    def bounds(self) -> list[float]:
        """Return both limits [rad or m]."""
        return [self.min_bound(), self.max_bound()]


class LinkView:
    """A link of a RobotCommander."""

    def __init__(self, session: Session, name: str) -> None:
        self._session, self._name = session, name

    def name(self) -> str:
        """Return the name."""
        return self._name

    def pose(self) -> Any:
        """Return the current pose as a PoseStamped."""
        T = kinematics.pose(self._session.robot, self._session.q, self._name)
        return stamped_pose(T, self._session.robot.frame_names[0])


@displayed
class RobotCommander:
    """Information about the robot, as moveit_commander's RobotCommander gives it.

    Parameters
    ----------
    robot_description
        A robot, a MoveIt configuration, a name or a file, with which a session starts unless it has one already; by
        default that of the current session, see `start`.
    ns
        Of moveit_commander, without effect.
    session
        By default the current one.
    """

    @check_types
    def __init__(
        self,
        robot_description: Robot | MoveItConfig | str | os.PathLike[str] = "robot_description",
        ns: str = "",
        *,
        session: Session | None = None,
    ) -> None:
        self._session = session if session is not None else current_session(robot_description)

    def get_planning_frame(self) -> str:
        """Return the name of the frame in which plans are made."""
        return self._session.robot.frame_names[0]

    def get_robot_name(self) -> str:
        """Return the name of the robot."""
        return self._session.robot.name

    def get_root_link(self) -> str:
        """Return the name of the root link."""
        return self._session.robot.frame_names[0]

    def get_group_names(self) -> list[str]:
        """Return the names of the groups."""
        return list(self._session.robot.description.chains)

    def has_group(self, name: str) -> bool:
        """Return whether there is a group of this name.

        Parameters
        ----------
        name
            Name of the group.

        Returns
        -------
        known : bool
        """
        return name in self._session.robot.description.chains

    def get_group(self, name: str) -> MoveGroup:
        """Return a group.

        Parameters
        ----------
        name
            Name of the group.

        Returns
        -------
        group : MoveGroup
        """
        return MoveGroup(name, session=self._session)

    def get_joint_names(self, group: str | None = None) -> list[str]:
        """Return the names of the joints, of the robot or of a group.

        Parameters
        ----------
        group
            Name of the group; None for the robot.

        Returns
        -------
        names : list of str
        """
        if group is None:
            return list(self._session.robot.joint_names)
        if not self.has_group(group):
            raise unknown_name("group", group, self.get_group_names())
        return list(self._session.robot.description.chains[group])

    def get_active_joint_names(self, group: str | None = None) -> list[str]:
        """Return the names of the joints that move, which are all of `get_joint_names`.

        Parameters
        ----------
        group
            Name of the group; None for the robot.

        Returns
        -------
        names : list of str
        """
        return self.get_joint_names(group)

    def get_link_names(self, group: str | None = None) -> list[str]:
        """Return the names of the links, of the robot or of those that the joints of a group move.

        Parameters
        ----------
        group
            Name of the group; None for the robot.

        Returns
        -------
        names : list of str
        """
        links = [link.name for link in self._session.robot.description.links]
        if group is None:
            return links
        return [self._session.robot.joint(name).child for name in self.get_joint_names(group)]

    def get_joint(self, name: str) -> JointView:
        """Return a joint.

        Parameters
        ----------
        name
            Name of the joint.

        Returns
        -------
        joint : JointView
        """
        return JointView(self._session, self._session.robot.joint(name))

    def get_link(self, name: str) -> LinkView:
        """Return a link.

        Parameters
        ----------
        name
            Name of the link.

        Returns
        -------
        link : LinkView
        """
        self._session.robot.frame_index(name)
        return LinkView(self._session, name)

    def get_current_state(self) -> Any:
        """Return the state of the robot as a moveit_msgs/RobotState."""
        return to_message(self._session.scene(), self._session.robot).robot_state

    def get_current_variable_values(self) -> dict[str, float]:
        """Return the positions of the joints with one coordinate [rad or m]."""
        state = self.get_current_state().joint_state
        return dict(zip(state.name, np.asarray(state.position).tolist(), strict=True))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and self.has_group(name):
            return self.get_group(name)
        raise AttributeError(f"RobotCommander has no method, and the robot no group, {name!r}")
