"""Folders of human motion to a humanoid, as a job."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn import retarget as retargeting
from kinodyn.argument_types import check_types
from kinodyn.errors import InputError
from kinodyn.jobs.files import Files
from kinodyn.jobs.result import JobResult
from kinodyn.jobs.standard.common import job_parameters, map_files
from kinodyn.model.robot import Robot
from kinodyn.retarget.body import Body
from kinodyn.retarget.keypoints import read_mapping
from kinodyn.retarget.reading import READERS
from kinodyn.retarget.retarget import checked_rate

TIMES = ("seconds", "frames_per_second")  # of a report; they would make the same job differ from run to run


@check_types
def retarget(
    clips: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    robot: Robot,
    *,
    out: str | os.PathLike[str],
    rate: float = 30.0,
    mapping: Mapping[str, str | Iterable[str]] | str | os.PathLike[str] | None = None,
    engine: Any = "processes",
    workers: int | None = None,
    progress: bool = False,
) -> JobResult:
    """Retarget many human motions to a humanoid, by a job that can be resumed; each clip is a shard.

    Clips that cannot be read are `failed` in the result, with the reason; the others are complete.

    Parameters
    ----------
    clips
        Files of motion, or folders of them (BVH, NPZ, C3D, CSV).
    robot : Robot
        See `retarget.retarget`.
    out
        Folder of the job; see `jobs.map`.
    rate : float
        Frames per second of the results [Hz].
    mapping
        Names of joints by key point, see `retarget.retarget`.
    engine, workers, progress
        See `jobs.map`.

    Returns
    -------
    JobResult
        A shard for each clip, with a row for each frame: columns clip, time [s], q (nq), left and right (whether the
        foot is in contact), and report, a JSON text in the first row of the clip.
    """
    Body.from_robot(robot)  # errors of the robot concern all clips
    names, rate = _mapping(mapping), checked_rate(rate)
    return map_files(
        functools.partial(retarget_clip, robot=robot, rate=rate, mapping=names),
        Files(clips, tuple(READERS)),
        job_parameters(robot, {"rate": rate, "mapping": json.dumps(names, sort_keys=True)}),
        out=out,
        engine=engine,
        workers=workers,
        progress=progress,
    )


def retarget_clip(
    paths: list[Path], robot: Robot, rate: float, mapping: dict[str, Any] | None
) -> dict[str, NDArray[Any]]:
    """Retarget the clip of a shard."""
    (file,) = paths
    found = retargeting.retarget(file, robot, rate=rate, mapping=mapping)
    report = {name: value for name, value in found.report.as_dict().items() if name not in TIMES}
    frames = len(found.q)
    reports = np.full(frames, "", dtype=object)
    reports[0] = json.dumps(report, sort_keys=True)
    return {
        "clip": np.full(frames, file.name),
        "time": found.time,
        "q": found.q,
        "left": found.in_contact("left"),
        "right": found.in_contact("right"),
        "report": reports.astype(str),
    }


def _mapping(mapping: Any) -> dict[str, Any] | None:
    """Return the mapping as JSON has it, so that workers need no file."""
    if mapping is None:
        return None
    if not isinstance(mapping, str | os.PathLike | Mapping):
        raise InputError(f"mapping must be a dict or a JSON file, got {type(mapping).__name__}")
    if isinstance(mapping, str | os.PathLike):
        return dict(read_mapping(Path(mapping)))
    return {str(key): list(value) if not isinstance(value, str) else value for key, value in mapping.items()}
