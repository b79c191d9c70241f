"""Identification of a robot from many recordings, as a job."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn import identification, tables
from kinodyn.argument_types import check_types
from kinodyn.checks import known_names, positive
from kinodyn.identification.model import make_model
from kinodyn.jobs.files import Files
from kinodyn.jobs.result import JobResult
from kinodyn.jobs.standard.common import job_parameters, map_files
from kinodyn.model.robot import Robot

FIT_OPTIONS = ("method", "terms", "held_out", "prior_spread")


@check_types
def identify(
    robot: Robot,
    recordings: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    cutoff: float | None = None,
    engine: Any = "processes",
    workers: int | None = None,
    progress: bool = False,
    **options: Any,
) -> JobResult:
    """Identify the parameters of a robot from each of many recordings, by a job that can be resumed.

    The spread of the estimates over the recordings shows what the standard errors of a single fit do not: differences
    between robots, payloads or days.

    Parameters
    ----------
    robot : Robot
    recordings
        Files as `identification.read` takes them, or folders of them; each is a shard.
    out
        Folder of the job; see `jobs.map`.
    cutoff : float, optional
        Of the low-pass filter [Hz]; see `identification.prepare`.
    engine, workers, progress
        See `jobs.map`.
    options
        method, terms, held_out and prior_spread of `identification.fit`.

    Returns
    -------
    JobResult
        A row for each parameter of each recording: columns file, name, before, after, standard_error, and residual,
        the root mean square of the held-out torques relative to that of the prior. Recordings that cannot be used are
        `failed`.
    """
    parameters = job_parameters(robot, {"cutoff": cutoff, **options})
    known_names("options", list(options), "option", FIT_OPTIONS)
    make_model(robot, options.get("terms", ()))  # wrong terms fail before the job starts
    if cutoff is not None:
        positive("cutoff", cutoff)
    return map_files(
        functools.partial(identify_recording, robot=robot, cutoff=cutoff, options=options),
        Files(recordings, tables.SUFFIXES),
        parameters,
        out=out,
        engine=engine,
        workers=workers,
        progress=progress,
    )


def identify_recording(
    paths: list[Path], robot: Robot, cutoff: float | None, options: dict[str, Any]
) -> dict[str, NDArray[Any]]:
    """Identify the parameters from the recording of a shard."""
    (file,) = paths
    data = identification.read(file, robot)
    if cutoff is not None or data.v is None or data.a is None:
        data = identification.prepare(data, cutoff=cutoff)
    found = identification.fit(robot, data, **options)
    before, after = (float(np.sqrt(np.mean(np.square(each)))) for each in (found.prior_residuals(), found.residuals()))
    return {
        "file": np.full(len(found.names), file.name),
        "name": np.array(found.names),
        "before": found.before,
        "after": found.after,
        "standard_error": found.standard_errors,
        "residual": np.full(len(found.names), after / before if before > 0.0 else np.nan),
    }
