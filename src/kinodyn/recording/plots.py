"""Plots of a recording. Matplotlib is imported on first use, because this takes long."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError, unknown_name
from kinodyn.recording.recording import Figure, Recording
from kinodyn.tables import WRENCH

MAX_PANELS = 96
UNITS = {"q": "[rad or m]", "v": "[rad/s or m/s]", "tau": "[N m or N]"}


def plot(
    recording: Recording,
    signals: Sequence[str],
    columns: Sequence[str] | None,
    path: str | os.PathLike[str] | None,
) -> Figure:
    """Plot a recording; see `Recording.plot`."""
    from matplotlib.figure import Figure as NewFigure

    groups = [_panels(recording, signal, columns) for signal in signals]
    if columns is not None and not any(groups):
        known = [name for signal in signals for name in _names(recording, signal)]
        raise unknown_name("column", ", ".join(columns), known)
    count = sum(len(group) for group in groups)
    if count > MAX_PANELS:
        raise InputError(f"{count} panels are too many for one figure, at most {MAX_PANELS} are drawn: choose columns=")
    # several signals of the same joints: a column of panels for each signal, a row for each joint
    side_by_side = len({len(group) for group in groups}) == 1 and len(groups) > 1 and len(groups[0]) > 1
    across = len(groups) if side_by_side else 1 if count < 2 else 2 if count < 7 else 3
    down = -(-count // across)
    figure = NewFigure(figsize=(4.5 * across, 2.0 * down + 0.5), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False, sharex=True)
    order = axes.T.ravel() if side_by_side else axes.ravel()
    for axis, panel in zip(order, (panel for group in groups for panel in group), strict=False):
        _draw(axis, recording.time, *panel)
    for axis in order[count:]:
        axis.set_visible(False)
    figure.supxlabel("time [s]")
    if path is not None:
        figure.savefig(path, dpi=100)
    return figure


def _names(recording: Recording, signal: str) -> Sequence[str]:
    array = recording.array(signal)
    if signal in ("q", "v", "tau"):
        return recording.q_names if signal == "q" else recording.v_names
    if signal.startswith("forces."):
        return WRENCH
    depth = len(recording.batch)
    shared = array.shape[1 : 1 + depth] == recording.batch
    return [",".join(map(str, index)) for index in np.ndindex(array.shape[1 + depth * shared :])]


def _panels(recording: Recording, signal: str, columns: Sequence[str] | None) -> list[tuple[str, Array, list[float]]]:
    """List the panels of one signal: title, lines (n, k), limits to draw."""
    names = _names(recording, signal)
    array = recording.array(signal).astype(float)
    if signal.startswith("contacts.") or array.size == 0:
        lines = array.reshape(len(recording), -1, 1)
    else:
        lines = array.reshape(len(recording), -1, len(names))
    panels = []
    for k, name in enumerate(names if lines.shape[-1] == len(names) else [""]):
        if columns is None or name in columns or (name == "" and signal in columns):
            title = f"{signal} {name} {UNITS.get(signal, '')}".strip()
            panels.append((title, lines[:, :, k], _limits(recording, signal, k)))
    return panels


def _limits(recording: Recording, signal: str, k: int) -> list[float]:
    names = {"q": ("lower", "upper"), "v": ("velocity",), "tau": ("effort",)}.get(signal, ())
    found = [float(recording.limits[name][k]) for name in names if name in recording.limits]
    both = found if signal == "q" else [sign * x for x in found for sign in (-1.0, 1.0)]
    return [x for x in both if np.isfinite(x)]


def _draw(axis: Any, time: Array, title: str, lines: Array, limits: list[float]) -> None:
    axis.plot(time, lines, linewidth=1, alpha=1.0 if lines.shape[1] == 1 else 0.5)
    low, high = axis.get_ylim()
    for limit in limits:
        # limits far from the motion would flatten the curves: the title names them instead
        if low - 2 * (high - low) <= limit <= high + 2 * (high - low):
            axis.axhline(limit, color="C3", linestyle="--", linewidth=1)
    outside = [f"{x:.3g}" for x in limits if not low - 2 * (high - low) <= x <= high + 2 * (high - low)]
    axis.set_title(title + (f", limit {', '.join(outside)}" if outside else ""), fontsize="small")
    axis.tick_params(labelsize="small")
