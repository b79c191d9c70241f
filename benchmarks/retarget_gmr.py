"""GMR's recipe (Y. Ze et al., "General Motion Retargeting", 2025), rebuilt: mink with DAQP, frame by frame.

Two stages for each frame, each of a step and up to ten more while the error falls by more than 1e-3. Tasks and weights
are those of its public configuration `bvh_lafan1_to_g1.json`: poses of pelvis, chest, thighs, shanks, feet, upper arms,
forearms and hands, fourteen in both stages; so are the damping (0.5, and 1 for each task) and the solver, DAQP. Its
velocity limit is off by default, and here. The first stage follows orientations and the positions of the feet, the
second all. Joint limits are kept; there are no velocity limits, no locked feet, no collision avoidance. Targets are
those of kinodyn, before feet are locked; limbs are turned with the trunk, and then to where they point.

As in GMR, a frame of the human is a dictionary of positions and quaternions; it is scaled about the pelvis, turned by
the offsets between the axes of human and robot, and moved to the ground before its targets are set. This belongs to
the time of a frame. Reading of files, the scaling of limbs and a report do not: GMR has its own ways of the first two.
"""

from __future__ import annotations

import mink
import numpy as np
from scipy.spatial.transform import Rotation

import kinodyn as kd
import mujoco_model
import pinocchio_model
from kinodyn.retarget.body import SIDES, Body, Limb, sole_corners
from kinodyn.retarget.human import axes_from, directions
from kinodyn.retarget.targets import CORNERS, Targets
from setups import Array

Frame = dict[str, tuple[Array, Array]]  # of a human: position and quaternion of each part

STEPS = 10
NO_OFFSET = np.zeros(3)  # [m]
MIN_PROGRESS = 1e-3
DT = 1.0 / 30.0
# weights of position and orientation in the two stages
FIRST = {
    "pelvis": (0.0, 10.0),
    "chest": (0.0, 100.0),
    "foot": (50.0, 10.0),
    "upper_arm": (0.0, 100.0),
    "limb": (0.0, 10.0),
}
SECOND = {
    "pelvis": (100.0, 5.0),
    "chest": (0.0, 10.0),
    "foot": (50.0, 10.0),
    "upper_arm": (5.0, 100.0),
    "limb": (10.0, 5.0),
}


class Gmr:
    """The recipe on one clip."""

    def __init__(self, body: Body, targets: Targets) -> None:
        self.robot = robot = body.robot
        self.poses, self.kinds = _poses(body, targets)
        self.model = mujoco_model.build(pinocchio_model.build(robot.description), tuple(self.poses))
        for joint in robot.joints[1:]:
            if joint.mimic is None and joint.q.stop - joint.q.start == 1:
                mine = self.model.joint(joint.name)
                mine.range[:] = robot.limits.lower[joint.q][0], robot.limits.upper[joint.q][0]
                self.model.jnt_limited[mine.id] = True
        self.root, self.scale = body.pelvis, targets.scale
        self.offsets = {name: Rotation.from_matrix(body.pose(name)[:3, :3]) for name in self.poses}
        self.limits = [mink.ConfigurationLimit(self.model)]
        self.stages = [self._tasks(weights) for weights in (FIRST, SECOND)]
        self.configuration = mink.Configuration(self.model)
        start = body.q.copy()
        start[3:7] = body.q[[6, 3, 4, 5]]
        self.configuration.update(start)

    def _tasks(self, weights: dict[str, tuple[float, float]]) -> dict[str, mink.FrameTask]:
        tasks = {}
        for name in self.poses:
            position, orientation = weights[self.kinds[name]]
            if position + orientation > 0:
                tasks[name] = mink.FrameTask(
                    name, "site", position_cost=position, orientation_cost=orientation, lm_damping=1.0
                )
        return tasks

    def run(self, human: list[Frame]) -> Array:
        """Solve all frames of a human, see `human`; return q (frames, nq)."""
        rows = np.empty((len(human), self.robot.nq))
        for t, frame in enumerate(human):
            self._set_targets(frame)
            for tasks in self.stages:
                self._stage(list(tasks.values()))
            rows[t] = self.configuration.q
        rows[:, 3:7] = rows[:, [4, 5, 6, 3]]
        return rows

    def human(self) -> list[Frame]:
        """Make the frames of the human that lead to the targets: positions [m] and quaternions, w first."""
        root = self.poses[self.root][:, :3, 3]
        parts = {}
        for name, T in self.poses.items():
            places = root / self.scale + (T[:, :3, 3] - root) / self.scale
            turned = Rotation.from_matrix(T[:, :3, :3]) * self.offsets[name].inv()
            parts[name] = places, turned.as_quat(scalar_first=True)
        return [{name: (p[t], r[t]) for name, (p, r) in parts.items()} for t in range(len(root))]

    def _set_targets(self, frame: Frame) -> None:
        """Scale a frame of the human about its root, turn it to the robot's axes, and set it as targets."""
        root = frame[self.root][0]
        moved = self.scale * root
        scaled = {name: (self.scale * (place - root) + moved, turn) for name, (place, turn) in frame.items()}
        for name, (place, turn) in scaled.items():
            turned = (Rotation.from_quat(turn, scalar_first=True) * self.offsets[name]).as_quat(scalar_first=True)
            shifted = place + Rotation.from_quat(turned, scalar_first=True).apply(NO_OFFSET)
            scaled[name] = shifted - NO_OFFSET, turned  # heights over the ground, which is at zero
        for tasks in self.stages:
            for name, task in tasks.items():
                place, turn = scaled[name]
                task.set_target(mink.SE3.from_rotation_and_translation(mink.SO3(turn), place))

    def _stage(self, tasks: list[mink.FrameTask]) -> None:
        before = self._error(tasks)
        for _ in range(1 + STEPS):
            velocity = mink.solve_ik(self.configuration, tasks, DT, "daqp", 5e-1, limits=self.limits)
            self.configuration.integrate_inplace(velocity, DT)
            after = self._error(tasks)
            if before - after < MIN_PROGRESS:
                return
            before = after

    def _error(self, tasks: list[mink.FrameTask]) -> float:
        return float(np.linalg.norm(np.concatenate([task.compute_error(self.configuration) for task in tasks])))


