"""GroupTargets: the targets of a MoveGroup, and its path constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kinodyn.checks import numbers
from kinodyn.errors import InputError, unknown_name
from kinodyn.interop.moveit.constraints import Constraints, read_constraints
from kinodyn.interop.moveit.fields import Message
from kinodyn.interop.moveit.request import Workspace
from kinodyn.interop.ros.group_state import GroupState
from kinodyn.interop.ros.poses import rotation_of_rpy
from kinodyn.interop.ros.session import Session
from kinodyn.interop.ros.targets import PoseTarget
from kinodyn.rosmsgs.messages import as_dict


class GroupTargets(GroupState):
    """Targets of a group: positions of joints, poses of links, named configurations.

    Parameters
    ----------
    name
        Name of the group.
    session
    """

    def __init__(self, name: str, session: Session) -> None:
        super().__init__(name, session)
        self._joint_target: dict[str, float] | None = None
        self._poses: dict[str, PoseTarget] = {}
        self._path_constraints: Constraints | None = None
        self._workspace: Workspace | None = None

    def set_joint_value_target(self, arg1: Any, arg2: Any = None, arg3: Any = None) -> None:
        """Set positions of joints as the target.

        A list for all joints of the group, a dictionary, a JointState, the name and the value of one joint, or a pose
        of the end effector or of another link, whose joint positions are then computed.
        """
        if isinstance(arg1, str):
            values = {**(self._joint_target or self._current()), arg1: float(np.ravel(arg2)[0])}
        elif isinstance(arg1, Mapping):
            values = {**self._current(), **{name: float(value) for name, value in arg1.items()}}
        elif hasattr(arg1, "name") and hasattr(arg1, "position"):
            values = {**self._current(), **dict(zip(arg1.name, map(float, arg1.position), strict=True))}
        elif hasattr(arg1, "orientation") or hasattr(arg1, "pose"):
            values = self._solved(arg1, arg2 if isinstance(arg2, str) else "")
        else:
            given = numbers("joint_values", arg1, len(self._planner.group))
            values = dict(zip(self._planner.group, given.tolist(), strict=True))
        self._set_joints(values)

    def get_joint_value_target(self) -> list[float]:
        """Return the positions of the target."""
        return list((self._joint_target or self._current()).values())

    def set_pose_target(self, pose: Any, end_effector_link: str = "") -> None:
        """Set the pose of a link as the target: a Pose, PoseStamped, or a list of 6 or 7 numbers."""
        self._aim(end_effector_link, PoseTarget((self._in_world(pose),)))

    def set_pose_targets(self, poses: Iterable[Any], end_effector_link: str = "") -> None:
        """Set several poses of a link as the target, of which one is enough."""
        self._aim(end_effector_link, PoseTarget(tuple(self._in_world(pose) for pose in poses)))

    def set_position_target(self, xyz: Sequence[float], end_effector_link: str = "") -> None:
        """Set the position of a link as the target, with any orientation."""
        T = self._in_world(numbers("xyz", xyz, 3))
        self._aim(end_effector_link, PoseTarget((T,), orientation=False))

    def set_orientation_target(self, q: Sequence[float], end_effector_link: str = "") -> None:
        """Set the orientation x y z w of a link as the target, at any position."""
        T = self._in_world(np.concatenate([np.zeros(3), numbers("q", q, 4)]))
        self._aim(end_effector_link, PoseTarget((T,), position=False))

    def set_rpy_target(self, rpy: Sequence[float], end_effector_link: str = "") -> None:
        """Set roll, pitch and yaw of a link as the target, at any position."""
        T = np.eye(4)
        T[:3, :3] = rotation_of_rpy(numbers("rpy", rpy, 3))
        self._aim(end_effector_link, PoseTarget((self._in_world(T),), position=False))

    def shift_pose_target(self, axis: int, value: float, end_effector_link: str = "") -> None:
        """Set the current pose as the target, moved along axis 0, 1, 2 [m] or turned about axis 3, 4, 5 [rad]."""
        if axis not in range(6):
            raise InputError(f"axis must be from 0 to 5, got {axis!r}")
        T = self._link_pose(end_effector_link).copy()
        if axis < 3:
            T[axis, 3] += value
        else:
            turn = np.zeros(3)
            turn[axis - 3] = value
            T[:3, :3] = rotation_of_rpy(turn) @ T[:3, :3]
        self._aim(end_effector_link, PoseTarget((T,)))

    def set_random_target(self) -> None:
        """Set random positions of the joints as the target."""
        self.set_joint_value_target(self.get_random_joint_values())

    def get_named_targets(self) -> list[str]:
        """Return the names of the targets that `set_named_target` takes."""
        return [*self.robot.configurations, *self._remembered]

    def get_named_target_values(self, target: str) -> dict[str, float]:
        """Return the positions of the joints of a named target."""
        if target in self._remembered:
            return dict(zip(self._planner.group, self._remembered[target], strict=True))
        if target not in self.robot.configurations:
            raise unknown_name("named target", target, self.get_named_targets())
        q = self.robot.configuration(target)
        return dict(zip(self._planner.group, q[self._columns].tolist(), strict=True))

    def set_named_target(self, name: str) -> None:
        """Set a named configuration, such as a group state of the SRDF, as the target."""
        self._set_joints(self.get_named_target_values(name))

    def clear_pose_target(self, end_effector_link: str = "") -> None:
        """Forget the pose target of a link."""
        self._poses.pop(end_effector_link or self._link, None)

    def clear_pose_targets(self) -> None:
        """Forget all pose targets."""
        self._poses.clear()

    def set_path_constraints(self, value: Any) -> None:
        """Set constraints along the path: a moveit_msgs/Constraints, or None for no constraints."""
        if value is None or isinstance(value, Constraints):
            self._path_constraints = value
            return
        message = Message(value if isinstance(value, Mapping) else as_dict(value), "path constraints")
        self._path_constraints = read_constraints(message.fields, self._session.frames())
        message.warn()

    def clear_path_constraints(self) -> None:
        """Remove the constraints along the path."""
        self._path_constraints = None

    def set_workspace(self, ws: Sequence[float]) -> None:
        """Set the volume in which a mobile base may move: none, four or six numbers, as MoveGroupCommander."""
        values = numbers("ws", ws)
        if values.shape == (0,):
            self._workspace = None
        elif values.shape in ((4,), (6,)):
            low, high = np.split(values, 2)
            corners = [np.append(part, [0.0] * (3 - len(part))) for part in (low, high)]
            self._workspace = Workspace("", corners[0], corners[1])
        else:
            raise InputError(f"ws must have 0, 4 or 6 numbers, got {values.shape}")

    def _aim(self, link: str, target: PoseTarget) -> None:
        self.robot.frame_index(link or self._link)
        self._poses[link or self._link] = target
        self._joint_target = None

    def _set_joints(self, values: dict[str, float]) -> None:
        for name in values:
            if name not in self._planner.group:
                raise unknown_name(f"joint of {self.get_name()}", name, self._planner.group)
        self._joint_target = {name: values[name] for name in self._planner.group}
        self._poses.clear()

    def _set_target(self, given: Any) -> None:
        if isinstance(given, str):
            self.set_named_target(given)
        elif hasattr(given, "orientation") or hasattr(given, "pose"):
            self.set_pose_target(given)
        else:
            self.set_joint_value_target(given)

    def _solved(self, pose: Any, link: str) -> dict[str, float]:
        """Return joint positions at which a link has a pose."""
        raise NotImplementedError
