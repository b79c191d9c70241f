"""ROS 2 messages and bags without ROS: types, CDR encoding, MCAP and SQLite bags (`pip install 'kinodyn[ros]'`)."""

from kinodyn.rosmsgs.bags import Bag, BagMessage, read_bag, write_bag
from kinodyn.rosmsgs.messages import as_dict, decode, encode, new
from kinodyn.rosmsgs.robot_messages import (
    JointSample,
    JointStateReader,
    joint_state,
    odometry,
    robot_description,
    transforms,
)

__all__ = [
    "Bag",
    "BagMessage",
    "JointSample",
    "JointStateReader",
    "as_dict",
    "decode",
    "encode",
    "joint_state",
    "new",
    "odometry",
    "read_bag",
    "robot_description",
    "transforms",
    "write_bag",
]


def __dir__() -> list[str]:
    return list(__all__)
