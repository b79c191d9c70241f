"""Plots of walks and push maps. Matplotlib is imported when a plot is drawn, because that is slow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.recording import Recording
from kinodyn.walking.biped import Biped

COLOURS = {"left": "tab:blue", "right": "tab:orange"}


class SurvivedPushes(Protocol):
    """What is drawn of a `PushMap`, whose attributes these are."""

    @property
    def robot(self) -> str: ...  # noqa: D102
    @property
    def condition(self) -> str: ...  # noqa: D102
    @property
    def directions(self) -> Array: ...  # noqa: D102
    @property
    def survived(self) -> Array: ...  # noqa: D102
    @property
    def bound(self) -> Array: ...  # noqa: D102


def draw_walk(body: Biped, recording: Recording, steps: int, path: str | os.PathLike[str] | None) -> Any:
    """Draw footprints, CoM and ZMP from above, then lateral motion and normal forces over time."""
    from matplotlib.figure import Figure

    robot, t, q = body.robot, recording.time, recording.q
    figure = Figure(figsize=(9.0, 8.0), layout="constrained")
    above, sideways, load = figure.subplots(3, 1, height_ratios=(1.2, 1.0, 1.0))
    com = kinematics.com(robot, q)
    stance = np.asarray(recording.signals["stance"]) > 0
    for k, (side, foot) in enumerate(body.feet.items()):
        landed = np.flatnonzero(np.diff(np.concatenate([[0], stance[:, k].astype(int)])) > 0)
        for row in np.minimum(landed + 50, len(t) - 1):
            T = foot.sole_pose(robot, q[row])
            outline = foot.corners @ T[:2, :2].T + T[:2, 3]
            above.fill(*outline.T, color=COLOURS[side], alpha=0.3, lw=0)
        above.plot(*foot.sole_pose(robot, q)[:, :2, 3].T, ":", color=COLOURS[side], lw=1)
        load.plot(t, recording.forces[foot.frame][:, 2], color=COLOURS[side], lw=1, label=f"{side} foot")
    zmp = np.asarray(recording.signals["zmp_reference"])
    above.plot(*zmp.T, "k.", ms=1, label="ZMP reference")
    above.plot(*com[:, :2].T, color="tab:red", lw=2, label="CoM")
    for values, colour in ((zmp, "black"), (com, "tab:red")):
        sideways.plot(t, values[:, 1], color=colour, lw=1)
    above.set_aspect("equal", adjustable="datalim")
    above.set(xlabel="x [m]", ylabel="y [m]", title=f"{recording.robot}: {steps} steps")
    sideways.set(ylabel="y [m]")
    load.set(xlabel="time [s]", ylabel="normal force [N]")
    above.legend(loc="lower right", fontsize="small", ncols=2)
    load.legend(loc="upper right", fontsize="small")
    for axis in (above, sideways, load):
        axis.grid(alpha=0.3)
    if path is not None:
        figure.savefig(path, dpi=90)
    return figure


def draw_pushes(maps: Sequence[SurvivedPushes], path: str | os.PathLike[str] | None) -> Any:
    """Draw the strongest pushes survived in each direction around the robot, and the bound of the pendulum."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 6.4), layout="constrained")
    axis: Any = figure.subplots(subplot_kw={"projection": "polar"})
    draw_pushes_on(axis, maps)
    figure.suptitle(f"{maps[0].robot}: pushes [N s], forward is up", fontsize="large")
    figure.legend(loc="outside lower center", fontsize="small", ncols=2)
    if path is not None:
        figure.savefig(path, dpi=90)
    return figure


def draw_pushes_on(axis: Any, maps: Sequence[SurvivedPushes]) -> None:
    """Draw push maps of one robot on a polar axis of Matplotlib."""
    axis.set_theta_zero_location("N")
    for k, found in enumerate(maps):
        colour = f"C{k}"
        order = np.argsort(found.directions)
        order = np.append(order, order[0])
        angles = found.directions[order]
        axis.plot(angles, found.survived[order], "o-", color=colour, label=f"survived {found.condition}")
        axis.fill(angles, found.survived[order], color=colour, alpha=0.1)
        bound = (angles, found.bound[order])
    axis.plot(*bound, "--", color="black", label="LIPM without a step")
