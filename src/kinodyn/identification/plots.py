"""Plots of an identification. Matplotlib is imported on first use, because this takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kinodyn.identification.report import Figure, Identification


def plot_torques(result: Identification, path: str | None) -> Figure:
    """Plot a panel for each torque; see `Identification.plot`."""
    from matplotlib.figure import Figure as NewFigure

    names = result.labels()
    across = 1 if len(names) < 4 else 2 if len(names) < 13 else 4
    down = -(-len(names) // across)
    figure = NewFigure(figsize=(5.0 * across, 1.8 * down + 0.6), layout="constrained")
    panels = np.ravel(figure.subplots(down, across, squeeze=False))
    errors = result.residuals()
    for data, colour, held in ((result.train, "0.6", False), (result.test, "0.6", True)):
        predicted = result.predict(data)
        for k in range(len(names)):
            label = None if held else "measured"
            panels[k].plot(data.time, data.tau[:, k], ".", color=colour, markersize=2, label=label)
            panels[k].plot(data.time, predicted[:, k], "C0", linewidth=1, label=None if held else "predicted")
            if held:
                panels[k].axvspan(data.time[0], data.time[-1], color="C1", alpha=0.15, linewidth=0, label="held out")
    for name, error, panel in zip(names, errors, panels, strict=False):
        panel.set_title(f"{name}: rms {error:.3g} held out", fontsize="small")
        panel.tick_params(labelsize="small")
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    panels[0].legend(fontsize="x-small", loc="upper right")
    figure.supxlabel("time [s]")
    figure.supylabel("torque [N m] or force [N]")
    if path is not None:
        figure.savefig(path, dpi=100)
    return figure
