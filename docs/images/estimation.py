"""Draw the figure of the page "State estimation": python docs/images/estimation.py."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinodyn as kd

NOISE = {"q": 1e-4, "v": 1e-2, "gyro": 0.01, "accelerometer": 0.1, "gyro_bias": 0.005, "accelerometer_bias": 0.03}
SECONDS = 10.0


def draw() -> None:
    """Simulate a walk with state estimation, and compare the estimate with the truth."""
    robot = kd.load("humanoid")
    run = kd.walking.walk(robot, (0.3, 0.0, 0.0), duration=SECONDS, estimate=True, noise=NOISE, seed=1).recording
    q, v = (np.asarray(run.signals[name]) for name in ("q_estimated", "v_estimated"))
    errors = kd.estimation.base_errors(run.q, run.v, q, v)
    figure = Figure(figsize=(9.0, 7.0), layout="constrained")
    (sideways, tilt), (velocity, drift) = figure.subplots(2, 2)
    part = (run.time > 4.0) & (run.time < 5.6)
    for values, name, style in (
        (v, "estimate", {"lw": 3, "alpha": 0.5}),
        (run.v, "truth", {"ls": "--", "color": "black", "lw": 1}),
    ):
        sideways.plot(run.time[part], values[part, 1], label=name, **style)
    sideways.set(title="lateral velocity of the base", ylabel="[m/s]")
    sideways.legend(fontsize=8)
    tilt.plot(run.time, np.degrees(errors.tilt), lw=0.8)
    tilt.set(title="error of the tilt", ylabel="[deg]")
    for k, axis in enumerate("xyz"):
        velocity.plot(run.time, errors.velocity[:, k], lw=0.6, label=axis)
        drift.plot(run.time, 1e3 * errors.position[:, k], lw=1, label=axis)
    velocity.set(title="error of the velocity", ylabel="[m/s]")
    drift.set(title="error of the position", ylabel="[mm]")
    for axes in (sideways, tilt, velocity, drift):
        axes.set_xlabel("time [s]")
        axes.grid(alpha=0.3)
    for axes in (velocity, drift):
        axes.legend(fontsize=8)
    figure.savefig(Path(__file__).parent / "estimation.png", dpi=80)


if __name__ == "__main__":
    draw()
