"""RosBridge: actions and topics of a ROS system through its rosbridge server, over a web socket."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from kinodyn.argument_types import check_types
from kinodyn.checks import integer, nonnegative, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError, KinodynError
from kinodyn.interop.ros.robot_node import CONTROLLER
from kinodyn.interop.ros.roslibpy_library import Connection
from kinodyn.model.robot import Robot
from kinodyn.rosmsgs.messages import as_dict, new
from kinodyn.rosmsgs.robot_messages import GIGA, JointSample, JointStateReader, stamp_of
from kinodyn.rosmsgs.rosbags_library import full_name
from kinodyn.rosmsgs.trajectories import JointTrajectory, joint_trajectory
from kinodyn.trajectory.base import JointTrajectory as Motion

ACTION = "control_msgs/action/FollowJointTrajectory"
POLL = 0.05  # [s] between looks at the connection
_STATUS: dict[int, Literal["succeeded", "cancelled", "aborted"]] = {4: "succeeded", 5: "cancelled", 6: "aborted"}
_ERRORS = {
    -1: "invalid goal",
    -2: "invalid joints",
    -3: "old header timestamp",
    -4: "path tolerance violated",
    -5: "goal tolerance violated",
}


@displayed
@dataclass(frozen=True)
class TrajectoryResult:
    """Result of a joint trajectory controller.

    Attributes
    ----------
    status : "succeeded", "cancelled", "aborted", "timeout" or "disconnected"
    error_code : int
        Of FollowJointTrajectory: 0 for success.
    message : str
        Why it did not succeed.
    """

    status: Literal["succeeded", "cancelled", "aborted", "timeout", "disconnected"]
    error_code: int
    message: str

    @property
    def success(self) -> bool:
        """Whether the robot followed the trajectory to its end."""
        return self.status == "succeeded" and self.error_code == 0


@displayed
class RosBridge:
    """A connection to a rosbridge server (rosbridge_suite), which needs no DDS.

    Parameters
    ----------
    host
        By default this machine.
    port
    timeout
        For the connection [s].

    Raises
    ------
    KinodynError
        If no server answers.
    """

    @check_types
    def __init__(self, host: str = "127.0.0.1", port: int = 9090, *, timeout: float = 5.0) -> None:
        self._connection = Connection(host, integer("port", port, 1, 65535), positive("timeout", timeout))

    def publish(self, topic: str, message: Any) -> None:
        """Publish a message.

        Parameters
        ----------
        topic
        message
            As `new` returns it.
        """
        kind = getattr(message, "__msgtype__", None)
        if not isinstance(kind, str):
            raise InputError(f"message must be a message as new() returns it, got {type(message).__name__}")
        self._connection.publish(topic, kind, as_dict(message))

    def subscribe(self, topic: str, name: str, callback: Callable[[Any], object]) -> None:
        """Call a function with each message of a topic; messages of another type are dropped and logged.

        Parameters
        ----------
        topic
        name
            Type of the messages.
        callback
            Called from the thread of the connection.
        """
        kind = full_name(name)
        self._connection.subscribe(topic, kind, lambda fields: callback(new(kind, fields)))

    def joint_states(self, robot: Robot, callback: Callable[[JointSample], object]) -> None:
        """Read /joint_states.

        Parameters
        ----------
        robot
        callback
            Called with each sample, from the thread of the connection.
        """
        reader = JointStateReader(robot)
        self.subscribe("/joint_states", "sensor_msgs/JointState", lambda message: callback(reader.read(message)))

    def follow_trajectory(
        self,
        motion: Motion | JointTrajectory,
        robot: Robot | None = None,
        *,
        controller: str = CONTROLLER,
        joints: tuple[str, ...] | None = None,
        goal_time_tolerance: float = 0.0,
        timeout: float | None = None,
        on_feedback: Callable[[Any], object] | None = None,
        should_cancel: Callable[[], bool] | None = None,
    ) -> TrajectoryResult:
        """Send a trajectory to the action FollowJointTrajectory of a controller, and wait for its end.

        Parameters
        ----------
        motion
            A trajectory of the robot, such as `Plan.trajectory` returns, or points of one.
        robot
            The robot of the trajectory.
        controller
            Name of the controller.
        joints
            Joints of the controller; by default all with one coordinate.
        goal_time_tolerance
            How late the robot may arrive [s]; 0 for the controller's default.
        timeout
            [s]; by default the duration of the trajectory and 10 s.
        on_feedback
            Called with each FollowJointTrajectory_Feedback.
        should_cancel
            Asked twenty times a second; if it returns True, the goal is cancelled.

        Returns
        -------
        TrajectoryResult
        """
        points = motion if isinstance(motion, JointTrajectory) else _sampled(motion, robot, joints)
        late = round(nonnegative("goal_time_tolerance", goal_time_tolerance) * GIGA)
        goal = new(f"{ACTION}_Goal", trajectory=points.fields(), goal_time_tolerance=stamp_of(late))
        arrived, results = threading.Event(), []

        def finish(result: dict[str, Any]) -> None:
            results.append(result)
            arrived.set()

        def feed(fields: dict[str, Any]) -> None:
            if on_feedback is not None:
                on_feedback(new(f"{ACTION}_Feedback", fields))

        name = f"/{controller.strip('/')}/follow_joint_trajectory"
        cancel = self._connection.send_goal(name, ACTION, as_dict(goal), finish, feed)
        limit = float(points.time[-1]) + 10.0 if timeout is None else positive("timeout", timeout)
        return self._wait(arrived, results, cancel, limit, should_cancel)

    def _wait(
        self,
        arrived: threading.Event,
        results: list[dict[str, Any]],
        cancel: Callable[[], None],
        limit: float,
        should_cancel: Callable[[], bool] | None,
    ) -> TrajectoryResult:
        end, cancelled = time.monotonic() + limit, False
        while not arrived.wait(POLL):
            if not self._connection.is_open:
                return TrajectoryResult("disconnected", 0, "the rosbridge server is gone; the robot may still move")
            if time.monotonic() > end:
                cancel()
                return TrajectoryResult("timeout", 0, f"no result within {limit:g} s; the goal was cancelled")
            if should_cancel is not None and not cancelled and should_cancel():
                cancelled = True
                cancel()
        return _result(results[0])

    def close(self) -> None:
        """Disconnect."""
        self._connection.close()

    def __enter__(self) -> RosBridge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _sampled(motion: Motion, robot: Robot | None, joints: tuple[str, ...] | None) -> JointTrajectory:
    if robot is None:
        raise InputError("robot must be given with a trajectory of it, got None")
    return joint_trajectory(motion, robot, joints=joints)


def _result(result: dict[str, Any]) -> TrajectoryResult:
    if "error" in result:
        return TrajectoryResult("aborted", 0, f"the bridge rejected the goal: {result['error']}")
    values = result.get("values") or {}
    status = result.get("status")
    number = getattr(status, "value", status)
    code = int(values.get("error_code", 0)) if isinstance(values, dict) else 0
    text = str(values.get("error_string", "")) if isinstance(values, dict) else ""
    if not isinstance(number, int) or number not in _STATUS:
        raise KinodynError(f"a result must have the status 4, 5 or 6, got {status!r}")
    return TrajectoryResult(_STATUS[number], code, text or _ERRORS.get(code, ""))
