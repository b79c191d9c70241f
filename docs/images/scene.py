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
from kinodyn.sim.mujoco_model import compiled, spec_of
from kinodyn.sim.mujoco_settings import MujocoSettings

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


def build_model(robot: kd.Robot) -> Any:
    """Build the model with a bright floor and a sky, which simulations do not need."""
    spec = spec_of(robot, MujocoSettings())
    spec.add_texture(
        name="kinodyn sky",
        type=mj.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mj.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[1.0, 1.0, 1.0],
        rgb2=[0.75, 0.85, 0.95],
        width=128,
        height=128,
    )
    model = compiled(robot, spec)
    plain = (model.geom_type != mj.mjtGeom.mjGEOM_PLANE) & (np.ptp(model.geom_rgba[:, :3], axis=1) < 1e-6)
    model.geom_rgba[plain, :3] = [0.35, 0.55, 0.8]  # shapes without a colour of their own
    return model


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
    model = build_model(robot)
    model.vis.global_.offheight, model.vis.global_.offwidth = size
    floor = model.geom_type == mj.mjtGeom.mjGEOM_PLANE
    model.geom_rgba[floor] = [1.0, 1.0, 1.0, 1.0]
    model.geom_rgba[~floor, 3] = alpha
    model.vis.headlight.ambient[:] = 0.75
    model.vis.headlight.diffuse[:] = 0.4
    data, camera = mj.MjData(model), mj.MjvCamera()
    data.qpos[:] = kd.convert.mujoco(robot, model).q_to(q)
    mj.mj_forward(model, data)
    camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = lookat, distance, azimuth, elevation
    with mj.Renderer(model, *size) as renderer:
        renderer.update_scene(data, camera)
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
