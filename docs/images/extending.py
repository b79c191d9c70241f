"""Draw the figures of the page "Extending", with the code of the page: python docs/images/extending.py."""

import re
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scene import HERE, arrow, label, show, take, triad

import kinodyn as kd


def page() -> dict[str, Any]:
    """Run the Python blocks of the page and return their variables."""
    text = (HERE.parent / "extending.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        exec(block, names)
    return names


def level(variables: dict[str, Any]) -> None:
    """Show the posture with both palms at the same height."""
    robot, q, target = variables["human"], variables["posture"].q, variables["target"]
    figure = Figure(figsize=(7, 5.4), layout="constrained")
    axes = figure.subplots()
    view = take(robot, q, lookat=(0.1, 0.0, 0.9), distance=2.5, azimuth=-160.0, alpha=0.85, size=(620, 800))
    show(axes, view)
    triad(axes, view, target, 0.15, ("", "", ""))
    label(axes, view.at(target[:3, 3]) + [62, -16], "target")
    right = kd.kinematics.pose(robot, q, "right_palm")[:3, 3]
    arrow(axes, view, target[:3, 3], right, "black", width=1.0)
    label(axes, view.at(0.5 * (right + target[:3, 3])) + [0, -14], "same height")
    figure.savefig(HERE / "level_hands.png", dpi=70, bbox_inches="tight")


def swing(variables: dict[str, Any]) -> None:
    """Show the swing-up of the pendulum."""
    run, top = variables["run"], variables["swing"].top
    figure = Figure(figsize=(12, 3.2), layout="constrained")
    angle, energy, torque = figure.subplots(1, 3)
    angle.plot(run.time, np.degrees(run.q[:, 0]))
    angle.set(title="angle", ylabel="[degrees], 90 is upright")
    energy.plot(run.time[:-1], run.signals["energy"][:-1], label="energy")
    energy.axhline(top, color="k", ls="--", lw=0.8, label="upright at rest")
    energy.set(title="energy", ylabel="[J]")
    energy.legend(fontsize=8)
    torque.plot(run.time, run.tau[:, 0])
    torque.set(title="torque", ylabel="[N m]")
    for axes in (angle, energy, torque):
        axes.set_xlabel("time [s]")
        axes.grid(alpha=0.3)
    figure.savefig(HERE / "swing_up.png", dpi=75, bbox_inches="tight")


if __name__ == "__main__":
    variables = page()
    level(variables)
    swing(variables)
