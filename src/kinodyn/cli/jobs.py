"""Options of the commands that run as jobs, and the folder of a job."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from kinodyn.cli.options import option
from kinodyn.cli.result import Table

if TYPE_CHECKING:
    from kinodyn.jobs import JobResult

JobOption: TypeAlias = Annotated[
    Path | None,
    option("run as a job on all cores, with its results in this folder; a stopped job is resumed", metavar="FOLDER"),
]
JobEngine: TypeAlias = Annotated[
    str | None,
    option(
        "engine of the job: processes, dask (workers on this machine), or the address of a Dask scheduler", "--engine"
    ),
]


@contextmanager
def job_options(folder: Path | None, engine: str | None) -> Iterator[dict[str, Any]]:
    """Provide `out`, `engine` and `progress` of a job; without a folder the job has a temporary one."""
    options = {"engine": engine or "processes", "progress": True}
    if folder is not None:
        yield {"out": folder, **options}
        return
    with tempfile.TemporaryDirectory(prefix="kinodyn-") as temporary:
        yield {"out": temporary, **options}


def skipped(job: JobResult, names: list[str]) -> list[Table]:
    """Return a table of the inputs that failed, one for each shard; none if none did."""
    rows = [(names[index], failure.error) for index, failure in sorted(job.failed.items())]
    return [Table("skipped", ("file", "reason"), rows)] if rows else []
