"""How well a walk went: what is measured on its recording."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.polygon import margin
from kinodyn.balance.support import support_polygon
from kinodyn.balance.zmp import zmp_from_wrenches
from kinodyn.recording import Recording
from kinodyn.walking.biped import Biped

SETTLED = 0.04  # [s] after a landing from which on a foot should not move any more
UNDER_WAY = 2.0  # [s] after the start from which on the speed is measured


@dataclass(frozen=True, eq=False)
class WalkResult:
    """How a walk went.

    Attributes
    ----------
    body : Biped
    recording : Recording
    walked : bool
        Whether it did what it was told: stayed on its feet to the end and, with a goal or a distance, arrived.
    reason : str
        Why it did not.
    fallen : float or None
        When it fell [s].
    commanded : (3,)
        Forward, sideways [m/s], turn [rad/s]; zero with a goal.
    distance : float
        How far the mass came [m].
    speed, turning : float
        Mean velocity in the direction of the command [m/s] and mean turn [rad/s], from two seconds after the start,
        when it is under way, to the end of the command; NaN of shorter walks.
    heading_drift : float
        What the heading changed beyond the command in that time, or its distance from that of the goal [rad].
    steps : int
        Landings.
    least_margin, mean_margin : float
        Distance of the measured zero moment point from the edge of the feet that stand [m]; negative: outside, as it
        can be for an instant at a landing.
    com_error, foot_error, trunk_error : float
        Root of the mean square of what the mass is off its plan [m], the swing foot its path [m], the trunk the
        vertical [rad].
    slip : float
        The farthest that a foot slid while it stood [m], from 40 ms after its landing on.
    torques : dict
        The largest torque of each joint as a share of its limit.
    cost_of_transport : float
        Mechanical work, taken positive, over weight times way; NaN below 0.1 m.
    real_time : float
        Simulated over elapsed time.
    tick, plan, mpc : (3,)
        Time of a control tick, of a plan, and of the predictive controller's programme in it [s]: median, 99 %,
        longest.
    """

    body: Biped
    recording: Recording
    walked: bool
    reason: str
    fallen: float | None
    commanded: Array
    distance: float
    speed: float
    turning: float
    heading_drift: float
    steps: int
    least_margin: float
    mean_margin: float
    com_error: float
    foot_error: float
    trunk_error: float
    slip: float
    torques: dict[str, float]
    cost_of_transport: float
    real_time: float
    tick: Array
    plan: Array
    mpc: Array

    @property
    def torque(self) -> float:
        """Give the largest torque as a share of its joint's limit."""
        return max(self.torques.values(), default=0.0)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw footsteps, mass and zero moment point from above and over time; returns matplotlib's figure."""
        from kinodyn.walking.plots import draw

        return draw(self, path)

    def summary(self) -> dict[str, Any]:
        """Give all figures as plain numbers, ready for JSON; None where something is not known."""
        figures: dict[str, Any] = {"robot": self.recording.robot, "walked": self.walked, "reason": self.reason}
        figures |= {"fallen": self.fallen, "commanded": self.commanded.tolist()}
        for name in _FIGURES:
            value = getattr(self, name)
            figures[name] = value if np.isfinite(value) else None
        for name in ("tick", "plan", "mpc"):
            for part, seconds in zip(("median", "99", "worst"), getattr(self, name).tolist(), strict=True):
                figures[f"{name}_{part}"] = seconds
        return figures | {"torques": dict(self.torques)}

    def __str__(self) -> str:
        wanted = float(np.hypot(*self.commanded[:2]))
        joint = max(self.torques, key=self.torques.__getitem__, default="")
        lines = [
            f"{self.recording.robot}: " + ("walked" if self.walked else self.reason),
            f"  distance            {self.distance:8.2f} m in {self.steps} steps",
            f"  mean speed          {self.speed:8.3f} m/s, {wanted:g} wanted",
            f"  heading             {np.rad2deg(self.heading_drift):8.2f} degrees off",
            f"  ZMP margin          {1e3 * self.mean_margin:8.1f} mm mean, {1e3 * self.least_margin:.1f} mm least",
            f"  tracking            {1e3 * self.com_error:8.1f} mm of the mass, {1e3 * self.foot_error:.1f} mm of the "
            f"swing foot, {np.rad2deg(self.trunk_error):.2f} degrees of the trunk",
            f"  largest slip        {1e3 * self.slip:8.2f} mm",
            f"  largest torque      {100 * self.torque:8.1f} % of its limit, {joint}",
            f"  cost of transport   {self.cost_of_transport:8.2f}",
            f"  real-time factor    {self.real_time:8.2f}",
        ]
        for name, words in (("tick", "control tick"), ("plan", "plan"), ("mpc", "MPC programme")):
            middle, most, longest = (1e3 * getattr(self, name)).tolist()
            lines.append(f"  {words:<20}{middle:8.2f} ms median, {most:.2f} ms at 99 %, {longest:.2f} ms longest")
        return "\n".join(lines)


_FIGURES = (
    *("distance", "speed", "turning", "heading_drift", "steps", "least_margin", "mean_margin"),
    *("com_error", "foot_error", "trunk_error", "slip", "torque", "cost_of_transport", "real_time"),
)


