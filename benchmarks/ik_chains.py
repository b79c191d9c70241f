"""The chains for the IK benchmark, with forward kinematics that share no code with any solver."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.model.chain import chain
from setups import Array

# Name -> robot, root link of the chain (None: the whole robot), end frame.
CHAINS: dict[str, tuple[str, str | None, str]] = {
    "panda": ("panda", None, "panda_link8"),
    "ur5": ("ur5", None, "wrist_3_link"),
    "puma560": ("puma560", None, "link6"),
    "humanoid arm": ("humanoid", "torso", "left_palm"),
    "humanoid leg": ("humanoid", "pelvis", "left_sole"),
    "talos arm": ("talos", "torso_2_link", "gripper_left_base_link"),
    "icub arm": ("icub", "chest", "l_hand_dh_frame"),
    "baxter arm": ("baxter", "left_arm_mount", "left_gripper"),
    "pr2 arm": ("pr2", "torso_lift_link", "l_gripper_tool_frame"),
}


@dataclass(frozen=True)
class RevoluteJoint:
    """A revolute joint about the unit vector `axis`, after the constant pose `T_before` (4, 4)."""

    T_before: Array
    axis: Array
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Chain:
    """A serial chain of revolute joints and its end frame."""

    name: str
    robot: kd.Robot
    frame: str

    @cached_property
    def joints(self) -> tuple[tuple[RevoluteJoint, ...], Array]:
        """The joints, fixed ones merged, and the pose (4, 4) of the frame after the last joint."""
        links, T_last = chain(self.robot, self.frame)
        joints, T = [], np.eye(4)
        for joint in links:
            T = T @ joint.T_parent_child
            if joint.kind == "fixed":
                continue
            if joint.kind not in ("revolute", "continuous") or joint.mimic is not None or joint.reference != 0.0:
                raise ValueError(f"joint {joint.name!r} of {self.name!r} is not a simple revolute joint")
            joints.append(RevoluteJoint(T, np.asarray(joint.axis), joint.lower, joint.upper))
            T = np.eye(4)
        return tuple(joints), T @ T_last

    @property
    def middle(self) -> Array:
        """The configuration (nq,) midway between the limits, 0 for joints without limits."""
        lower, upper = self.robot.sampling_range()
        return np.asarray(0.5 * (lower + upper))

    def reachable(self, count: int, seed: int = 0) -> tuple[Array, Array]:
        """Draw configurations (count, nq) within the limits; return them and their poses (count, 4, 4)."""
        q = self.robot.random(count, seed=seed)
        return q, self.pose(q)

    def pose(self, q: Array) -> Array:
        """Compute the frame's poses (..., 4, 4) in NumPy from the description, to verify all solvers alike."""
        joints, T_last = self.joints
        T = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
        for index, joint in enumerate(joints):
            T = T @ joint.T_before @ rotation(joint.axis, q[..., index])
        return np.asarray(T @ T_last)

    def error(self, q: Array, T_target: Array) -> Array:
        """Return position error [m] and orientation error [rad] (..., 2) of configurations."""
        T = self.pose(q)
        distance = np.linalg.norm(T[..., :3, 3] - T_target[..., :3, 3], axis=-1)
        # a rotation by the angle a changes a matrix by 2 sqrt(2) sin(a / 2) in the Frobenius norm
        change = np.linalg.norm(T[..., :3, :3] - T_target[..., :3, :3], axis=(-2, -1))
        return np.stack([distance, 2.0 * np.arcsin(np.minimum(change / np.sqrt(8.0), 1.0))], axis=-1)

    def within_limits(self, q: Array) -> NDArray[np.bool_]:
        """Return which configurations are within all joint limits, to 1e-9."""
        limits = self.robot.limits
        return np.asarray(((q >= limits.lower - 1e-9) & (q <= limits.upper + 1e-9)).all(axis=-1))


def rotation(axis: Array, angle: Array) -> Array:
    """Return rotations by angles (...) about a unit vector as poses (..., 4, 4), by Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, rest = np.sin(angle)[..., None, None], (1.0 - np.cos(angle))[..., None, None]
    T = np.zeros((*angle.shape, 4, 4))
    T[..., :3, :3] = np.eye(3) + sine * K + rest * (K @ K)
    T[..., 3, 3] = 1.0
    return T


def named(name: str) -> Chain:
    """Load a chain of `CHAINS` as a separate robot with a fixed base."""
    source, root, frame = CHAINS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(source)
        return Chain(name, robot if root is None else cut(robot, root, frame), frame)


def cut(robot: kd.Robot, root: str, frame: str) -> kd.Robot:
    """Extract the chain between the link `root` and a frame."""
    joints, _ = chain(robot, frame)
    first = next(index for index, joint in enumerate(joints) if joint.parent == root)
    kept = joints[first:]
    names = {root, *(joint.child for joint in kept)}
    whole = robot.description
    part = replace(
        whole,
        name=f"{whole.name} from {root} to {frame}",
        links=tuple(link for link in whole.links if link.name in names),
        joints=kept,
        frames=tuple(other for other in whole.frames if other.name == frame),
        configurations={},
        chains={},
        end_effectors={},
        collision_exclusions=(),
        base="fixed",
    )
    return kd.Robot(part)
