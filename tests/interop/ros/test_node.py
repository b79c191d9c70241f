"""Nodes over DDS on the loopback: names as in ROS 2, nothing lost between processes, trouble handled and told."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd

pytest.importorskip("cyclonedds")
pytest.importorskip("rosbags")

ros = kd.interop.ros
PEER = Path(__file__).with_name("joint_state_publisher.py")
DOMAINS = itertools.count(100 + os.getpid() % 60)  # each test has one of its own: earlier peers do not disturb it


@pytest.fixture
def domain() -> int:
    return next(DOMAINS)


def eventually(condition: Callable[[], Any], timeout: float = 10.0) -> bool:
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def kinds(node: Any) -> list[str]:
    return [problem.kind for problem in node.problems]


def silent(_: Any) -> None:
    """Do not log: the tests look at `problems`."""


def listen(domain: int, rate: float, seconds: float, kill_after: int | None = None) -> tuple[list[int], list[int], Any]:
    """Run the peer in a process, and return the numbers and latencies [ns] of its messages, and the problems.

    It is killed once `kill_after` messages have arrived.
    """
    numbers: list[int] = []
    delays: list[int] = []

    def use(message: Any) -> None:
        stamp = message.header.stamp
        delays.append(time.time_ns() - (stamp.sec * 10**9 + stamp.nanosec))
        numbers.append(int(message.header.frame_id))

    with ros.Node(domain=domain, on_problem=silent) as node:
        node.subscribe("/joint_states", "sensor_msgs/JointState", use, ros.QoS(depth=1000))
        with subprocess.Popen([sys.executable, str(PEER), str(domain), str(rate), str(seconds)]) as peer:
            try:
                if kill_after is None:
                    assert peer.wait(timeout=seconds + 60.0) == 0
                else:
                    eventually(lambda: len(numbers) >= kill_after, timeout=60.0)
            finally:
                peer.kill()  # without saying goodbye
        if kill_after is not None:
            eventually(lambda: "lost peer" in kinds(node), timeout=30.0)
        return numbers, delays, list(node.problems)


def show(delays: list[int]) -> None:
    p50, p90, p99, most = np.percentile(np.array(delays) / 1e3, [50, 90, 99, 100])
    print(f"latency of {len(delays)} messages [us]: p50 {p50:.0f}, p90 {p90:.0f}, p99 {p99:.0f}, max {most:.0f}")


def test_500_joint_states_a_second_arrive_in_order_without_loss(domain: int) -> None:
    numbers, delays, _ = listen(domain, 500.0, 5.0)
    show(delays)
    assert numbers == list(range(2500))


@pytest.mark.slow
def test_500_joint_states_a_second_for_a_minute_arrive_without_loss(domain: int) -> None:
    numbers, delays, _ = listen(domain, 500.0, 60.0)
    show(delays)
    assert numbers == list(range(30_000))


def test_a_peer_that_vanishes_is_reported(domain: int) -> None:
    numbers, _, problems = listen(domain, 500.0, 60.0, kill_after=50)
    assert 50 <= len(numbers) < 30_000
    assert any(problem.kind == "lost peer" and problem.topic == "/joint_states" for problem in problems)


def test_topics_and_types_have_the_names_of_ros(domain: int) -> None:
    """A participant of the library alone finds them."""
    from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication
    from cyclonedds.domain import DomainParticipant

    robot = kd.load("panda")
    with ros.RobotNode(robot, domain=domain) as node:
        node.publish_description()
        node.publish_state(robot.neutral())
        participant = DomainParticipant(domain)
        reader = BuiltinDataReader(participant, BuiltinTopicDcpsPublication)
        found: dict[str, Any] = {}
        wanted = {
            "rt/joint_states": "sensor_msgs::msg::dds_::JointState_",
            "rt/robot_description": "std_msgs::msg::dds_::String_",
            "rt/tf": "tf2_msgs::msg::dds_::TFMessage_",
            "rt/tf_static": "tf2_msgs::msg::dds_::TFMessage_",
        }

        def complete() -> bool:
            found.update({each.topic_name: each for each in reader.read(N=100)})
            return set(wanted) <= set(found)

        assert eventually(complete)
        for topic, kind in wanted.items():
            assert found[topic].type_name == kind
        from cyclonedds.qos import Policy

        assert Policy.Durability.TransientLocal in found["rt/robot_description"].qos
        assert Policy.Durability.Volatile in found["rt/joint_states"].qos
        assert b"typehash=RIHS01_" in found["rt/joint_states"].qos[Policy.Userdata].data


def test_a_late_subscriber_gets_the_description(domain: int) -> None:
    robot = kd.load("panda")
    with ros.RobotNode(robot, domain=domain) as node, ros.Node(domain=domain) as other:
        node.publish_description()
        late = other.subscribe("/robot_description", "std_msgs/String", qos=ros.QoS(latched=True, depth=1))
        assert late.wait_for_message().data == ros.robot_description(robot).data


def test_states_return_by_the_names_of_joints_and_missing_ones_are_reported(domain: int) -> None:
    robot = kd.load("panda")
    q = robot.random(seed=2)
    with ros.RobotNode(robot, domain=domain, on_problem=silent) as node:
        states = node.subscribe_states()
        assert states.latest() is None
        node.publish_state(q, np.arange(7.0))
        sample = states.wait()
        np.testing.assert_array_equal(sample.q, q)
        np.testing.assert_array_equal(sample.v, np.arange(7.0))
        partial = node.publisher("/joint_states", "sensor_msgs/JointState")
        for _ in range(3):
            names = ["panda_joint3", "panda_joint1", "wheel"]
            partial.publish(ros.new("sensor_msgs/JointState", name=names, position=[0.3, 0.1, 9.0]))
        assert eventually(lambda: states.latest() is not None and states.latest().q[0] == 0.1)
        assert states.latest().q[2] == 0.3 and states.latest().q[3] == q[3]
        texts = [problem.text for problem in node.problems]
        assert sum("joints missing: panda_joint2" in text for text in texts) == 1
        assert sum("joints unknown: wheel" in text for text in texts) == 1
        partial.publish(ros.new("sensor_msgs/JointState", name=["panda_joint1"], position=[np.nan]))
        assert eventually(lambda: "must be finite" in node.problems[-1].text)
        assert states.latest(max_age=10.0).q[0] == 0.1
        assert eventually(lambda: states.latest(max_age=0.1) is None)


def test_a_publisher_of_another_type_is_reported(domain: int) -> None:
    with ros.Node(domain=domain, on_problem=silent) as node, ros.Node(domain=domain) as other:
        heard = node.subscribe("/joint_states", "sensor_msgs/JointState")
        wrong = other.publisher("/joint_states", "std_msgs/String")
        wrong.publish(ros.new("std_msgs/String", data="not a joint state"))
        assert eventually(lambda: "wrong type" in kinds(node))
        assert "std_msgs::msg::dds_::String_" in node.problems[0].text and heard.received == 0


def test_a_message_that_does_not_decode_is_reported_and_the_next_one_arrives(domain: int) -> None:
    with ros.Node(domain=domain, on_problem=silent) as node:
        heard = node.subscribe("/text", "std_msgs/String")
        publisher = node.publisher("/text", "std_msgs/String")
        publisher._writer.write(b"\x00\x01\x00\x00\x03\x00\x00\x00\xff\xff\x00")  # not UTF-8, which DDS does not check
        assert eventually(lambda: heard.rejected == 1)
        publisher.publish(ros.new("std_msgs/String", data="fine"))
        assert heard.wait_for_message().data == "fine" and kinds(node) == ["broken message"]


def test_a_callback_that_fails_does_not_stop_the_node(domain: int) -> None:
    with ros.Node(domain=domain, on_problem=silent) as node:
        heard = node.subscribe("/x", "std_msgs/Bool", lambda _: 1 / 0)
        publisher = node.publisher("/x", "std_msgs/Bool")
        for _ in range(2):
            publisher.publish(ros.new("std_msgs/Bool"))
        assert eventually(lambda: heard.received == 2 and kinds(node) == ["failed callback"] * 2)


def test_a_trajectory_reaches_the_controller_and_unknown_joints_are_reported(domain: int) -> None:
    robot = kd.load("panda")
    motion = kd.planning.plan(robot, [0, -0.8, 0, -2.4, 0, 1.6, 0.8], [1, -0.2, 0, -2, 0, 1.6, 0.8]).trajectory()
    received: list[Any] = []
    with ros.RobotNode(robot, domain=domain, on_problem=silent) as node:
        with pytest.raises(kd.KinodynError, match="no controller listens"):
            node.send_trajectory(motion, controller="nobody")
        node.on_trajectory(received.append)
        node.send_trajectory(motion)
        assert eventually(lambda: received)
        t = np.linspace(0.0, motion.duration, 100)
        again = received[0].motion(robot)
        np.testing.assert_allclose(again(np.minimum(t, again.duration)), motion(t), atol=1e-8)
        other = ros.new("trajectory_msgs/JointTrajectory", joint_names=["wheel"])
        node.publisher("/joint_trajectory_controller/joint_trajectory", "trajectory_msgs/JointTrajectory").publish(
            other
        )
        assert eventually(lambda: "bad state" in kinds(node)) and len(received) == 1


def test_a_node_stays_on_the_loopback() -> None:
    from kinodyn.interop.ros.cyclonedds_library import configuration

    text = configuration("127.0.0.1", 3.0)
    assert '<NetworkInterface address="127.0.0.1"/>' in text and "<AllowMulticast>false" in text
    assert '<NetworkInterface name="eth&quot;0"/>' in configuration('eth"0', 3.0) or "name='eth\"0'" in configuration(
        'eth"0', 3.0
    )


@pytest.mark.parametrize("value", [-1, 233, "x"])
def test_domains_that_do_not_exist_are_errors(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(value))
    with pytest.raises(kd.InputError, match="must be"):
        ros.Node()


def test_wrong_topics_and_messages_are_errors(domain: int) -> None:
    with ros.Node(domain=domain) as node:
        for topic in ("", "/", "/a b", "/1a", "/a//b"):
            with pytest.raises(kd.InputError, match="topic must be a name"):
                node.publisher(topic, "std_msgs/Bool")
        with pytest.raises(kd.InputError, match="must be a std_msgs/msg/Bool, got std_msgs/msg/String"):
            node.publisher("/x", "std_msgs/Bool").publish(ros.new("std_msgs/String"))
