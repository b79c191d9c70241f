"""Images of robots rendered by MuJoCo, with arrows and labels; shared by the scripts in this folder."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("MUJOCO_GL", "egl")  # read by MuJoCo at import

import matplotlib.patheffects as effects
import mujoco as mj
import numpy as np
from matplotlib.axes import Axes

import kinodyn as kd
from kinodyn.sim.scene import Scene

HERE = Path(__file__).parent
COLOURS = ("#d62728", "#2ca02c", "#1f4ed8")  # x, y, z
OUTLINE = [effects.withStroke(linewidth=2.5, foreground="white")]


@dataclass(frozen=True)
class View:
    """An image (height, width, 3) and its camera."""

    pixels: Any
    position: Any
    forward: Any
    up: Any
    tangent: float

    def at(self, point: Sequence[float]) -> Any:
        """Project a point of the world to the image [pixels, from the upper left corner]."""
        height, width = self.pixels.shape[:2]
        ray = np.asarray(point, dtype=float) - self.position
        right = np.cross(self.forward, self.up)
        scale = 0.5 * height / (self.tangent * (ray @ self.forward))
        return np.array([0.5 * width + scale * (ray @ right), 0.5 * height - scale * (ray @ self.up)])


def take(
    robot: kd.Robot,
    q: Any,
    *,
    lookat: Sequence[float],
    distance: float,
    azimuth: float = 145.0,
    elevation: float = -12.0,
    size: tuple[int, int] = (700, 700),
    alpha: float = 1.0,
) -> View:
    """Render a robot at q in an image of (height, width) pixels; alpha below 1 makes it transparent."""
    scene = Scene(robot, {}, (size[1], size[0]))
    model = scene.model
    floor = model.geom_type == mj.mjtGeom.mjGEOM_PLANE
    model.geom_rgba[~floor, 3] = alpha
    names = [link.name for link in scene.links]
    scene.place(np.asarray(kd.kinematics.poses(robot, q, frames=names)), np.asarray(lookat, dtype=float))
    camera = mj.MjvCamera()
    camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = lookat, distance, azimuth, elevation
    with mj.Renderer(model, *size) as renderer:
        renderer.update_scene(scene.data, camera)
        pixels = renderer.render().copy()
        eye, other = renderer.scene.camera
        middle = 0.5 * (np.array(eye.pos) + np.array(other.pos))
        return View(pixels, middle, np.array(eye.forward), np.array(eye.up), eye.frustum_top / eye.frustum_near)


def show(axes: Axes, view: View, title: str = "") -> None:
    """Show an image in a panel without ticks."""
    axes.imshow(view.pixels)
    axes.set(xticks=[], yticks=[], title=title)
    axes.set_xlim(0, view.pixels.shape[1])
    axes.set_ylim(view.pixels.shape[0], 0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def arrow(axes: Axes, view: View, start: Any, end: Any, colour: str, text: str = "", width: float = 2.2) -> None:
    """Draw an arrow between two points of the world, with a label at its tip."""
    a, b = view.at(start), view.at(end)
    style = {
        "arrowstyle": "-|>,head_length=0.5,head_width=0.22",
        "color": colour,
        "lw": width,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate("", b, a, arrowprops=style)
    if text:
        along = (b - a) / max(float(np.linalg.norm(b - a)), 1.0)
        label(axes, b + 13 * along, text, colour)


def label(axes: Axes, at: Any, text: str, colour: str = "black", size: float = 9.5, **more: Any) -> None:
    """Write text at a pixel, with a white outline for readability."""
    given = {"ha": "center", "va": "center", **more}
    axes.text(*at, text, color=colour, fontsize=size, path_effects=OUTLINE, **given)


def triad(axes: Axes, view: View, T: Any, length: float, names: Sequence[str] = ("x", "y", "z")) -> None:
    """Draw the three axes of a pose."""
    for k, (colour, name) in enumerate(zip(COLOURS, names, strict=True)):
        arrow(axes, view, T[:3, 3], T[:3, 3] + length * T[:3, k], colour, name)


if __name__ == "__main__":
    sys.exit("this module is used by the other scripts in this folder; run one of them")
