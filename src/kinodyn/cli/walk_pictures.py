"""Pictures of a walk for its report: margins, torques, and a strip of the robot itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.cli.pictures import stick_strip
from kinodyn.cli.rendering import render

if TYPE_CHECKING:
    from kinodyn.walking import WalkResult

PICTURES = 7  # in the strip
STEP = 10  # rows between two points of a curve


def margins(result: WalkResult) -> Any:
    """Draw how far inside the standing feet the measured zero moment point is, over time."""
    from matplotlib.figure import Figure

    time, values = zmp_margins(result)
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(time, 1e3 * values, lw=1)
    axes.axhline(0.0, color="tab:red", lw=1)
    axes.set(xlabel="time [s]", ylabel="margin [mm]", title="Zero moment point inside the feet that stand")
    axes.grid(alpha=0.3)
    return figure


def zmp_margins(result: WalkResult) -> tuple[Array, Array]:
    """Measure the margins: times (n,) [s] at which a foot bears weight, and distances (n,) from the edge [m]."""
    from kinodyn.balance import margin, support_polygon, zmp_from_wrenches

    body, recording = result.body, result.recording
    robot, feet = body.robot, list(body.feet.values())
    weight = robot.mass * float(np.linalg.norm(robot.gravity))
    stance = np.asarray(recording.signals["stance"]) > 0
    rows = np.arange(STEP, len(recording), STEP)
    pressed = sum(recording.forces[foot.frame][rows, 2] for foot in feet) > 0.1 * weight
    rows = rows[pressed & stance[rows].any(axis=1)]
    wrenches = {foot.frame: recording.forces[foot.frame][rows] for foot in feet}
    points = zmp_from_wrenches(robot, recording.q[rows], wrenches)
    found = []
    for k, point in zip(rows, points, strict=True):
        standing = [foot for foot, on in zip(feet, stance[k], strict=True) if on]
        found.append(float(margin(support_polygon(robot, recording.q[k], standing), point[:2])))
    return recording.time[rows], np.array(found)


def torques(result: WalkResult) -> Any:
    """Draw each joint's torque as a share of its limit, over time, as colours."""
    from matplotlib.figure import Figure

    recording, robot = result.recording, result.body.robot
    limited = np.flatnonzero(np.isfinite(robot.limits.effort))
    shares = np.abs(recording.tau[:, limited]) / robot.limits.effort[limited]
    names = [recording.v_names[k] for k in limited]
    figure = Figure(figsize=(9.0, 1.5 + 0.2 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    span = (recording.time[0], recording.time[-1], len(names) - 0.5, -0.5)
    image = axes.imshow(100.0 * shares.T, aspect="auto", extent=span, vmin=0.0, vmax=100.0, cmap="magma_r")
    axes.set_yticks(range(len(names)), names, fontsize="x-small")
    axes.set(xlabel="time [s]", title="Torque against its limit")
    figure.colorbar(image, ax=axes, label="% of limit")
    return figure


def strip(result: WalkResult) -> Any:
    """Draw the robot at several times side by side: by MuJoCo's renderer, or as sticks where that does not work."""
    recording, robot = result.recording, result.body.robot
    rows = np.linspace(0, len(recording) - 1, min(PICTURES, len(recording))).round().astype(int)
    q, times = recording.q[rows], recording.time[rows].tolist()
    pictures, reason = render(robot, q)
    if pictures is None:
        figure = stick_strip(robot, q, times)
        figure.suptitle(f"sticks, as MuJoCo cannot draw here: {reason}"[:110], fontsize="x-small")
        return figure
    return _photographs(pictures, times)


def _photographs(pictures: Any, times: list[float]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.5 * len(pictures), 2.6), layout="constrained")
    for panel, picture, t in zip(figure.subplots(1, len(pictures), squeeze=False)[0], pictures, times, strict=True):
        panel.imshow(picture)
        panel.set_title(f"{t:.2f} s", fontsize="small")
        panel.axis("off")
    return figure
