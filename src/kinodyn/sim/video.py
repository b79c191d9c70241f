"""Recordings as videos: MP4 by ffmpeg, GIF and WebP by Pillow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn.argument_types import check_types
from kinodyn.checks import positive
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.progress import ProgressBar
from kinodyn.recording import Recording
from kinodyn.recording.body import require_same_body
from kinodyn.sim.render_worker import Job
from kinodyn.sim.rendering import AZIMUTH, ELEVATION, SIZE, backend, checked_size, frames, make_job
from kinodyn.tables import check_writable

VIDEO_SUFFIXES = (".mp4", ".gif", ".webp")
MAX_FPS = 120.0
GIF_COLOURS = 128
CAMERA_TIME = 2.0  # [s] over which the motion of the camera is averaged


@check_types
def render_video(
    robot: Robot,
    recording: Recording,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    size: tuple[int, int] = SIZE,
    speed: float = 1.0,
    azimuth: float = AZIMUTH,
    elevation: float = ELEVATION,
    distance: float | None = None,
    progress: bool = False,
) -> Path:
    """Write a recording as a video, rendered by MuJoCo without a screen. The camera follows the robot.

    Parameters
    ----------
    robot
        The robot of the recording.
    recording
        Of one robot; its terrain is drawn too.
    path
        An .mp4 (needs the extra `video`), .gif or .webp file.
    fps
        Images per second [Hz].
    size
        Width and height [pixels], even numbers.
    speed
        2.0 plays twice as fast.
    azimuth, elevation
        Direction in which the camera looks [deg].
    distance
        Of the camera [m]; None shows the whole robot.
    progress
        Whether to show a progress bar on stderr, if that is a terminal.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    InputError
        If this machine cannot render without a screen or lacks ffmpeg; the message says what to install.
    """
    target = Path(path)
    require_video(target, fps=fps, size=size)
    if not isinstance(recording, Recording) or recording.q.ndim != 2:
        raise InputError("recording must be a Recording of one robot; select one of a batch first")
    require_same_body(recording, robot)
    step = positive("speed", speed) / fps
    times = np.arange(recording.time[0], recording.time[-1] + 0.5 * step, step)
    rows = np.clip(np.searchsorted(recording.time, times), 0, len(recording) - 1)
    job = make_job(
        robot,
        np.asarray(recording.q[rows]),
        size=size,
        azimuth=azimuth,
        elevation=elevation,
        distance=distance,
        follow=round(CAMERA_TIME / step),
        terrain=dict(recording.terrain),
    )
    writer = _write_mp4 if target.suffix.lower() == ".mp4" else _write_pillow
    writer(target, _shown(job, progress), fps)
    return target


@check_types
def require_video(path: Path, *, fps: float = 30.0, size: tuple[int, int] = SIZE) -> None:
    """Raise an error if a video could not be written, before the simulation that it is to show.

    Parameters
    ----------
    path
        The file.
    fps, size
        As for `render_video`.
    """
    check_writable(path, VIDEO_SUFFIXES)
    if not positive("fps", fps) <= MAX_FPS:
        raise InputError(f"fps must be at most {MAX_FPS:g}, got {fps!r}")
    checked_size(size)
    if path.suffix.lower() == ".mp4":
        _ffmpeg()
    backend()


def _shown(job: Job, progress: bool) -> Iterator[NDArray[np.uint8]]:
    bar = ProgressBar(progress, float(len(job.q)), "images")
    try:
        for k, image in enumerate(frames(job)):
            yield image
            bar.update(float(k + 1))
    finally:
        bar.close()


def _ffmpeg() -> Any:
    try:
        import imageio_ffmpeg
    except ImportError as cause:
        raise InputError(".mp4 files need ffmpeg: pip install 'kinodyn[video]', or write a .gif or .webp") from cause
    return imageio_ffmpeg


def _write_mp4(path: Path, images: Iterator[NDArray[np.uint8]], fps: float) -> None:
    first = next(images)
    height, width = first.shape[:2]
    # H.264 in 4:2:0 is what browsers and players show
    stream = _ffmpeg().write_frames(
        str(path), (width, height), fps=fps, codec="libx264", pix_fmt_out="yuv420p", quality=7, macro_block_size=2
    )
    stream.send(None)
    try:
        stream.send(first.tobytes())
        for image in images:
            stream.send(image.tobytes())
    finally:
        stream.close()


def _write_pillow(path: Path, images: Iterator[NDArray[np.uint8]], fps: float) -> None:
    from PIL import Image

    pictures = [Image.fromarray(image) for image in images]
    options: dict[str, Any] = {"save_all": True, "duration": round(1000.0 / fps), "loop": 0}
    if path.suffix.lower() == ".gif":
        # One palette for all images: otherwise colours flicker, and more pixels change between them.
        palette = pictures[len(pictures) // 2].quantize(GIF_COLOURS, dither=Image.Dither.NONE)
        pictures = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
        options["optimize"] = False
    else:
        options |= {"quality": 60, "method": 4}
    pictures[0].save(path, append_images=pictures[1:], **options)
