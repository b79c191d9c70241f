"""The process that draws: `python -m kinodyn.sim.render_worker` reads a job from stdin and writes images to stdout.

MuJoCo selects its OpenGL backend at import, and a failing graphics driver can crash the process.
"""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinodyn.arrays import Array

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot

READY = b"ready\n"


@dataclass(frozen=True)
class View:
    """Where the camera is: it looks from `azimuth` and `elevation` [deg], `distance` [m] away, at the given points."""

    azimuth: float
    elevation: float
    distance: float


@dataclass(frozen=True)
class Job:
    """Configurations (n, nq) to draw, the points (n, 3) that the camera looks at, and the size (width, height)."""

    robot: Robot | None
    q: Array
    lookat: Array
    view: View
    size: tuple[int, int]
    terrain: dict[str, Array]


def draw(job: Job, stream: Any) -> None:
    """Write `READY` when there is an OpenGL context, then the images as rows of RGB bytes."""
    import mujoco as mj

    if job.robot is None:  # a probe
        with mj.Renderer(mj.MjModel.from_xml_string("<mujoco/>"), 8, 8):
            stream.write(READY)
        return
    from kinodyn import kinematics
    from kinodyn.sim.scene import Scene

    scene = Scene(job.robot, job.terrain, job.size)
    names = [link.name for link in scene.links]
    camera = mj.MjvCamera()
    camera.azimuth, camera.elevation, camera.distance = job.view.azimuth, job.view.elevation, job.view.distance
    with mj.Renderer(scene.model, job.size[1], job.size[0]) as renderer:
        stream.write(READY)
        for q, point in zip(job.q, job.lookat, strict=True):
            scene.place(np.asarray(kinematics.poses(job.robot, q, frames=names)), point)
            camera.lookat[:] = point
            renderer.update_scene(scene.data, camera)
            stream.write(renderer.render().tobytes())
            stream.flush()


if __name__ == "__main__":
    draw(pickle.loads(sys.stdin.buffer.read()), sys.stdout.buffer)  # written by `rendering.frames`
