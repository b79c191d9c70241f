"""Plots of trajectories. Matplotlib is imported only when one is drawn: importing it takes long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError, unknown_name
from kinodyn.spatial.lie import log_rotation
from kinodyn.trajectory.base import Figure, JointTrajectory
from kinodyn.trajectory.bounds import LimitLike, motion_bounds
from kinodyn.trajectory.cartesian.poses import PoseTrajectory
from kinodyn.trajectory.check import torque_function
from kinodyn.trajectory.extrema import sampling_times

LABELS = ("position [rad or m]", "velocity [1/s]", "acceleration [1/s²]", "jerk [1/s³]")
MAX_LEGEND_ENTRIES = 14


def plot_motion(
    motion: JointTrajectory,
    path: str | None,
    orders: Sequence[int],
    joints: Sequence[str] | None,
    torque: bool,
    limits: dict[str, LimitLike | None],
) -> Figure:
    """Plot one panel for each order; see `JointTrajectory.plot`."""
    space, columns = motion.space, _columns(motion, joints)
    if torque and space.robot is None:
        raise InputError("torques need a robot, and this trajectory has none")
    bounds = motion_bounds(space, **limits)
    figure, panels = _panels(len(orders) + int(torque))
    t = sampling_times(motion.knots, 600)
    infinite = np.full(space.nv, np.inf)
    tops = (infinite, bounds.velocity, bounds.acceleration, bounds.jerk)
    for panel, order in zip(panels, orders, strict=False):
        if order == 0:
            _draw_positions(panel, t, motion, columns, bounds.lower, bounds.upper)
        else:
            _draw(panel, t, motion(t, order)[:, columns], [space.names[i] for i in columns], tops[order][columns])
        panel.set_ylabel(LABELS[order], fontsize="small")
    if torque:
        assert space.robot is not None
        tau = torque_function(space.robot, motion)(t)[:, columns]
        _draw(panels[-1], t, tau, [space.names[i] for i in columns], bounds.torque[columns])
        panels[-1].set_ylabel("torque [N m or N]", fontsize="small")
    return _finish(figure, panels, path)


def plot_poses(motion: PoseTrajectory, path: str | None) -> Figure:
    """Plot position, orientation, velocities and accelerations; see `PoseTrajectory.plot`."""
    figure, panels = _panels(4)
    t = sampling_times(motion.knots, 600)
    T, rates = motion(t), [motion(t, order) for order in (1, 2)]
    angle = np.linalg.norm(log_rotation(T[0, :3, :3].T @ T[:, :3, :3]), axis=-1)
    _draw(panels[0], t, T[:, :3, 3], ["x", "y", "z"], None)
    _draw(panels[1], t, angle[:, None], ["rotation since the start"], None)
    for panel, rate, unit in zip(panels[2:], rates, ("/s", "/s²"), strict=True):
        norms = np.linalg.norm(rate.reshape(-1, 2, 3), axis=-1)
        _draw(panel, t, norms, [f"m{unit}", f"rad{unit}"], None)
    names = ("position [m]", "angle [rad]", "velocity", "acceleration")
    for panel, name in zip(panels, names, strict=True):
        panel.set_ylabel(name, fontsize="small")
        panel.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return _finish(figure, panels, path, legend=False)


def _panels(count: int) -> tuple[Figure, list[Any]]:
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=(9.0, 2.1 * count + 0.5), layout="constrained")
    return figure, list(np.ravel(figure.subplots(count, 1, sharex=True, squeeze=False)))


def _columns(motion: JointTrajectory, joints: Sequence[str] | None) -> list[int]:
    """Choose the velocity coordinates to plot: those of the given joints, or all that move."""
    names = motion.space.names
    if joints is not None:
        for name in joints:
            if name not in names:
                raise unknown_name("joint", name, names)
        return [names.index(name) for name in joints]
    t = sampling_times(motion.knots)
    moving = np.flatnonzero(np.abs(motion(t, 1)).max(axis=0) > 1e-9)
    return moving.tolist() if len(moving) else list(range(len(names)))


def _draw_positions(panel: Any, t: Array, motion: JointTrajectory, columns: list[int], low: Array, high: Array) -> None:
    """Plot joint positions with both limits; ball and floating joints by their displacement from the start."""
    space, q = motion.space, motion(t)
    displacement = space.difference(np.broadcast_to(q[0], q.shape), q)
    for i in columns:
        index = int(space.q_index[i])
        values = displacement[:, i] if index < 0 else q[:, index]
        (curve,) = panel.plot(t, values, linewidth=1.2, label=space.names[i] + (" (moved)" if index < 0 else ""))
        for limit in () if index < 0 else (low[index], high[index]):
            _limit_line(panel, curve, limit, values)


def _draw(panel: Any, t: Array, values: Array, names: list[str], limits: Array | None) -> None:
    for k, name in enumerate(names):
        (curve,) = panel.plot(t, values[:, k], linewidth=1.2, label=name)
        for sign in (1.0, -1.0) if limits is not None else ():
            assert limits is not None
            _limit_line(panel, curve, sign * limits[k], values)


def _limit_line(panel: Any, curve: Any, limit: float, values: Array) -> None:
    """Draw a dashed limit, unless it is so far away that it would flatten the curves."""
    if np.isfinite(limit) and abs(limit) < 5.0 * np.abs(values).max() + 1e-9:
        panel.axhline(limit, color=curve.get_color(), linestyle="--", linewidth=0.8, alpha=0.6)


def _finish(figure: Figure, panels: list[Any], path: str | None, legend: bool = True) -> Figure:
    for panel in panels:
        panel.tick_params(labelsize="small")
        panel.axhline(0.0, color="0.85", linewidth=0.8, zorder=0)
        panel.margins(x=0.0)
    handles, names = panels[0].get_legend_handles_labels()
    if legend and len(names) <= MAX_LEGEND_ENTRIES:
        panels[0].legend(handles, names, fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    panels[-1].set_xlabel("time [s]", fontsize="small")
    if path is not None:
        figure.savefig(path, dpi=100)
    return figure
