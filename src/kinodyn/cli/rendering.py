"""Render a robot offscreen with MuJoCo.

MuJoCo selects its OpenGL backend at import, and a failing graphics driver can crash the process: images are therefore
rendered in a subprocess. If that fails, `render` returns None and the reason.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from kinodyn.arrays import Array

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot

HEIGHT, WIDTH = 360, 240  # of an image [pixels]
RENDER_TIMEOUT = 60.0  # [s]


def render(robot: Robot, q: Array) -> tuple[Any | None, str]:
    """Render configurations (n, nq): RGB images (n, height, width, 3) of uint8, or None and the reason."""
    environment = dict(os.environ)
    if sys.platform.startswith("linux"):
        environment.setdefault("MUJOCO_GL", "egl")
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "kinodyn.cli.rendering"],
            input=pickle.dumps((robot, q)),
            capture_output=True,
            env=environment,
            timeout=RENDER_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as cause:
        return None, str(cause)
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return None, lines[-1] if lines else f"the renderer exited with code {done.returncode}"
    return np.load(io.BytesIO(done.stdout), allow_pickle=False), ""


def _render_images(robot: Robot, q: Array) -> Any:
    import mujoco as mj

    from kinodyn.model import convert

    model = build_model(robot)
    data, camera, converter = mj.MjData(model), mj.MjvCamera(), convert.mujoco(robot, model)
    images = []
    with mj.Renderer(model, HEIGHT, WIDTH) as renderer:
        for row in q:
            data.qpos[:] = converter.q_to(row)
            mj.mj_forward(model, data)
            _aim_camera(camera, data)
            renderer.update_scene(data, camera)
            images.append(renderer.render().copy())
    return np.array(images)


def build_model(robot: Robot) -> Any:
    """Build the model with a light, a bright floor and a sky, which simulations do not need."""
    import mujoco as mj

    from kinodyn.sim.mujoco_model import MujocoSettings, compiled, spec_of

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
    model.vis.headlight.ambient[:] = 0.45
    model.vis.headlight.diffuse[:] = 0.6
    planes = model.geom_type == mj.mjtGeom.mjGEOM_PLANE
    model.geom_rgba[planes, :3] = [0.85, 0.87, 0.9]
    plain = ~planes & (np.ptp(model.geom_rgba[:, :3], axis=1) < 1e-6)
    model.geom_rgba[plain, :3] = [0.35, 0.55, 0.8]  # shapes without a colour of their own
    return model


def _aim_camera(camera: Any, data: Any) -> None:
    """View the whole robot from its front left, slightly from above."""
    positions = data.xpos[1:]
    low, high = positions.min(axis=0), positions.max(axis=0)
    camera.lookat[:] = 0.5 * (low + high)
    camera.distance = 1.75 * max(float(np.linalg.norm(high - low)), 0.2)
    camera.azimuth, camera.elevation = -125.0, -12.0


if __name__ == "__main__":
    given = pickle.loads(sys.stdin.buffer.read())  # written by `render` above
    with io.BytesIO() as stream:
        np.save(stream, _render_images(*given))
        sys.stdout.buffer.write(stream.getvalue())