def _poses(body: Body, targets: Targets) -> tuple[dict[str, Array], dict[str, str]]:
    """Make target poses (frames, 4, 4) of frames of the robot, and their kinds."""
    points = dict(zip(targets.names, targets.positions[2 * CORNERS :], strict=True))
    R_pelvis = targets.pelvis[:, :3, :3] @ body.pose(body.pelvis)[:3, :3].T
    poses, kinds = {body.pelvis: targets.pelvis}, {body.pelvis: "pelvis"}
    hips = np.mean([leg.root for leg in body.legs.values()], axis=0)
    middle = 0.5 * (points["pelvis_0"] + points["pelvis_1"])
    if body.arms:
        left, right, low = (points[f"torso_{k}"] for k in range(3))
        chest = 0.5 * (left + right)
        R_torso = axes_from(chest - low, left - right)
        upright = body.pose(body.torso)
        shoulders = np.mean([arm.root for arm in body.arms.values()], axis=0)
        poses[body.torso] = _pose(R_torso @ upright[:3, :3], chest + R_torso @ (upright[:3, 3] - shoulders))
        kinds[body.torso] = "chest"
    for s, side in enumerate(SIDES):
        foot = body.feet[side]
        poses[foot.frame], kinds[foot.frame] = _foot(body, targets, s, side), "foot"
        leg = body.legs[side]
        hip = middle + R_pelvis @ (leg.root - hips)
        ankle = poses[foot.frame][:, :3, 3]
        knee = points[f"{side}_knee"]
        _add_limb(poses, kinds, body, leg, R_pelvis, (hip, knee, ankle), "limb")
        if body.arms:
            arm = body.arms[side]
            shoulder = chest + R_torso @ (arm.root - shoulders)
            elbow, wrist = points[f"{side}_elbow"], points[f"{side}_wrist"]
            _add_limb(poses, kinds, body, arm, R_torso, (shoulder, elbow, wrist), "upper_arm")
            R = poses[arm.middle][:, :3, :3] @ body.pose(arm.middle)[:3, :3].T
            poses[arm.links[-1]] = _pose(R @ body.pose(arm.links[-1])[:3, :3], wrist)
            kinds[arm.links[-1]] = "limb"
    return poses, kinds


def _foot(body: Body, targets: Targets, s: int, side: str) -> Array:
    """Make target poses (frames, 4, 4) of a foot."""
    corners = targets.reference[CORNERS * s : CORNERS * (s + 1)]
    forward = corners[2:].sum(axis=0) - corners[:2].sum(axis=0)
    left = corners[1::2].sum(axis=0) - corners[::2].sum(axis=0)
    R = axes_from(np.cross(forward, left), left)
    origin = corners.mean(axis=0) - R @ np.append(sole_corners(body, side).mean(axis=0), 0.0)
    return _pose(R, origin) @ kd.spatial.inverse(body.feet[side].T_frame_sole)


def _add_limb(
    poses: dict[str, Array],
    kinds: dict[str, str],
    body: Body,
    limb: Limb,
    R: Array,
    places: tuple[Array, ...],
    kind: str,
) -> None:
    """Add target poses of the upper and the lower part of a limb, which turn with R (frames, 3, 3) and then point."""
    upper = limb.links[max(limb.links.index(limb.middle) - 1, 0)]
    root, middle, tip = places
    R_upper = _pointed(R, limb.knee - limb.root, middle - root)
    R_lower = _pointed(R_upper, limb.tip - limb.knee, tip - middle)
    for link, turn, place, name in ((upper, R_upper, root, kind), (limb.middle, R_lower, middle, "limb")):
        poses[link], kinds[link] = _pose(turn @ body.pose(link)[:3, :3], place), name


def _pointed(R: Array, upright: Array, direction: Array) -> Array:
    """Turn orientations (frames, 3, 3) by least so that a vector of the upright posture points along a direction."""
    a, b = directions(R @ upright), directions(direction)
    axis = np.cross(a, b)
    sine, cosine = np.linalg.norm(axis, axis=1, keepdims=True), (a * b).sum(axis=1, keepdims=True)
    angle = np.arctan2(sine, cosine)
    return kd.spatial.exp3(axis / np.maximum(sine, 1e-12) * angle) @ R


def _pose(R: Array, p: Array) -> Array:
    T = np.tile(np.eye(4), (len(p), 1, 1))
    T[:, :3, :3], T[:, :3, 3] = R, p
    return T
