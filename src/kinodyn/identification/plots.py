"""Plots of an identification. Matplotlib is imported on first use, because this takes long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from kinodyn.arrays import Array
from kinodyn.identification.measurements import Measurements

Figure: TypeAlias = Any  # of matplotlib


def plot_torques(
    names: Sequence[str],
    train: tuple[Measurements, Array],
    test: tuple[Measurements, Array],
    *,
    errors: Array,
    path: str | None,
) -> Figure:
    """Plot a panel for each torque of the fitted and the held-out samples, each with its predictions (n, nv)."""
    from matplotlib.figure import Figure as NewFigure

    across = 1 if len(names) < 4 else 2 if len(names) < 13 else 4
    down = -(-len(names) // across)
    figure = NewFigure(figsize=(5.0 * across, 1.8 * down + 0.6), layout="constrained")
    panels = np.ravel(figure.subplots(down, across, squeeze=False))
    span = test[0].time[[0, -1]]
    for k, (name, panel) in enumerate(zip(names, panels, strict=False)):
        for (data, predicted), labels in ((train, ("measured", "predicted")), (test, (None, None))):
            panel.plot(data.time, data.tau[:, k], ".", color="0.6", markersize=2, label=labels[0])
            panel.plot(data.time, predicted[:, k], "C0", linewidth=1, label=labels[1])
        panel.axvspan(*span, color="C1", alpha=0.15, linewidth=0, label="held out")
        panel.set_title(f"{name}: rms {errors[k]:.3g} held out", fontsize="small")
        panel.tick_params(labelsize="small")
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    panels[0].legend(fontsize="x-small", loc="upper right")
    figure.supxlabel("time [s]")
    figure.supylabel("torque [N m] or force [N]")
    if path is not None:
        figure.savefig(path, dpi=100)
    return figure
