"""GMR's recipe (Y. Ze et al., "General Motion Retargeting", 2025), rebuilt: mink with DAQP, frame by frame.

Two stages for each frame, each of up to ten steps until the error changes by less than 1e-3: the first follows feet,
pelvis and chest, the second knees, elbows and wrists too. Joint limits are kept; there are no velocity limits, no
locked feet, no collision avoidance. Targets are those of kinodyn, before feet are locked.
"""

from __future__ import annotations

import mink
import numpy as np

import kinodyn as kd
import mujoco_model
import pinocchio_model
from kinodyn.retarget.body import SIDES, Body
from kinodyn.retarget.human import axes_from
from kinodyn.retarget.targets import CORNERS, Targets, sole_corners
from setups import Array

STEPS = 10
MIN_PROGRESS = 1e-3
DT = 1.0 / 30.0
# weights of position and orientation in the two stages
FIRST = {"foot": (50.0, 10.0), "trunk": (50.0, 10.0), "limb": (0.0, 0.0)}
SECOND = {"foot": (50.0, 5.0), "trunk": (10.0, 5.0), "limb": (10.0, 0.0)}


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

    def run(self) -> Array:
        """Solve all frames; return q (frames, nq)."""
        frames = len(next(iter(self.poses.values())))
        rows = np.empty((frames, self.robot.nq))
        for t in range(frames):
            for tasks in self.stages:
                for name, task in tasks.items():
                    task.set_target(mink.SE3.from_matrix(self.poses[name][t]))
                self._stage(list(tasks.values()))
            rows[t] = self.configuration.q
        rows[:, 3:7] = rows[:, [4, 5, 6, 3]]
        return rows

    def _stage(self, tasks: list[mink.FrameTask]) -> None:
        before = self._error(tasks)
        for _ in range(STEPS):
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
    poses, kinds = {body.pelvis: targets.pelvis}, {body.pelvis: "trunk"}
    if body.arms:
        left, right, low = (points[f"torso_{k}"] for k in range(3))
        centre = 0.5 * (left + right)
        R = axes_from(centre - low, left - right)
        upright = body.pose(body.torso)
        shoulders = np.mean([arm.root for arm in body.arms.values()], axis=0)
        poses[body.torso] = _pose(R @ upright[:3, :3], centre + R @ (upright[:3, 3] - shoulders))
        kinds[body.torso] = "trunk"
    for s, side in enumerate(SIDES):
        corners = targets.reference[CORNERS * s : CORNERS * (s + 1)]
        forward, left = (
            corners[2:].sum(axis=0) - corners[:2].sum(axis=0),
            corners[1::2].sum(axis=0) - corners[::2].sum(axis=0),
        )
        R = axes_from(np.cross(forward, left), left)
        foot = body.feet[side]
        origin = corners.mean(axis=0) - R @ np.append(sole_corners(body, side).mean(axis=0), 0.0)
        poses[foot.frame] = _pose(R, origin) @ kd.spatial.inverse(foot.T_frame_sole)
        kinds[foot.frame] = "foot"
        limbs = [(body.legs[side].middle, f"{side}_knee")]
        if body.arms:
            limbs += [(body.arms[side].middle, f"{side}_elbow"), (body.arms[side].links[-1], f"{side}_wrist")]
        for link, name in limbs:
            poses[link] = _pose(np.broadcast_to(np.eye(3), (len(R), 3, 3)), points[name])
            kinds[link] = "limb"
    return poses, kinds


def _pose(R: Array, p: Array) -> Array:
    T = np.tile(np.eye(4), (len(p), 1, 1))
    T[:, :3, :3], T[:, :3, 3] = R, p
    return T
