"""The result of a walk."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.recording import Recording
from kinodyn.walking.biped import Biped
from kinodyn.walking.plots import draw_walk


@displayed
@dataclass(frozen=True, eq=False)
class WalkResult:
    """Result of a walk: the recording and its metrics.

    Attributes
    ----------
    body : Biped
    recording : Recording
    walked : bool
        Whether the robot stayed on its feet to the end and, with a goal or a distance, arrived.
    reason : str
        Why not, if it did not.
    fallen : float or None
        Time of the fall [s].
    commanded : (3,)
        Forward, lateral [m/s], turn [rad/s]; zero with a goal.
    distance : float
        Displacement of the CoM along the ground [m].
    speed, turning : float
        Mean velocity in the direction of the command [m/s] and mean turn rate [rad/s], from two seconds after the first
        step to the end of the command; over the second half of commands shorter than 2.5 s; NaN for those shorter than
        1 s. With a goal `speed` is the displacement until the last touchdown, over that time.
    heading_drift : float
        Deviation of the heading from the command in that time, or from the goal at the end [rad].
    steps : int
        Number of touchdowns.
    least_margin, mean_margin : float
        Margin of the measured zero moment point (ZMP) in the support polygon [m]; it can be negative for an instant at
        touchdown.
    com_error, foot_error, trunk_error : float
        RMS tracking error of the CoM [m] and the swing foot [m], RMS tilt of the trunk [rad].
    slip : float
        Maximum displacement of a corner of a sole while it touches the ground [m], from 40 ms after touchdown on.
    torques : dict
        Maximum torque of each joint as a fraction of its limit.
    cost_of_transport : float
        Absolute mechanical work over weight times distance; NaN below 0.1 m.
    real_time : float
        Simulated over elapsed time.
    tick, plan, mpc : (3,)
        Computation time of a control tick, of a plan, and of the MPC QP in it [s]: median, 99 %, longest.
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
        """Maximum torque as a fraction of its joint's limit."""
        return max(self.torques.values(), default=0.0)

    @check_types
    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Draw footprints, CoM and ZMP from above and over time.

        Parameters
        ----------
        path
            Image file to write; None only returns the figure.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return draw_walk(self.body, self.recording, self.steps, path)

    def summary(self) -> dict[str, Any]:
        """Return all metrics as plain numbers, ready for JSON; None where a value is not defined."""
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
        commanded = float(np.hypot(*self.commanded[:2]))
        joint = max(self.torques, key=self.torques.__getitem__, default="")
        lines = [
            f"{self.recording.robot}: " + ("walked" if self.walked else self.reason),
            f"  distance            {self.distance:8.2f} m in {self.steps} steps",
            f"  mean speed          {_shown(self.speed, '8.3f')} m/s, {commanded:g} commanded",
            f"  heading drift       {_shown(np.rad2deg(self.heading_drift), '8.2f')} degrees",
            f"  ZMP margin          {_shown(1e3 * self.mean_margin, '8.1f')} mm mean, "
            f"{_shown(1e3 * self.least_margin, '.1f')} mm least",
            f"  tracking, RMS       {_shown(1e3 * self.com_error, '8.1f')} mm CoM, "
            f"{_shown(1e3 * self.foot_error, '.1f')} mm swing foot, "
            f"{_shown(np.rad2deg(self.trunk_error), '.2f')} degrees trunk",
            f"  largest slip        {_shown(1e3 * self.slip, '8.2f')} mm",
            f"  largest torque      {_shown(100 * self.torque, '8.1f')} % of its limit, {joint}",
            f"  cost of transport   {_shown(self.cost_of_transport, '8.2f')}",
        ]
        return "\n".join(lines)


def _shown(value: float, form: str) -> str:
    """Format a metric; a walk that ended early has no speed, and one without a step no swing foot."""
    return format(value, form) if np.isfinite(value) else "not defined".rjust(len(format(0.0, form)))


_FIGURES = (
    *("distance", "speed", "turning", "heading_drift", "steps", "least_margin", "mean_margin"),
    *("com_error", "foot_error", "trunk_error", "slip", "torque", "cost_of_transport", "real_time"),
)
