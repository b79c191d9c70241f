"""RobotNode: the topics of a robot, as robot_state_publisher and ros2_control use them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError, KinodynError
from kinodyn.interop.moveit.trajectories import read_trajectory
from kinodyn.interop.ros.node import Node, Problem, Publisher, Subscription
from kinodyn.interop.ros.qos import LATCHED, TF, QoS
from kinodyn.model.robot import Robot
from kinodyn.rosmsgs.messages import new
from kinodyn.rosmsgs.robot_messages import JointSample, JointStateReader, joint_state, robot_description, transforms
from kinodyn.rosmsgs.trajectories import JointTrajectory, joint_trajectory
from kinodyn.trajectory.base import JointTrajectory as Motion

STATES = QoS(depth=1000)  # keeps two seconds at 500 Hz for a subscriber that stalls
CONTROLLER = "joint_trajectory_controller"


@displayed
class RobotNode(Node):
    """A node that publishes the state of a robot, reads joint states, and exchanges joint trajectories.

    Parameters
    ----------
    robot
    options
        Keyword arguments of `Node`.

    Attributes
    ----------
    robot : Robot

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> with kd.interop.ros.RobotNode(robot, domain=77) as node:  # doctest: +SKIP
    ...     node.publish_description()
    ...     node.publish_state(robot.neutral())
    """

    @check_types
    def __init__(self, robot: Robot, **options: Any) -> None:
        super().__init__(**options)
        self.robot = robot
        self._publishers: dict[str, Publisher] = {}
        self._static_sent = False
        self._reported: set[tuple[str, ...]] = set()

    def publish_description(self) -> None:
        """Publish the URDF on /robot_description; subscribers that come later get it too."""
        self._get("/robot_description", "std_msgs/String", LATCHED).publish(robot_description(self.robot))

    def publish_state(
        self, q: ArrayLike, v: ArrayLike | None = None, tau: ArrayLike | None = None, *, tf: bool = True
    ) -> None:
        """Publish a state on /joint_states and /tf, and once the fixed links on /tf_static.

        Parameters
        ----------
        q, v, tau : (nq,), (nv,), (nv,)
            Configuration; velocity and generalised forces, left out if not given.
        tf
            Whether to publish the poses of links too.
        """
        now = time.time_ns()
        self._get("/joint_states", "sensor_msgs/JointState", STATES).publish(
            joint_state(self.robot, q, v, tau, time=now)
        )
        if tf:
            self._get("/tf", "tf2_msgs/TFMessage", TF).publish(transforms(self.robot, q, time=now, fixed=False))
            if not self._static_sent:
                fixed = transforms(self.robot, q, time=now, fixed=True)
                self._get("/tf_static", "tf2_msgs/TFMessage", LATCHED).publish(fixed)
                self._static_sent = True

    def subscribe_states(
        self, callback: Callable[[JointSample], object] | None = None, *, q: ArrayLike | None = None
    ) -> StateSubscription:
        """Read /joint_states.

        Parameters
        ----------
        callback
            Called with each sample, from the thread of the node.
        q : (nq,), optional
            Configuration of joints that no message has mentioned; neutral by default.

        Returns
        -------
        StateSubscription
        """
        return StateSubscription(self, callback, q)

    def send_trajectory(
        self, motion: Motion | JointTrajectory, *, controller: str = CONTROLLER, joints: tuple[str, ...] | None = None
    ) -> None:
        """Send a trajectory to a joint trajectory controller of ros2_control.

        Parameters
        ----------
        motion
            A trajectory of the robot, such as `Plan.trajectory` returns, or points of one.
        controller
            Name of the controller.
        joints
            Joints of the controller; by default all with one coordinate.

        Raises
        ------
        KinodynError
            If no controller listens.
        """
        points = motion if isinstance(motion, JointTrajectory) else joint_trajectory(motion, self.robot, joints=joints)
        topic = f"/{controller.strip('/')}/joint_trajectory"
        publisher = self._get(topic, "trajectory_msgs/JointTrajectory", QoS())
        if not publisher.wait_for_peers(timeout=2.0):
            raise KinodynError(f"no controller listens on {topic}; start it, or check domain and interface")
        publisher.publish(new("trajectory_msgs/JointTrajectory", points.fields()))

    def on_trajectory(
        self, callback: Callable[[JointTrajectory], object], *, controller: str = CONTROLLER
    ) -> Subscription:
        """Receive trajectories as a joint trajectory controller does.

        Parameters
        ----------
        callback
            Called with each trajectory whose joints the robot has, from the thread of the node.
        controller
            Name of the controller.

        Returns
        -------
        Subscription
        """
        topic = f"/{controller.strip('/')}/joint_trajectory"

        def use(message: Any) -> None:
            try:
                given = read_trajectory(message)
                unknown = [name for name in message.joint_names if name not in self.robot.joint_names]
                if unknown or not isinstance(given, JointTrajectory):
                    raise InputError(f"joints must be those of {self.robot.name!r}, got {', '.join(unknown)}")
            except KinodynError as cause:
                self.report(Problem(topic, "bad state", str(cause)))
                return
            callback(given)

        return self.subscribe(topic, "trajectory_msgs/JointTrajectory", use)

    def _get(self, topic: str, name: str, qos: QoS) -> Publisher:
        if topic not in self._publishers:
            self._publishers[topic] = self.publisher(topic, name, qos)
        return self._publishers[topic]


class StateSubscription:
    """The joint states that a robot's node receives.

    Attributes
    ----------
    subscription : Subscription
    """

    def __init__(self, node: RobotNode, callback: Callable[[JointSample], object] | None, q: ArrayLike | None) -> None:
        self._node, self._callback = node, callback
        self._reader = JointStateReader(node.robot, None if q is None else numbers("q", q, node.robot.nq))
        self._sample: JointSample | None = None
        self._reported: set[str] = set()
        self.subscription = node.subscribe("/joint_states", "sensor_msgs/JointState", self._use, STATES)

    def _use(self, message: Any) -> None:
        try:
            sample = self._reader.read(message)
        except KinodynError as cause:
            self._node.report(Problem("/joint_states", "bad state", str(cause)))
            return
        for kind, names in (("missing", sample.missing), ("unknown", sample.unknown)):
            text = f"joints {kind}: {', '.join(names)}"
            if names and text not in self._reported:  # once, not 500 times a second
                self._reported.add(text)
                self._node.report(Problem("/joint_states", "bad state", text))
        self._sample = sample
        if self._callback is not None:
            self._callback(sample)

    def latest(self, *, max_age: float = 0.5) -> JointSample | None:
        """Return the last sample, None if there is none or it is older than `max_age` [s]."""
        if time.monotonic() - self.subscription.last_time > max_age:
            return None
        return self._sample

    def wait(self, timeout: float = 5.0) -> JointSample | None:
        """Wait for a sample; None if there is none in time [s]."""
        self.subscription.wait_for_message(timeout)
        return self._sample

    @property
    def q(self) -> Array:
        """The last configuration (nq,), that of the reader before any message."""
        return np.array(self._node.robot.neutral() if self._sample is None else self._sample.q)
