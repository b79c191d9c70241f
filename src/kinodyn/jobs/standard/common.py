"""Shared by the standard jobs: the robot in the manifest, and results as columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn.errors import InputError
from kinodyn.jobs.files import Files
from kinodyn.jobs.result import JobResult
from kinodyn.jobs.run import map
from kinodyn.model.fingerprint import fingerprint
from kinodyn.model.robot import Robot, require_robot


def job_parameters(robot: Robot, options: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a job with a robot: its name and hash, and the options, which must be JSON values."""
    require_robot(robot)
    for name, value in options.items():
        if not _is_json(value):
            raise InputError(f"{name} must be a finite number, a string or a list of them, got {value!r:.80}")
    return {"robot": robot.name, "fingerprint": fingerprint(robot), **options}


def map_files(function: Callable[[Any], Any], files: Files, parameters: dict[str, Any], **options: Any) -> JobResult:
    """Call a function on each file: a shard for each, and no second attempt, since an error is a property of the file.

    `options` are those of `map`: out, engine, workers, progress.
    """
    return map(function, files, shard=1, retries=0, parameters=parameters, **options)


def as_columns(rows: Sequence[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """Return records with the same fields as columns."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _is_json(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_json(each) for each in value)
    return value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
