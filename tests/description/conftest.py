"""Forward kinematics straight from the definition of a `Description`, as a reference for the readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.description.types import Description, Joint

Positions = Mapping[str, tuple[float, ...]]
LinkPoses = Callable[[Description, Positions], dict[str, Array]]


@pytest.fixture(scope="session")
def link_poses() -> LinkPoses:
    """Give the function that maps a description and joint positions by name to the pose of each link in the root."""

    def poses(description: Description, positions: Positions) -> dict[str, Array]:
        children = {joint.child for joint in description.joints}
        found = {link.name: np.eye(4) for link in description.links if link.name not in children}
        by_name = {joint.name: joint for joint in description.joints}
        waiting = list(description.joints)
        while waiting:
            ready = [joint for joint in waiting if joint.parent in found]
            assert ready, "the description is not a tree"
            for joint in ready:
                motion = _motion(joint, _position(joint, by_name, positions))
                found[joint.child] = found[joint.parent] @ joint.T_parent_child @ motion
            waiting = [joint for joint in waiting if joint.child not in found]
        return found

    return poses


def _position(joint: Joint, by_name: Mapping[str, Joint], positions: Positions) -> tuple[float, ...]:
    if joint.mimic is None:
        return positions.get(joint.name, (0.0,))
    (leader,) = _position(by_name[joint.mimic.joint], by_name, positions)
    return (joint.mimic.multiplier * leader + joint.mimic.offset,)


def _motion(joint: Joint, q: tuple[float, ...]) -> Array:
    T = np.eye(4)
    if joint.kind in ("revolute", "continuous"):
        T[:3, :3] = Rotation.from_rotvec((q[0] - joint.reference) * joint.axis).as_matrix()
    elif joint.kind == "prismatic":
        T[:3, 3] = (q[0] - joint.reference) * joint.axis
    elif joint.kind == "ball":
        T[:3, :3] = Rotation.from_quat(q).as_matrix()
    elif joint.kind == "floating":
        T[:3, 3], T[:3, :3] = q[:3], Rotation.from_quat(q[3:]).as_matrix()
    else:
        assert joint.kind == "fixed", joint.kind
    return T
