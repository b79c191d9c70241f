"""Figures of a walk for its report: ZMP margins, torques, and images of the robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.cli.plotting import plot_stick_figures
from kinodyn.errors import InputError
from kinodyn.sim.rendering import render_images

if TYPE_CHECKING:
    from kinodyn.walking import WalkResult

IMAGES = 7  # in the strip
ROW_STRIDE = 10  # rows of the recording between two points of a curve


def margins(result: WalkResult) -> Any:
    """Plot over time how far the measured ZMP is inside the support polygon."""
    from matplotlib.figure import Figure

    time, values = zmp_margins(result)
    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(time, 1e3 * values, lw=1)
    axes.axhline(0.0, color="tab:red", lw=1)
    axes.set(xlabel="time [s]", ylabel="margin [mm]", title="Distance of the ZMP from the edge of the support polygon")
    axes.grid(alpha=0.3)
    return figure


def zmp_margins(result: WalkResult) -> tuple[Array, Array]:
    """Return times (n,) [s] at which a foot bears weight, and distances (n,) [m] of the ZMP from the polygon's edge."""
    from kinodyn.balance import margin, support_polygon, zmp_from_wrenches

    body, recording = result.body, result.recording
    robot, feet = body.robot, list(body.feet.values())
    weight = robot.mass * float(np.linalg.norm(robot.gravity))
    stance = np.asarray(recording.signals["stance"]) > 0
    rows = np.arange(ROW_STRIDE, len(recording), ROW_STRIDE)
    loaded = sum(recording.forces[foot.frame][rows, 2] for foot in feet) > 0.1 * weight
    rows = rows[loaded & stance[rows].any(axis=1)]
    wrenches = {foot.frame: recording.forces[foot.frame][rows] for foot in feet}
    points = zmp_from_wrenches(robot, recording.q[rows], wrenches)
    found = []
    for k, point in zip(rows, points, strict=True):
        in_stance = [foot for foot, on in zip(feet, stance[k], strict=True) if on]
        found.append(float(margin(support_polygon(robot, recording.q[k], in_stance), point[:2])))
    return recording.time[rows], np.array(found)


def torques(result: WalkResult) -> Any:
    """Plot each joint's torque as a fraction of its limit over time, as a heat map."""
    from matplotlib.figure import Figure

    recording, robot = result.recording, result.body.robot
    limited = np.flatnonzero(np.isfinite(robot.limits.effort))
    fractions = np.abs(recording.tau[:, limited]) / robot.limits.effort[limited]
    names = [recording.v_names[k] for k in limited]
    figure = Figure(figsize=(9.0, 1.5 + 0.2 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    span = (recording.time[0], recording.time[-1], len(names) - 0.5, -0.5)
    image = axes.imshow(100.0 * fractions.T, aspect="auto", extent=span, vmin=0.0, vmax=100.0, cmap="magma_r")
    axes.set_yticks(range(len(names)), names, fontsize="x-small")
    axes.set(xlabel="time [s]", title="Torque as a fraction of its limit")
    figure.colorbar(image, ax=axes, label="% of limit")
    return figure


def strip(result: WalkResult) -> Any:
    """Show the robot at several times side by side: rendered by MuJoCo, or as stick figures where that fails."""
    recording, robot = result.recording, result.body.robot
    rows = np.linspace(0, len(recording) - 1, min(IMAGES, len(recording))).round().astype(int)
    q, times = recording.q[rows], recording.time[rows].tolist()
    try:
        return _image_strip(render_images(robot, q, size=(240, 360)), times)
    except InputError as cause:
        figure = plot_stick_figures(robot, q, times)
        figure.suptitle(f"stick figures: {cause}"[:110], fontsize="x-small")
        return figure


def _image_strip(images: Any, times: list[float]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.5 * len(images), 2.6), layout="constrained")
    for panel, image, t in zip(figure.subplots(1, len(images), squeeze=False)[0], images, times, strict=True):
        panel.imshow(image)
        panel.set_title(f"{t:.2f} s", fontsize="small")
        panel.axis("off")
    return figure
