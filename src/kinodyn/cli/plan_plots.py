"""Figures of plans and collisions: the robot among obstacles, distances over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.cli.plotting import link_segments

if TYPE_CHECKING:
    from kinodyn.collision import Shape, World, WorldSnapshot
    from kinodyn.model.robot import Robot

MAX_POINTS = 3000  # of a point cloud
MAX_FACES = 4000  # of a mesh; others are drawn as their convex hull
MAX_OBJECT_SIZE = 10.0  # [m] larger objects, such as a floor, are not drawn
TOLERANCE = 5e-3  # [m] of round shapes


def plot_scene(robot: Robot, q: Array, world: World | WorldSnapshot | None, lines: Array | None = None) -> Any:
    """Draw configurations (n, nq) of a robot as stick figures among obstacles, and red lines (m, 2, 3)."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 6.0), layout="constrained")
    axes = figure.add_subplot(projection="3d")
    for thing in world or ():
        T = thing.pose if thing.attached_to is None else _pose(robot, q[-1], thing.attached_to) @ thing.pose
        _draw_shape(axes, thing.shape, T)
    colours = colormaps["viridis"](np.linspace(0.0, 0.85, len(q)))
    for row, colour in zip(q, colours, strict=True):
        for line in link_segments(robot, row):
            axes.plot(*line.T, "-", color=colour, lw=2.5, solid_capstyle="round")
    for line in () if lines is None else lines:
        axes.plot(*line.T, "-", color="tab:red", lw=1.5)
    for name in "xyz":
        getattr(axes, f"set_{name}label")(f"{name} [m]")
    axes.set_title(f"{robot.name}, from dark to light" if len(q) > 1 else robot.name)
    axes.axis("equal")
    return figure


def plot_distances(time: Array, curves: dict[str, Array], titles: tuple[str, str]) -> Any:
    """Plot smallest distances [m] over time or an index; `titles` are those of the figure and of the x axis."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.2), layout="constrained")
    axes = figure.add_subplot()
    for name, values in curves.items():
        axes.plot(time, 1e3 * values, lw=1.5, label=name)
    axes.axhline(0.0, color="tab:red", lw=1)
    axes.set(xlabel=titles[1], ylabel="distance [mm]", title=titles[0])
    axes.legend(loc="best", fontsize="small")
    axes.grid(alpha=0.3)
    return figure


def _pose(robot: Robot, q: Array, frame: str) -> Array:
    from kinodyn import kinematics

    return np.asarray(kinematics.pose(robot, q, frame))


def _draw_shape(axes: Any, shape: Shape, T: Array) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    from kinodyn.collision import PointCloud

    if isinstance(shape, PointCloud):
        points = shape.points[:: max(1, len(shape.points) // MAX_POINTS)]
        axes.scatter(*(points @ T[:3, :3].T + T[:3, 3]).T, s=1.0, color="tab:brown")
        return
    made = shape.triangles(TOLERANCE)
    vertices, faces = made.vertices, made.faces
    if np.ptp(vertices, axis=0).max() > MAX_OBJECT_SIZE:
        return
    if len(faces) > MAX_FACES:
        from scipy.spatial import ConvexHull

        faces = ConvexHull(vertices).simplices
    placed = vertices @ T[:3, :3].T + T[:3, 3]
    axes.add_collection3d(Poly3DCollection(placed[faces], facecolors="tan", alpha=0.45, shade=True))
