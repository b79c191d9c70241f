"""rosbridge: a controller follows trajectories, and every way in which it does not is a status."""

from __future__ import annotations

import socket
import time
from typing import Any

import numpy as np
import pytest

import kinodyn as kd

pytest.importorskip("roslibpy")
pytest.importorskip("rosbags")

from .rosbridge_server import BridgeServer  # noqa: E402

ros = kd.interop.ros
PANDA = kd.load("panda")
MOTION = kd.planning.plan(PANDA, [0, -0.8, 0, -2.4, 0, 1.6, 0.8], [1, -0.2, 0, -2, 0, 1.6, 0.8]).trajectory()

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of autobahn


def test_a_trajectory_is_followed_with_feedback() -> None:
    feedback: list[Any] = []
    with BridgeServer() as server, ros.RosBridge(port=server.port) as bridge:
        result = bridge.follow_trajectory(
            MOTION, PANDA, controller="arm_controller", goal_time_tolerance=0.5, on_feedback=feedback.append
        )
        goal = next(message for message in server.received if message["op"] == "send_action_goal")
    assert result.success and result.status == "succeeded"
    assert goal["action"] == "/arm_controller/follow_joint_trajectory"
    assert goal["action_type"] == "control_msgs/action/FollowJointTrajectory"
    assert goal["args"]["goal_time_tolerance"] == {"sec": 0, "nanosec": 500_000_000}
    sent = kd.interop.moveit.read_trajectory(goal["args"]["trajectory"]).motion(PANDA)
    t = np.linspace(0.0, sent.duration, 50)
    np.testing.assert_allclose(sent(t), MOTION(np.minimum(t, MOTION.duration)), atol=1e-8)
    np.testing.assert_allclose(feedback[0].actual.positions, MOTION(MOTION.duration), atol=1e-8)


@pytest.mark.parametrize(
    ("behaviour", "status", "message"),
    [
        ("abort", "aborted", "path tolerance violated"),
        ("refuse", "aborted", ""),
        ("silent", "timeout", "the goal was cancelled"),
        ("vanish", "disconnected", "the robot may still move"),
    ],
)
def test_what_goes_wrong_is_a_status(behaviour: str, status: str, message: str) -> None:
    with BridgeServer(behaviour) as server, ros.RosBridge(port=server.port) as bridge:
        result = bridge.follow_trajectory(MOTION, PANDA, timeout=1.0)
    assert not result.success and result.status == status and message in result.message


def test_a_goal_can_be_cancelled() -> None:
    with BridgeServer("silent") as server, ros.RosBridge(port=server.port) as bridge:
        begin = time.monotonic()
        result = bridge.follow_trajectory(MOTION, PANDA, should_cancel=lambda: time.monotonic() > begin + 0.2)
    assert result.status == "cancelled"


def test_joint_states_arrive_by_the_names_of_joints() -> None:
    samples: list[Any] = []
    q = PANDA.random(seed=1)
    with BridgeServer() as server, ros.RosBridge(port=server.port) as bridge:
        bridge.joint_states(PANDA, samples.append)
        deadline = time.monotonic() + 10.0
        while not samples and time.monotonic() < deadline:
            bridge.publish("/joint_states", ros.joint_state(PANDA, q))
            time.sleep(0.05)
    np.testing.assert_array_equal(samples[0].q, q)


def test_no_server_is_an_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(kd.KinodynError, match=f"no rosbridge server answers at 127.0.0.1:{port}"):
        ros.RosBridge(port=port, timeout=0.5)


def test_wrong_arguments_are_errors() -> None:
    with BridgeServer() as server, ros.RosBridge(port=server.port) as bridge:
        with pytest.raises(kd.InputError, match="robot must be given"):
            bridge.follow_trajectory(MOTION)
        with pytest.raises(kd.InputError, match="must be a message as new"):
            bridge.publish("/x", {"data": 1})
    with pytest.raises(kd.InputError, match="port must be"):
        ros.RosBridge(port=0)
