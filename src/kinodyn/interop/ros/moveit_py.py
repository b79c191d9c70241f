"""The names of MoveIt 2's package moveit_py: `from kinodyn.interop.ros.moveit_py import MoveItPy`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.checks import with_attributes
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.interop.moveit.fields import Message
from kinodyn.interop.moveit.states import read_state
from kinodyn.interop.ros.move_group import MoveGroup
from kinodyn.interop.ros.planning_scene_interface import PlanningSceneInterface
from kinodyn.interop.ros.session import Session, current_session
from kinodyn.rosmsgs.messages import as_dict

__all__ = ["MoveItPy", "PlanResult", "PlanningComponent", "PlanningSceneMonitor"]


def __dir__() -> list[str]:
    return list(__all__)


@displayed
@dataclass(frozen=True, eq=False)
class PlanResult:
    """What `PlanningComponent.plan` returns; true if there is a plan.

    Attributes
    ----------
    trajectory : moveit_msgs/RobotTrajectory
        Empty without a plan.
    planning_time : float
        [s]
    error_code : moveit_msgs/MoveItErrorCodes
    """

    trajectory: Any
    planning_time: float
    error_code: Any

    def __bool__(self) -> bool:
        return bool(self.error_code.val == 1)


@displayed
class PlanningComponent:
    """Plans for a group of joints.

    Parameters
    ----------
    group
        Name of the group.
    session
    """

    @check_types
    def __init__(self, group: str, session: Session) -> None:
        self._group = MoveGroup(group, session=session)

    @property
    def planning_group_name(self) -> str:
        """Name of the group."""
        return self._group.get_name()

    @property
    def named_target_states(self) -> list[str]:
        """Names of the configurations that can be goals."""
        return self._group.get_named_targets()

    def set_start_state_to_current_state(self) -> None:
        """Plan from the current state."""
        self._group.set_start_state_to_current_state()

    def set_start_state(self, configuration_name: str | None = None, robot_state: Any = None) -> None:
        """Set where plans start.

        Parameters
        ----------
        configuration_name
            Name of a configuration of the robot; or
        robot_state
            A moveit_msgs/RobotState.
        """
        if (configuration_name is None) == (robot_state is None):
            raise InputError("configuration_name or robot_state must be given, got both or none")
        if configuration_name is not None:
            values = self._group.get_named_target_values(configuration_name)
            robot_state = {"joint_state": {"name": list(values), "position": list(values.values())}}
        self._group.set_start_state(robot_state)

    def set_goal_state(
        self,
        configuration_name: str | None = None,
        robot_state: Any = None,
        pose_stamped_msg: Any = None,
        pose_link: str = "",
        motion_plan_constraints: Sequence[Any] | None = None,
    ) -> None:
        """Set the goal, in one of four forms.

        Parameters
        ----------
        configuration_name
            Name of a configuration of the robot.
        robot_state
            A moveit_msgs/RobotState.
        pose_stamped_msg, pose_link
            Pose of a link, by default the end effector.
        motion_plan_constraints
            A list of moveit_msgs/Constraints with joint constraints, of which the first counts.
        """
        given = [configuration_name, robot_state, pose_stamped_msg, motion_plan_constraints]
        if sum(each is not None for each in given) != 1:
            raise InputError(f"one form of goal must be given, got {sum(each is not None for each in given)}")
        if configuration_name is not None:
            self._group.set_named_target(configuration_name)
        elif pose_stamped_msg is not None:
            self._group.set_pose_target(pose_stamped_msg, pose_link)
        elif robot_state is not None:
            self._group.set_joint_value_target(self._positions(robot_state))
        else:
            self._group.set_joint_value_target(_joint_goal(motion_plan_constraints))

    def plan(self) -> PlanResult:
        """Plan from the start to the goal.

        Returns
        -------
        PlanResult
        """
        _, trajectory, seconds, code = self._group.plan()
        return PlanResult(trajectory, seconds, code)

    def _positions(self, robot_state: Any) -> list[float]:
        fields = robot_state if isinstance(robot_state, Mapping) else as_dict(robot_state)
        robot = self._group.robot
        q, _ = read_state(Message(fields, "robot state").fields, robot, robot.neutral())
        return [float(q[robot.joint(name).q.start]) for name in self._group.get_active_joints()]


def _joint_goal(constraints: Any) -> dict[str, float]:
    joints = list(constraints[0].joint_constraints) if len(constraints) else []
    if not joints or constraints[0].position_constraints or constraints[0].orientation_constraints:
        raise InputError(
            "motion_plan_constraints must be joint constraints, got others; give pose_stamped_msg for poses"
        )
    return {each.joint_name: float(each.position) for each in joints}


@displayed
class PlanningSceneMonitor:
    """The objects around the robot.

    Parameters
    ----------
    session
    """

    @check_types
    def __init__(self, session: Session) -> None:
        self._scene = PlanningSceneInterface(session=session)

    @contextmanager
    def read_write(self) -> Iterator[PlanningSceneMonitor]:
        """Give access to the scene in a `with` block."""
        yield self

    read_only = read_write

    @property
    def planning_scene_message(self) -> Any:
        """The scene as a moveit_msgs/PlanningScene."""
        return self._scene.get_planning_scene()

    def apply_collision_object(self, collision_object_msg: Any) -> None:
        """Add a moveit_msgs/CollisionObject, or remove it if its operation is REMOVE.

        Parameters
        ----------
        collision_object_msg
            The message, of any library.
        """
        with_attributes(
            "collision_object_msg", collision_object_msg, "a moveit_msgs/CollisionObject", "id", "operation"
        )
        if np.uint8(collision_object_msg.operation) == 1:
            self._scene.remove_world_object(collision_object_msg.id)
        else:
            self._scene.add_object(collision_object_msg)

    def process_attached_collision_object(self, attached_collision_object_msg: Any) -> None:
        """Attach a moveit_msgs/AttachedCollisionObject.

        Parameters
        ----------
        attached_collision_object_msg
            The message, of any library.
        """
        self._scene.attach_object(attached_collision_object_msg)

    def remove_all_collision_objects(self) -> None:
        """Remove all objects."""
        self._scene.clear()


@displayed
class MoveItPy:
    """A robot with planner and controllers, as MoveIt 2's Python interface gives it.

    Parameters
    ----------
    node_name
        Of moveit_py, without effect.
    robot
        By default that of the current session, see `start`.
    """

    @check_types
    def __init__(self, node_name: str = "", *, robot: Any = "") -> None:
        self._session = current_session(robot)

    def get_planning_component(self, name: str) -> PlanningComponent:
        """Return the planning component of a group.

        Parameters
        ----------
        name
            Name of the group.

        Returns
        -------
        PlanningComponent
        """
        return PlanningComponent(name, self._session)

    def get_planning_scene_monitor(self) -> PlanningSceneMonitor:
        """Return the objects around the robot."""
        return PlanningSceneMonitor(self._session)

    def execute(self, trajectory: Any, controllers: Sequence[str] = ()) -> bool:
        """Follow a trajectory to its end.

        Parameters
        ----------
        trajectory
            What a plan contains.
        controllers
            Of moveit_py; there is one.

        Returns
        -------
        success : bool
        """
        joints = list(trajectory.joint_trajectory.joint_names)
        chains = self._session.robot.description.chains
        group = next((name for name, chain in chains.items() if set(joints) <= set(chain)), None)
        if group is None:
            raise InputError(f"the trajectory must be of the joints of one group, got {', '.join(joints)}")
        return MoveGroup(group, session=self._session).execute(trajectory)

    def shutdown(self) -> None:
        """Wait for a motion that is being executed."""
        self._session.wait()
