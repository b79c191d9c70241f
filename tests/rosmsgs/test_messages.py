"""Messages: the encoding is that of Cyclone DDS, decoding inverts it, wrong values are named."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import kinodyn as kd

pytest.importorskip("rosbags")

from kinodyn import rosmsgs  # noqa: E402
from kinodyn.rosmsgs.rosbags_library import field_types, type_hash, type_names  # noqa: E402

from .random_messages import PACKAGES, random_fields  # noqa: E402

NAMES = [name for name in type_names() if name.partition("/")[0] in PACKAGES]


def as_idl(name: str, fields: dict[str, Any]) -> Any:
    """Return a message as Cyclone DDS's Python classes hold it."""
    from kinodyn.interop.ros.cyclonedds_library import idl_class

    def converted(kind: Any, value: Any) -> Any:
        if kind.length is not None:
            return [converted(kind._replace(length=None), part) for part in value]
        return as_idl(kind.name, value) if kind.is_message else value

    return idl_class(name)(**{field: converted(kind, fields[field]) for field, kind in field_types(name).items()})


def test_the_types_that_scripts_use_are_known() -> None:
    wanted = "sensor_msgs/JointState sensor_msgs/Imu trajectory_msgs/JointTrajectory geometry_msgs/PoseStamped "
    wanted += "tf2_msgs/TFMessage std_msgs/String nav_msgs/Odometry control_msgs/JointTolerance "
    wanted += "moveit_msgs/PlanningScene moveit_msgs/MotionPlanRequest moveit_msgs/RobotTrajectory"
    for name in wanted.split():
        assert rosmsgs.new(name) is not None
    assert "control_msgs/action/FollowJointTrajectory_Goal" in NAMES and len(NAMES) > 140


@pytest.mark.parametrize("package", PACKAGES)
def test_the_encoding_is_that_of_cyclone_dds(package: str) -> None:
    pytest.importorskip("cyclonedds")
    rng = np.random.default_rng(0)
    for name in [name for name in NAMES if name.startswith(f"{package}/")]:
        fields = random_fields(name, rng)
        assert rosmsgs.encode(rosmsgs.new(name, fields)) == as_idl(name, fields).serialize(use_version_2=False), name


@pytest.mark.parametrize("package", PACKAGES)
def test_decoding_inverts_encoding(package: str) -> None:
    rng = np.random.default_rng(1)
    for name in [name for name in NAMES if name.startswith(f"{package}/")]:
        message = rosmsgs.new(name, random_fields(name, rng))
        data = rosmsgs.encode(message)
        again = rosmsgs.decode(data, name)
        assert rosmsgs.as_dict(again) == rosmsgs.as_dict(message)
        assert rosmsgs.encode(again) == data


def test_the_hash_of_a_type_is_that_of_ros() -> None:
    """The hash of sensor_msgs/msg/JointState in ROS 2 Jazzy."""
    assert type_hash("sensor_msgs/JointState").startswith("RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c58")


def test_integers_and_lists_become_the_numbers_of_the_field() -> None:
    """rosbags would write the bytes of an integer array where a float array belongs."""
    for position in ([1, 2], np.array([1, 2]), np.array([1, 2], np.float32), (1.0, 2.0)):
        message = rosmsgs.new("sensor_msgs/JointState", name=["a", "b"])
        message.position = position
        again = rosmsgs.decode(rosmsgs.encode(message), "sensor_msgs/JointState")
        np.testing.assert_array_equal(again.position, [1.0, 2.0])


def test_a_vector_may_be_a_list_and_an_orientation_is_none_by_default() -> None:
    pose = rosmsgs.new("geometry_msgs/Pose", position=[1, 2, 3])
    assert (pose.position.z, pose.orientation.w) == (3.0, 1.0)


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("sensor_msgs/JointStat", {}, "did you mean 'sensor_msgs/msg/JointState'"),
        ("sensor_msgs/JointState", {"positions": [1.0]}, "did you mean 'position'"),
        ("sensor_msgs/JointState", {"position": ["a"]}, "position must be a list of float64, got"),
        ("sensor_msgs/JointState", {"name": "abc"}, "name must be a list, got 'abc'"),
        ("sensor_msgs/JointState", {"name": [1]}, r"name\[0\] must be a string, got 1"),
        ("std_msgs/UInt8", {"data": 300}, "data must be a uint8, got 300"),
        ("std_msgs/UInt8", {"data": 1.5}, "data must be a uint8, got 1.5"),
        ("geometry_msgs/Pose", {"position": [1.0, 2.0]}, "position must be a geometry_msgs/msg/Point"),
        ("shape_msgs/SolidPrimitive", {"dimensions": [1.0] * 4}, "dimensions must have at most 3 elements, got 4"),
        ("nav_msgs/Odometry", {"pose": {"covariance": [1.0]}}, "covariance must have 36 elements, got 1"),
    ],
)
def test_wrong_values_are_errors_that_name_the_field(name: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(kd.KinodynError, match=message):
        rosmsgs.new(name, fields)


def test_bytes_that_are_not_the_message_are_errors() -> None:
    data = rosmsgs.encode(rosmsgs.new("sensor_msgs/JointState", name=["joint"], position=[1.0]))
    rng = np.random.default_rng(0)
    for broken in (b"", data[:3], data[:20], data + b"1234567890", b"\x07\x07" + data[2:], data[:24] + b"\xff" * 8):
        with pytest.raises(kd.InputError, match="not a sensor_msgs"):
            rosmsgs.decode(broken, "sensor_msgs/msg/JointState")
    for _ in range(300):  # anything else decodes or is an InputError, quickly
        noisy = bytearray(data)
        for position in rng.integers(4, len(data), 3):
            noisy[position] = rng.integers(256)
        with contextlib.suppress(kd.InputError):
            rosmsgs.decode(bytes(noisy), "sensor_msgs/msg/JointState")


def test_an_object_that_is_not_a_message_is_an_error() -> None:
    with pytest.raises(kd.InputError, match="must be a message as new"):
        rosmsgs.encode({"data": 1})


@pytest.mark.parametrize(
    ("kind", "accepted", "refused"),
    [
        ("Byte", {-128: -128, -1: -1, 0: 0, 127: 127, 128: -128, 255: -1}, (-129, 256, 0.5)),
        ("UInt8", {0: 0, 255: 255}, (-1, 256, 0.5)),
        ("Int8", {-128: -128, 127: 127}, (-129, 128)),
        ("Int64", {-(2**63): -(2**63), 2**63 - 1: 2**63 - 1}, (2**63, -(2**63) - 1)),
        ("Bool", {True: True, 0: False}, (2, "yes")),
    ],
)
def test_integers_keep_their_range(kind: str, accepted: dict[int, int], refused: tuple[object, ...]) -> None:
    for given, kept in accepted.items():
        message = rosmsgs.new(f"std_msgs/{kind}", data=given)
        assert message.data == kept
        assert rosmsgs.decode(rosmsgs.encode(message), f"std_msgs/{kind}").data == kept
    for wrong in refused:
        with pytest.raises(kd.InputError, match="must be a"):
            rosmsgs.new(f"std_msgs/{kind}", data=wrong)
