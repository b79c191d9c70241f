"""The arms and legs that inverse kinematics is measured on, and forward kinematics that share no code with a solver."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.model.chain import chain
from setups import Array

# Name -> robot, the link on which the chain begins (None: all of the robot), the frame that it carries.
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
class Turn:
    """A joint that turns by q about the unit vector `axis`, after the constant pose `T_before` (4, 4)."""

    T_before: Array
    axis: Array
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Chain:
    """A serial arm with nothing but turning joints, and the frame at its end."""

    name: str
    robot: kd.Robot
    frame: str

    @cached_property
    def turns(self) -> tuple[tuple[Turn, ...], Array]:
        """List the joints, constant poses merged, and give the pose (4, 4) of the frame after the last."""
        joints, T_last = chain(self.robot, self.frame)
        turns, T = [], np.eye(4)
        for joint in joints:
            T = T @ joint.T_parent_child
            if joint.kind == "fixed":
                continue
            if joint.kind not in ("revolute", "continuous") or joint.mimic is not None or joint.reference != 0.0:
                raise ValueError(f"joint {joint.name!r} of {self.name!r} is no plain turning joint")
            turns.append(Turn(T, np.asarray(joint.axis), joint.lower, joint.upper))
            T = np.eye(4)
        return tuple(turns), T @ T_last

    @property
    def middle(self) -> Array:
        """Give the configuration (nq,) midway between the limits, 0 for joints without."""
        lower, upper = self.robot.sampling_range()
        return np.asarray(0.5 * (lower + upper))

    def reachable(self, count: int, seed: int = 0) -> tuple[Array, Array]:
        """Draw configurations (count, nq) within the limits, and give the poses (count, 4, 4) that they reach."""
        q = self.robot.random(count, seed=seed)
        return q, self.pose(q)

    def pose(self, q: Array) -> Array:
        """Compute the frame's poses (..., 4, 4) in NumPy from the description alone, to judge all solvers alike."""
        turns, T_last = self.turns
        T = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
        for index, turn in enumerate(turns):
            T = T @ turn.T_before @ rotation(turn.axis, q[..., index])
        return np.asarray(T @ T_last)

    def error(self, q: Array, T_wanted: Array) -> Array:
        """Measure distance [m] and angle [rad] (..., 2) of configurations from their targets."""
        T = self.pose(q)
        distance = np.linalg.norm(T[..., :3, 3] - T_wanted[..., :3, 3], axis=-1)
        # turned by the angle a, a matrix changes by 2 sqrt(2) sin(a / 2) in the Frobenius norm
        change = np.linalg.norm(T[..., :3, :3] - T_wanted[..., :3, :3], axis=(-2, -1))
        return np.stack([distance, 2.0 * np.arcsin(np.minimum(change / np.sqrt(8.0), 1.0))], axis=-1)

    def within_limits(self, q: Array) -> NDArray[np.bool_]:
        """Tell which configurations keep all joint limits, to 1e-9."""
        limits = self.robot.limits
        return np.asarray(((q >= limits.lower - 1e-9) & (q <= limits.upper + 1e-9)).all(axis=-1))


def rotation(axis: Array, angle: Array) -> Array:
    """Turn by angles (...) about a unit vector: poses (..., 4, 4), by Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    sine, rest = np.sin(angle)[..., None, None], (1.0 - np.cos(angle))[..., None, None]
    T = np.zeros((*angle.shape, 4, 4))
    T[..., :3, :3] = np.eye(3) + sine * K + rest * (K @ K)
    T[..., 3, 3] = 1.0
    return T


def named(name: str) -> Chain:
    """Load a chain of `CHAINS` as a robot of its own with a fixed base."""
    source, root, frame = CHAINS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(source)
        return Chain(name, robot if root is None else cut(robot, root, frame), frame)


def cut(robot: kd.Robot, root: str, frame: str) -> kd.Robot:
    """Keep what lies between the link `root` and a frame."""
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
