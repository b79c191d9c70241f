"""Figures of the commands: stick figures, matrices, bar charts. Matplotlib is imported on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinodyn.arrays import Array

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot

MAX_AXES = 40  # frames whose axes are drawn


def link_segments(robot: Robot, q: Array) -> Array:
    """Return line segments (n, 2, 3) [m] from each joint to the next at a configuration (nq,)."""
    from kinodyn import kinematics

    places = dict(zip(robot.frame_names, kinematics.poses(robot, q)[:, :3, 3], strict=True))
    free = {joint.child for joint in robot.joints if joint.kind == "floating"}
    links = [(joint.parent, joint.child) for joint in robot.description.joints if joint.child not in free]
    frames = [(frame.link, frame.name) for frame in robot.description.frames]
    return np.array([[places[a], places[b]] for a, b in (*links, *frames)]).reshape(-1, 2, 3)


def plot_robot(robot: Robot, q: Array, frames: Sequence[str] = ()) -> Any:
    """Draw a robot as a stick figure in 3D, with the axes of some frames."""
    from matplotlib.figure import Figure

    from kinodyn import kinematics

    figure = Figure(figsize=(6.0, 6.0), layout="constrained")
    axes = figure.add_subplot(projection="3d")
    lines = link_segments(robot, q)
    for line in lines:
        axes.plot(*line.T, "-o", color="0.35", lw=2.5, ms=3)
    size = 0.12 * max(float(np.ptp(lines.reshape(-1, 3), axis=0).max()), 0.1)
    for frame in frames[:MAX_AXES]:
        T = kinematics.pose(robot, q, frame)
        for k, colour in enumerate(("tab:red", "tab:green", "tab:blue")):
            axes.plot(*np.stack([T[:3, 3], T[:3, 3] + size * T[:3, k]]).T, color=colour, lw=2)
    for name in "xyz":
        getattr(axes, f"set_{name}label")(f"{name} [m]")
    axes.set_title(robot.name)
    axes.axis("equal")
    return figure


def plot_stick_figures(robot: Robot, q: Array, times: Sequence[float], *, turn: float = 0.0) -> Any:
    """Draw configurations (n, nq) side by side as stick figures, seen from the side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.7 * len(q), 3.4), layout="constrained")
    panels = figure.subplots(1, len(q), sharex=True, sharey=True, squeeze=False)[0]
    forward = np.array([np.cos(turn), np.sin(turn), 0.0])
    for panel, row, t in zip(panels, q, times, strict=True):
        lines = link_segments(robot, row)
        along = lines @ forward - (lines @ forward).mean()
        order = np.argsort(lines.mean(axis=1) @ np.array([-forward[1], forward[0], 0.0]))[::-1]
        for k in order:
            panel.plot(along[k], lines[k, :, 2], color="0.25", lw=2, solid_capstyle="round")
        panel.axhline(0.0, color="0.6", lw=1)
        panel.set(aspect="equal", title=f"{t:.2f} s")
        panel.axis("off")
    return figure


def plot_matrix(title: str, values: Array, rows: Sequence[str], columns: Sequence[str]) -> Any:
    """Draw a matrix as coloured cells."""
    from matplotlib.figure import Figure

    size = (1.5 + 0.3 * values.shape[1], 1.2 + 0.3 * values.shape[0])
    figure = Figure(figsize=tuple(np.clip(size, 4.0, 16.0)), layout="constrained")
    axes = figure.add_subplot()
    bound = max(float(np.abs(values).max(initial=0.0)), 1e-12)
    image = axes.imshow(values, cmap="RdBu_r", vmin=-bound, vmax=bound)
    axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize="small")
    axes.set_yticks(range(len(rows)), rows, fontsize="small")
    axes.set_title(title)
    figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def plot_bars(title: str, names: Sequence[str], values: Array, unit: str) -> Any:
    """Draw a horizontal bar chart."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 1.2 + 0.25 * len(names)), layout="constrained")
    axes = figure.add_subplot()
    axes.barh(range(len(names)), values)
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.invert_yaxis()
    axes.set(title=title, xlabel=unit)
    axes.grid(axis="x", alpha=0.3)
    return figure
