"""Images of robots, rendered offscreen by MuJoCo in another process; no screen is needed where EGL or OSMesa works."""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from typing import IO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.balance.shapes import extreme_points
from kinodyn.checks import numbers
from kinodyn.description.types import Link
from kinodyn.errors import DescriptionError, InputError
from kinodyn.model.compile import compile_tree
from kinodyn.model.robot import Robot, require_robot
from kinodyn.sim.render_worker import READY, Job, View

PROBE_TIMEOUT = 60.0  # [s]
SIZE = (640, 480)
MAX_PIXELS = 4096
AZIMUTH, ELEVATION = -125.0, -12.0  # [deg] from the front left, slightly from above
DISTANCE = 1.5  # of the camera, in extents of the robot; it sees 0.83 of its distance
BACKENDS = ("egl", "osmesa")  # on Linux; elsewhere MuJoCo has one of its own


@check_types
def render_images(
    robot: Robot,
    q: ArrayLike,
    *,
    size: tuple[int, int] = SIZE,
    azimuth: float = AZIMUTH,
    elevation: float = ELEVATION,
    distance: float | None = None,
) -> NDArray[np.uint8]:
    """Render a robot at configurations.

    Parameters
    ----------
    robot
        Drawn with its visual shapes, of links without any with the collision shapes.
    q : (n, nq) or (nq,)
        Configurations.
    size
        Width and height of the images [pixels].
    azimuth, elevation
        Direction in which the camera looks [deg].
    distance
        Of the camera [m]; None shows the whole robot.

    Returns
    -------
    images : (n, height, width, 3) array of uint8
        RGB.

    Raises
    ------
    InputError
        If this machine has no OpenGL for rendering without a screen; the message says what to install.
    """
    rows = np.atleast_2d(numbers("q", q))
    job = make_job(robot, rows, size=size, azimuth=azimuth, elevation=elevation, distance=distance, follow=None)
    return np.array(list(frames(job)))


def make_job(
    robot: Robot,
    q: Array,
    *,
    size: tuple[int, int],
    azimuth: float,
    elevation: float,
    distance: float | None,
    follow: int | None,
    terrain: dict[str, Array] | None = None,
) -> Job:
    """Aim the camera at the middle of the robot, smoothed over `follow` rows, and describe what to draw."""
    require_robot(robot)
    if q.ndim != 2 or q.shape[1] != robot.nq or not len(q):
        raise InputError(f"q must have shape (n, {robot.nq}), at least one row, got {q.shape}")
    middle, extent = _extent(robot, q)
    if follow is not None:
        middle = _smoothed(middle, follow)
    away = DISTANCE * extent if distance is None else float(distance)
    if not (0.0 < away < 1e3 and np.isfinite([azimuth, elevation]).all()):
        raise InputError(
            f"distance, azimuth and elevation must be finite, got {distance!r}, {azimuth!r} and {elevation!r}"
        )
    return Job(robot, q, middle, View(float(azimuth), float(elevation), away), checked_size(size), terrain or {})


def checked_size(size: tuple[int, int]) -> tuple[int, int]:
    """Return width and height; video formats need even numbers."""
    numbers_given = list(size) if isinstance(size, (tuple, list)) else []
    even = [n for n in numbers_given if isinstance(n, int) and n % 2 == 0 and 16 <= n <= MAX_PIXELS]
    if len(even) != 2 or len(numbers_given) != 2:
        raise InputError(f"size must be width and height [pixels], even numbers from 16 to {MAX_PIXELS}, got {size!r}")
    return even[0], even[1]


def _extent(robot: Robot, q: Array) -> tuple[Array, float]:
    """Return the middle of the robot (n, 3) in each row, and its largest extent [m]."""
    from kinodyn import kinematics

    body = {name: place.body for name, place in compile_tree(robot.description).places.items()}
    moving = [link for link in robot.description.links if body[link.name] >= 0] or list(robot.description.links)
    T = np.asarray(kinematics.poses(robot, q, frames=[link.name for link in moving]))
    corners = np.stack([_box(link) for link in moving])
    places = np.einsum("nlij,lcj->nlci", T[..., :3, :3], corners) + T[..., None, :3, 3]
    low, high = places.min(axis=(1, 2)), places.max(axis=(1, 2))
    return 0.5 * (low + high), max(float(np.linalg.norm(high - low, axis=1).max()), 0.3)


def _box(link: Link) -> Array:
    """Return the corners (8, 3) of the box around the drawn shapes of a link and its origin, in the link."""
    points = [np.zeros((1, 3))]
    for shape in link.visuals or link.collisions:
        try:
            points += [extreme_points(shape, direction) for direction in np.vstack([np.eye(3), -np.eye(3)])]
        except DescriptionError:  # a mesh that cannot be read, or a shape without end
            continue
    every = np.concatenate(points)
    return np.array(list(product(*zip(every.min(axis=0), every.max(axis=0), strict=True))))


def _smoothed(points: Array, width: int) -> Array:
    """Average over a window, so that the camera does not sway with each step."""
    width = max(1, min(width, len(points)) // 2 * 2 + 1)
    padded = np.pad(points, ((width // 2, width // 2), (0, 0)), mode="edge")
    kernel = np.ones(width) / width
    return np.stack([np.convolve(padded[:, k], kernel, mode="valid") for k in range(3)], axis=1)


def frames(job: Job) -> Iterator[NDArray[np.uint8]]:
    """Yield the images of a job (height, width, 3), one after the other as they are drawn."""
    width, height = job.size
    size = width * height * 3
    with tempfile.TemporaryFile() as errors:
        process = _start(job, backend(), errors)
        assert process.stdout is not None
        try:
            if process.stdout.readline() != READY:
                raise InputError(f"the renderer did not start: {_last_line(process, errors)}")
            for _ in job.q:
                data = process.stdout.read(size)
                if len(data) < size:
                    raise InputError(f"the renderer stopped: {_last_line(process, errors)}")
                yield np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@functools.cache
def backend() -> str:
    """Return the OpenGL backend that works on this machine, "" for MuJoCo's default; raise InputError if none does."""
    given = os.environ.get("MUJOCO_GL", "")
    names = (given,) if given or not sys.platform.startswith("linux") else BACKENDS
    reasons = []
    for name in names:
        reason = _probe(name)
        if not reason:
            return name
        reasons.append(f"{name or 'default'}: {reason}")
    raise InputError(
        f"MuJoCo cannot render without a screen here ({'; '.join(reasons)}); install EGL or OSMesa, on Debian and "
        "Ubuntu: apt install libegl1 libgl1-mesa-dri, or apt install libosmesa6"
    )


def _probe(name: str) -> str:
    """Return why a backend does not work, "" if it does."""
    with tempfile.TemporaryFile() as errors:
        process = _start(Job(None, np.zeros((0, 0)), np.zeros((0, 3)), View(0.0, 0.0, 1.0), (8, 8), {}), name, errors)
        try:
            out, _ = process.communicate(timeout=PROBE_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return f"no answer within {PROBE_TIMEOUT:g} s"
        return "" if out == READY else _last_line(process, errors)


def _start(job: Job, name: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    environment = dict(os.environ)
    if name:
        environment["MUJOCO_GL"] = name
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "kinodyn.sim.render_worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
    )
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it ended at once; its output gives the reason
        process.stdin.write(pickle.dumps(job))
        process.stdin.close()
    process.stdin = None
    return process


def _last_line(process: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
    process.wait()
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"exit code {process.returncode}"
