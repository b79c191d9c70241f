"""Plots of a joint path. Matplotlib is slow to import, so it is imported only when a plot is drawn."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.tracking.result import Axes, TrackResult

MIN_MOTION = 1e-6  # joints that move less are not plotted [rad or m]


def plot_joints(track: TrackResult, path: tuple[int, ...], ax: Axes | None) -> Axes:
    """Plot the joints over the samples; see `TrackResult.plot`."""
    batch = track.success.shape
    valid = isinstance(path, tuple) and len(path) == len(batch)
    if not valid or any(not -n <= i < n for i, n in zip(path, batch, strict=True)):
        raise InputError(f"path must be the index of one path in a batch of shape {batch}, got {path!r}")
    ax = _new_axes() if ax is None else ax
    q, reached = track.q[path], int(track.reached[path])
    for joint in track.robot.joints:
        for i in range(joint.q.start, joint.q.stop):
            if reached and np.ptp(q[:reached, i]) > MIN_MOTION:
                limits = track.robot.limits.lower[i], track.robot.limits.upper[i]
                _draw(ax, q[:, i], limits, joint.name)
    if not track.success[path]:
        ax.axvline(reached, color="red", label=str(track.status[path]))
    ax.set_xlim(0, max(1, len(q) - 1))
    ax.set_xlabel("sample")
    ax.set_ylabel("joint [rad or m]")
    ax.set_title(f"{track.robot.name}: {track.frame}, {reached} of {len(q)} samples")
    if ax.get_legend_handles_labels()[1]:
        ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _draw(ax: Axes, values: Array, limits: tuple[float, float], name: str) -> None:
    (line,) = ax.plot(values, label=name)
    for limit in limits:
        if np.isfinite(limit):
            ax.axhline(limit, color=line.get_color(), linestyle="--", linewidth=0.8, alpha=0.6)


def _new_axes() -> Axes:
    from matplotlib import pyplot

    return pyplot.figure(figsize=(9.0, 5.0), layout="constrained").add_subplot()
