"""Draw the figure of the page "Trajectories": python docs/images/trajectories.py."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinodyn as kd

WAYPOINTS = np.array([[0.0], [0.5], [1.5], [1.2]])  # [rad]
VELOCITY, ACCELERATION, JERK = 1.0, 2.5, 15.0  # limits [rad/s, rad/s^2, rad/s^3]


def stop_and_go() -> tuple[np.ndarray, np.ndarray]:
    """Sample trapezoids from waypoint to waypoint: times (n,), and position, velocity, acceleration (n, 3)."""
    time, rows, start = [], [], 0.0
    for q0, q1 in zip(WAYPOINTS[:-1], WAYPOINTS[1:], strict=True):
        piece = kd.trajectory.trapezoid(q0, q1, velocity=VELOCITY, acceleration=ACCELERATION)
        own, values = sample(piece)
        time.append(start + own)
        rows.append(values)
        start += piece.duration
    return np.concatenate(time), np.concatenate(rows)


def sample(trajectory: kd.trajectory.JointTrajectory) -> tuple[np.ndarray, np.ndarray]:
    """Sample one trajectory: times (n,), and position, velocity, acceleration (n, 3)."""
    time = np.linspace(0.0, trajectory.duration, 1000)
    return time, np.column_stack([trajectory(time, order)[:, 0] for order in range(3)])


def draw() -> None:
    """Show one joint through the same waypoints by four methods."""
    limits = {"velocity": VELOCITY, "acceleration": ACCELERATION}
    curves = {
        "quintic_spline (least jerk)": sample(kd.trajectory.quintic_spline(WAYPOINTS, **limits)),
        "trapezoid, stopping": stop_and_go(),
        f"jerk_limited_waypoints, jerk {JERK:g}": sample(
            kd.trajectory.jerk_limited_waypoints(WAYPOINTS, jerk=JERK, **limits).trajectory
        ),
        "time_optimal along the spline": sample(kd.trajectory.time_optimal(WAYPOINTS, **limits).trajectory),
    }
    figure = Figure(figsize=(10.0, 7.4), layout="constrained")
    panels = figure.subplots(3, 1, sharex=True)
    for name, (time, rows) in curves.items():
        for axes, values in zip(panels, rows.T, strict=True):
            axes.plot(time, values, lw=1.4, label=f"{name}: {time[-1]:.2f} s")
    for axes, limit in zip(panels[1:], (VELOCITY, ACCELERATION), strict=True):
        for side in (-limit, limit):
            axes.axhline(side, color="black", lw=0.7, ls="--")
    for waypoint in WAYPOINTS[:, 0]:
        panels[0].axhline(waypoint, color="0.8", lw=0.8, zorder=0)
    panels[0].legend(fontsize=8, loc="lower right")
    for axes, label in zip(panels, ("position [rad]", "velocity [rad/s]", "acceleration [rad/s²]"), strict=True):
        axes.set_ylabel(label)
        axes.margins(x=0.0)
    panels[-1].set_xlabel("time [s]")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=80)


if __name__ == "__main__":
    draw()