class Judge:
    """Measures a recording, up to a fall."""

    def __init__(self, body: Biped, recording: Recording, fallen: float | None) -> None:
        self.body, self.recording = body, recording
        self.upto = len(recording)
        if fallen is not None:
            self.upto = max(2, int(np.searchsorted(recording.time, fallen)))
        self.q, self.time = recording.q[: self.upto], recording.time[: self.upto]
        self.com = kinematics.com(body.robot, self.q)
        self.stance = self.signal("stance") > 0
        x, y, z, w = self.q[:, 3:7].T
        turned = np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
        self.yaw: Array = turned - turned[0]
        self.soles = {side: foot.sole_pose(body.robot, self.q) for side, foot in body.feet.items()}

    def signal(self, name: str) -> Array:
        """Give a recorded signal, up to a fall."""
        return np.asarray(self.recording.signals[name])[: self.upto]

    def distance(self) -> float:
        """Measure how far the mass came [m]."""
        return float(np.linalg.norm(self.com[-1, :2] - self.com[0, :2]))

    def motion(self, commanded: Array, begin: float, end: float) -> tuple[float, float]:
        """Measure the mean velocity in the direction of the command, and the mean turn, between two times."""
        rows = np.flatnonzero((self.time >= begin + UNDER_WAY) & (self.time <= end))
        if len(rows) < 2 or self.time[rows[-1]] - self.time[rows[0]] < 0.5:
            return float("nan"), float("nan")
        t = self.time[rows[-1]] - self.time[rows[0]]
        turning = float(self.yaw[rows[-1]] - self.yaw[rows[0]]) / t
        way, length = commanded[:2], float(np.hypot(*commanded[:2]))
        if length == 0:
            return 0.0, turning
        c, s = np.cos(self.yaw[rows]), np.sin(self.yaw[rows])
        along = np.column_stack([c * way[0] - s * way[1], s * way[0] + c * way[1]]) / length
        moved = np.diff(self.com[rows, :2], axis=0)
        return float((moved * along[:-1]).sum() / t), turning

    def steps(self) -> int:
        """Count landings."""
        return int((np.diff(self.stance.astype(int), axis=0) > 0).sum())

    def margins(self) -> Array:
        """Measure, fifty times a second, how far the zero moment point of the measured forces is inside the feet."""
        recording, feet, rows = self.recording, list(self.body.feet.values()), np.arange(10, self.upto, 10)
        weight = self.body.robot.mass * float(np.linalg.norm(self.body.robot.gravity))
        pressed = sum(recording.forces[foot.frame][rows, 2] for foot in feet) > 0.1 * weight
        rows = rows[pressed]
        wrenches = {foot.frame: recording.forces[foot.frame][rows] for foot in feet}
        points = zmp_from_wrenches(self.body.robot, recording.q[rows], wrenches)
        found = []
        for k, point in zip(rows, points, strict=True):
            standing = [foot for foot, on in zip(feet, self.stance[k], strict=True) if on]
            if standing:
                found.append(float(margin(support_polygon(self.body.robot, recording.q[k], standing), point[:2])))
        return np.array(found)

    def slip(self) -> float:
        """Find the farthest that a sole moved along the ground during one stance [m]."""
        worst, settle = 0.0, max(1, round(SETTLED / float(self.time[1] - self.time[0])))
        for column, T in zip(self.stance.T, self.soles.values(), strict=True):
            for begin, end in _stretches(column):
                place = T[begin + settle : end, :2, 3]
                if len(place):
                    worst = max(worst, float(np.linalg.norm(place - place[0], axis=-1).max()))
        return worst

    def tracking(self) -> tuple[float, float, float]:
        """Measure how far mass [m], swing foot [m] and trunk [rad] are off: roots of mean squares."""
        com = np.linalg.norm((self.com - self.signal("com_reference"))[:, :2], axis=-1)
        foot = [
            np.linalg.norm(self.soles[side][:, :3, 3] - self.signal(f"{side}_reference"), axis=-1)[~column]
            for side, column in zip(self.soles, self.stance.T, strict=True)
        ]
        up = (
            kinematics.pose(self.body.robot, self.q, self.body.robot.joints[0].child)[:, :3, :3] @ self.body.base[2, :3]
        )
        tilt = np.arccos(np.clip(up[:, 2], -1.0, 1.0))
        return _rms(com), _rms(np.concatenate(foot)), _rms(tilt)

    def torques(self) -> dict[str, float]:
        """Find the largest torque of each joint as a share of its limit."""
        robot = self.body.robot
        shares = np.abs(self.recording.tau[: self.upto]).max(axis=0) / robot.limits.effort
        return {
            joint.name: float(shares[joint.v.start])
            for joint in robot.joints
            if joint.mimic is None and joint.v.stop - joint.v.start == 1
        }

    def cost_of_transport(self, weight: float) -> float:
        """Compare mechanical work, taken positive, with weight times way."""
        distance = self.distance()
        if distance < 0.1:
            return float("nan")
        power = np.abs(self.recording.tau[: self.upto] * self.recording.v[: self.upto]).sum(axis=-1)
        return float(power @ np.gradient(self.time) / (weight * distance))


def _stretches(on: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """List the ranges of rows that are on."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0
