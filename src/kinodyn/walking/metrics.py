"""Metrics of a walk, measured on its recording."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.polygon import margin
from kinodyn.balance.support import support_polygon
from kinodyn.recording import Recording
from kinodyn.walking.biped import Biped

SETTLING_TIME = 0.04  # [s] after touchdown in which a foot may still move
STARTING_TIME = 2.0  # [s] after the first step before the speed is measured
SHORTEST_MEASUREMENT = 0.5  # [s] of walking, of which a mean speed says something
TOUCHING = 2e-3  # [m] above the lowest corner of a sole, up to which another one touches the ground too
MIN_DISTANCE = 0.1  # [m] below which there is no cost of transport


class WalkMetrics:
    """Metrics of a recorded walk, up to a fall."""

    def __init__(self, body: Biped, recording: Recording, fallen: float | None) -> None:
        self.body, self.recording = body, recording
        self.end = len(recording)
        if fallen is not None:
            self.end = max(2, int(np.searchsorted(recording.time, fallen)))
        self.q, self.time = recording.q[: self.end], recording.time[: self.end]
        self.com = kinematics.com(body.robot, self.q)
        self.stance = self.signal("stance") > 0
        self.trunk = kinematics.pose(body.robot, self.q, body.trunk)[:, :3, :3]
        self.upright = body.T_world_trunk[:3, :3]
        turned = self.trunk @ self.upright.T  # since the stance
        yaw = np.unwrap(np.arctan2(turned[:, 1, 0], turned[:, 0, 0]))
        self.yaw: Array = yaw - yaw[0]
        self.soles = {side: foot.sole_pose(body.robot, self.q) for side, foot in body.feet.items()}

    def signal(self, name: str) -> Array:
        """Return a recorded signal, up to a fall."""
        return np.asarray(self.recording.signals[name])[: self.end]

    def distance(self) -> float:
        """Measure the displacement of the CoM along the ground [m]."""
        return float(np.linalg.norm(self.com[-1, :2] - self.com[0, :2]))

    def steady(self, begin: float, end: float) -> NDArray[np.int_]:
        """Select the samples (n,) in which the speed is measured, for a command from `begin` to `end` [s].

        They begin `STARTING_TIME` after the command, or in its middle if it is shorter; none are selected if less than
        `SHORTEST_MEASUREMENT` remains.
        """
        short = end - begin < STARTING_TIME + SHORTEST_MEASUREMENT
        first = 0.5 * (begin + end) if short else begin + STARTING_TIME
        rows = np.flatnonzero((self.time >= first) & (self.time <= end))
        return rows if self.span(rows) >= SHORTEST_MEASUREMENT else rows[:0]

    def span(self, rows: NDArray[np.int_]) -> float:
        """Return the time between the first and the last of the samples [s]."""
        return float(self.time[rows[-1]] - self.time[rows[0]]) if len(rows) else 0.0

    def motion(self, commanded: Array, rows: NDArray[np.int_]) -> tuple[float, float]:
        """Measure the mean velocity in the direction of the command [m/s], and the mean turn rate [rad/s]."""
        if not len(rows):
            return float("nan"), float("nan")
        turning = mean_rate(self.time[rows], self.yaw[rows])
        if not commanded[:2].any():
            return 0.0, turning
        moved = np.diff(self.com[rows, :2], axis=0)
        return progress(moved, self.yaw[rows[:-1]], commanded) / self.span(rows), turning

    def goal_speed(self, begin: float) -> float:
        """Measure the displacement of the CoM along the ground until the last touchdown, over that time [m/s]."""
        touchdowns = np.flatnonzero((np.diff(self.stance.astype(int), axis=0) > 0).any(axis=1)) + 1
        last = self.time[touchdowns[-1]] if len(touchdowns) else begin
        rows = np.flatnonzero((self.time >= begin) & (self.time <= last))
        if self.span(rows) < SHORTEST_MEASUREMENT:
            return float("nan")
        return float(np.linalg.norm(self.com[rows[-1], :2] - self.com[rows[0], :2])) / self.span(rows)

    def progress(self, commanded: Array) -> float:
        """Measure the displacement of the CoM along the commanded path [m]; see `path_heading`."""
        moved = np.diff(self.com[:, :2], axis=0)
        return progress(moved, path_heading(self.yaw[:-1], commanded), commanded)

    def steps(self) -> int:
        """Count touchdowns."""
        return int((np.diff(self.stance.astype(int), axis=0) > 0).sum())

    def margins(self) -> Array:
        """Measure the margin (n,) [m] of the ZMP of the measured forces in the support polygon, 50 times a second.

        On feet at different heights it is the mean of the ZMPs in the planes of the feet, weighted with their loads.
        """
        recording, feet, rows = self.recording, list(self.body.feet.values()), np.arange(10, self.end, 10)
        pressed = sum(recording.forces[foot.frame][rows, 2] for foot in feet) > 0.1 * self.body.weight
        rows = rows[pressed]
        points = self._zmp(rows)
        found = []
        for k, point in zip(rows, points, strict=True):
            standing = [foot for foot, on in zip(feet, self.stance[k], strict=True) if on]
            if standing:
                found.append(float(margin(support_polygon(self.body.robot, recording.q[k], standing), point)))
        return np.array(found)

    def _zmp(self, rows: NDArray[np.int_]) -> Array:
        """Compute the ZMP (n, 2) of the feet together [m]."""
        moments, loads = np.zeros((len(rows), 2)), np.zeros((len(rows), 1))
        for side, foot in self.body.feet.items():
            wrench = self.recording.forces[foot.frame][rows]
            p = kinematics.pose(self.body.robot, self.recording.q[rows], foot.frame)[:, :3, 3]
            drop = (self.soles[side][rows, 2, 3] - p[:, 2])[:, None]
            tilting = np.column_stack([-wrench[:, 4], wrench[:, 3]])
            moments += wrench[:, 2:3] * p[:, :2] + tilting + drop * wrench[:, :2]
            loads += wrench[:, 2:3]
        return np.asarray(moments / loads)

    def slip(self) -> float:
        """Measure the largest displacement along the ground of a corner of a sole while it touches the ground [m].

        A foot that rolls over its toes does not slip: its heel has left the ground.
        """
        worst, settling_samples = 0.0, max(1, round(SETTLING_TIME / float(self.time[1] - self.time[0])))
        for column, (side, T) in zip(self.stance.T, self.soles.items(), strict=True):
            corners = np.column_stack([self.body.feet[side].corners, np.zeros(len(self.body.feet[side].corners))])
            for begin, end in _stretches(column):
                poses = T[begin + settling_samples : end]
                points = corners @ np.swapaxes(poses[:, :3, :3], 1, 2) + poses[:, None, :3, 3]
                if len(points):
                    worst = max(worst, sliding(points, np.median(poses[:, :3, 2], axis=0)))
        return worst

    def tracking(self) -> tuple[float, float, float]:
        """Measure the RMS tracking errors of CoM [m], swing foot [m] and tilt of the trunk [rad]."""
        com = np.linalg.norm((self.com - self.signal("com_reference"))[:, :2], axis=-1)
        foot = [
            np.linalg.norm(self.soles[side][:, :3, 3] - self.signal(f"{side}_reference"), axis=-1)[~column]
            for side, column in zip(self.soles, self.stance.T, strict=True)
        ]
        up = self.trunk @ self.upright[2]
        tilt = np.arccos(np.clip(up[:, 2], -1.0, 1.0))
        return _rms(com), _rms(np.concatenate(foot)), _rms(tilt)

    def torques(self) -> dict[str, float]:
        """Find the largest torque of each joint as a fraction of its limit."""
        robot = self.body.robot
        largest = np.abs(self.recording.tau[: self.end]).max(axis=0)
        shares = largest / np.where(
            largest > 0.0, robot.limits.effort, 1.0
        )  # joints without a motor have none of either
        return {
            joint.name: float(shares[joint.v.start])
            for joint in robot.joints
            if joint.mimic is None and joint.v.stop - joint.v.start == 1
        }

    def cost_of_transport(self) -> float:
        """Compute absolute mechanical work over weight times distance; NaN for short distances."""
        distance = self.distance()
        if distance < MIN_DISTANCE:
            return float("nan")
        power = np.abs(self.recording.tau[: self.end] * self.recording.v[: self.end]).sum(axis=-1)
        return float(power @ np.gradient(self.time) / (self.body.weight * distance))

    def goal_offset(self, goal: Array) -> tuple[float, float]:
        """Measure the final distance of the centre between the soles from a goal (3,) [m], and its yaw error [rad]."""
        feet = self.body.feet
        centre = 0.5 * sum(T[-1, :2, 3] + T[-1, :2, :2] @ feet[side].middle for side, T in self.soles.items())
        yaw = float(self.yaw[-1] - goal[2])
        return float(np.hypot(*(centre - goal[:2]))), float(np.arctan2(np.sin(yaw), np.cos(yaw)))


def path_heading(yaw: Array, commanded: Array) -> Array:
    """Return the heading of the commanded path [rad] for yaw angles (...) of the robot since the start.

    A path without turn is straight, whatever the heading of the robot; one with a turn goes where the robot heads.
    """
    return np.asarray(yaw if commanded[2] else np.zeros_like(yaw))


def progress(moved: Array, heading: Array, commanded: Array) -> float:
    """Sum displacements (n, 2) [m] in the direction of a velocity (3,) at headings (n,) [rad]: backward is negative."""
    (vx, vy), speed = commanded[:2], float(np.hypot(*commanded[:2]))
    c, s = np.cos(heading), np.sin(heading)
    along = np.column_stack([c * vx - s * vy, s * vx + c * vy]) / speed
    return float((moved * along).sum())


def sliding(points: Array, normal: Array) -> float:
    """Measure the largest displacement of points (n, k, 3) of a sole along the ground while they touch it [m].

    `normal` (3,) is that of the ground. Those touch it that are at most `TOUCHING` higher than the lowest one.
    """
    worst, height = 0.0, points @ normal
    touching = height <= height.min(axis=1, keepdims=True) + TOUCHING
    for k in range(points.shape[1]):
        for begin, end in _stretches(touching[:, k]):
            along = points[begin:end, k, :2] - points[begin, k, :2]
            worst = max(worst, float(np.linalg.norm(along, axis=-1).max()))
    return worst


def fall_time(body: Biped, recording: Recording, fall_height: float) -> float | None:
    """Find when the true CoM fell below a fraction of its height above the feet [s]; an estimate may not notice."""
    q = np.vstack([body.q, recording.q])
    feet = np.min([kinematics.pose(body.robot, q, foot.frame)[:, 2, 3] for foot in body.feet.values()], axis=0)
    height = kinematics.com(body.robot, q)[:, 2] - feet
    low = np.flatnonzero(height[1:] < fall_height * height[0])
    return float(recording.time[low[0]]) if len(low) else None


def _stretches(on: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """List the ranges of consecutive True values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def mean_rate(t: Array, values: Array) -> float:
    """Fit a line and return its slope: the yaw of a trunk oscillates in each step, by 5 degrees in a fast turn."""
    centred = t - t.mean()
    return float(centred @ (values - values.mean()) / (centred @ centred))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0
