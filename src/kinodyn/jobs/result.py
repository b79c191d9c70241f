"""The outcome of a job, and its output."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kinodyn import tables
from kinodyn.argument_types import check_types
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.jobs.manifest import JobDescription, JobFolder

Status = Literal["complete", "incomplete", "interrupted", "failed"]


@displayed
@dataclass(frozen=True)
class ShardFailure:
    """A shard that could not be computed.

    Attributes
    ----------
    error, trace : str
        Message and traceback.
    attempts : int
    """

    error: str
    trace: str
    attempts: int


@displayed
@dataclass(frozen=True, eq=False)
class JobResult:
    """Result of a job.

    Attributes
    ----------
    out : Path
        Folder with the shards and the manifest.
    status : str
        "complete"; "incomplete": shards have failed, or have not been computed yet; "interrupted": Ctrl-C; "failed":
        stopped, because the folder could not be written. Run it again to compute what is missing.
    job : JobDescription
    done : int
        Shards written, also those of earlier runs.
    failed : mapping of int -> ShardFailure
        Shards that failed in this run.
    reason : str
        Why it did not complete; empty if it did.
    seconds, rate : float
        Time of this run [s], and inputs per second in it.
    """

    out: Path
    status: Status
    job: JobDescription
    done: int
    failed: Mapping[int, ShardFailure]
    reason: str = ""
    seconds: float = 0.0
    rate: float = 0.0

    def __repr__(self) -> str:
        return f"JobResult({str(self.out)!r}, {self.status}, {self.done} of {self.job.shards} shards)"

    @property
    def files(self) -> list[Path]:
        """Files of the shards that are there, in order."""
        folder = JobFolder(self.out)
        files = (folder.shard_file(index) for index in range(self.job.shards))
        return [file for file in files if file.is_file()]

    def shards(self) -> Iterator[dict[str, NDArray[Any]]]:
        """Read one shard after the other.

        Yields
        ------
        dict of str -> (n, ...)
            Columns by name.
        """
        for file in self.files:
            yield tables.read(file).columns

    def read(self) -> dict[str, NDArray[Any]]:
        """Read all shards.

        Returns
        -------
        dict of str -> (n, ...)
            Columns by name, in the order of the inputs.
        """
        parts = list(self.shards())
        if not parts:
            raise InputError(f"{self.out} has no shards yet")
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@check_types
def open_job(folder: str | os.PathLike[str]) -> JobResult:
    """Open the output of a job.

    Parameters
    ----------
    folder
        The `out` of `jobs.map`.

    Returns
    -------
    JobResult
        The current state of the job.
    """
    place = JobFolder(folder)
    found = place.read()
    if found is None:
        raise InputError(f"{folder} has no manifest of a job")
    job, states = found
    done = sum(place.shard_file(index).is_file() for index in range(job.shards))
    failed = {
        int(k): ShardFailure(str(v.get("error", "")), str(v.get("trace", "")), int(v.get("attempts", 0)))
        for k, v in dict(states.get("failed", {})).items()
        if not place.shard_file(int(k)).is_file()
    }
    missing = job.shards - done
    reason = f"{missing} of {job.shards} shards are missing" if missing else ""
    return JobResult(place.path, "incomplete" if missing else "complete", job, done, failed, reason)
