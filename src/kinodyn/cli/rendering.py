"""Pictures of a robot from MuJoCo's own renderer, without a screen.

MuJoCo chooses how to draw when it is first imported, and a graphics driver that fails can take its process with it:
so the pictures are made in a process of their own. Where that does not work, None comes back, with the reason.
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

HEIGHT, WIDTH = 360, 240  # of a picture [pixels]
PATIENCE = 60.0  # [s]


def render(robot: Robot, q: Array) -> tuple[Any | None, str]:
    """Draw configurations (n, nq): colours (n, height, width, 3) from 0 to 255, or None and why there are none."""
    environment = dict(os.environ)
    if sys.platform.startswith("linux"):
        environment.setdefault("MUJOCO_GL", "egl")
    try:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "kinodyn.cli.rendering"],
            input=pickle.dumps((robot, q)),
            capture_output=True,
            env=environment,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as cause:
        return None, str(cause)
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        return None, lines[-1] if lines else f"it ended with {done.returncode}"
    return np.load(io.BytesIO(done.stdout), allow_pickle=False), ""


def _pictures(robot: Robot, q: Array) -> Any:
    import mujoco as mj

    from kinodyn.model import convert

    model = _stage(robot)
    data, camera, converter = mj.MjData(model), mj.MjvCamera(), convert.mujoco(robot, model)
    pictures = []
    with mj.Renderer(model, HEIGHT, WIDTH) as renderer:
        for row in q:
            data.qpos[:] = converter.q_to(row)
            mj.mj_forward(model, data)
            _aim(camera, data)
            renderer.update_scene(data, camera)
            pictures.append(renderer.render().copy())
    return np.array(pictures)


def _stage(robot: Robot) -> Any:
    """Make the model, with light, a bright floor and a sky, which simulations have no use for."""
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
    model.geom_rgba[plain, :3] = [0.35, 0.55, 0.8]  # what has no colour of its own
    return model


def _aim(camera: Any, data: Any) -> None:
    """Look at the whole robot from its left, a little from before and above."""
    places = data.xpos[1:]
    low, high = places.min(axis=0), places.max(axis=0)
    camera.lookat[:] = 0.5 * (low + high)
    camera.distance = 1.75 * max(float(np.linalg.norm(high - low)), 0.2)
    camera.azimuth, camera.elevation = -125.0, -12.0


if __name__ == "__main__":
    given = pickle.loads(sys.stdin.buffer.read())  # from `render` above, through a pipe of our own
    with io.BytesIO() as stream:
        np.save(stream, _pictures(*given))
        sys.stdout.buffer.write(stream.getvalue())
