"""Workspaces from any number of samples, as a job."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinodyn.argument_types import check_types
from kinodyn.errors import KinodynError
from kinodyn.jobs.inputs import SampleBatch, Samples
from kinodyn.jobs.run import map
from kinodyn.jobs.standard.common import job_parameters
from kinodyn.kinematics.workspaces.grid import Workspace
from kinodyn.kinematics.workspaces.sampling import CHUNK, Sampled, WorkspaceSampler
from kinodyn.model.robot import Robot

SHARD = 64 * CHUNK
VOXEL, VIEW, FARTHEST = range(3)  # kinds of rows in a shard


@check_types
def workspace(
    robot: Robot,
    frame: str | int,
    *,
    out: str | os.PathLike[str],
    samples: int = 10**8,
    engine: Any = "processes",
    workers: int | None = None,
    progress: bool = False,
    **options: Any,
) -> Workspace:
    """Map the positions that a frame can reach, as `kinematics.workspace` does, by a job that can be resumed.

    The result is the same as that of `kinematics.workspace` with these arguments. Memory is bounded by the number of
    voxels, not of samples.

    Parameters
    ----------
    robot, frame
        See `kinematics.workspace`.
    out
        Folder of the job; see `jobs.map`.
    samples
        Number of configurations.
    engine, workers, progress
        See `jobs.map`.
    options
        resolution, joints, q0, dexterous, approach, directions and seed; see `kinematics.workspace`.

    Returns
    -------
    Workspace

    Raises
    ------
    KinodynError
        If the job was interrupted or shards failed; call it again to continue.
    """
    sampler = WorkspaceSampler.create(robot, frame, **options)
    settings = {
        "frame": sampler.frame,
        "joints": [joint.name for joint in sampler.moving],
        "start": sampler.start.tolist(),
        "edge": sampler.edge,
        "directions": sampler.directions if sampler.dexterous else 0,
        "approach": "xyz"[sampler.axis],
    }
    job = map(
        functools.partial(count_samples, sampler=sampler),
        Samples(samples, sampler.seed),
        out=out,
        engine=engine,
        workers=workers,
        shard=min(SHARD, max(1, samples)),
        parameters=job_parameters(robot, settings),
        progress=progress,
    )
    if job.status != "complete":
        raise KinodynError(f"the workspace is not complete: {job.reason}; call it again with the same out= to continue")
    found = Sampled()
    for shard in job.shards():
        add_shard(found, shard, sampler)
    return sampler.workspace(found, samples)


def count_samples(batch: SampleBatch, sampler: WorkspaceSampler) -> dict[str, NDArray[np.int64]]:
    """Count the samples of a shard: rows of a kind (voxel, view or farthest sample), key and count."""
    found = Sampled()
    end = batch.start + batch.count
    for start in range(batch.start, end, CHUNK):
        sampler.sample(found, start, min(CHUNK, end - start))
    (voxels, samples), views = found.counts.voxels(), found.counts.views()
    keys = (voxels, views, found.farthest)
    kinds = np.concatenate([np.full(len(part), kind) for kind, part in enumerate(keys)])
    counts = np.concatenate([samples, np.ones(len(views) + len(found.farthest), dtype=np.int64)])
    return {"kind": kinds.astype(np.int64), "key": np.concatenate(keys), "count": counts}


def add_shard(found: Sampled, shard: dict[str, NDArray[Any]], sampler: WorkspaceSampler) -> None:
    """Add what a shard has counted to `found`."""
    kind, key, count = (shard[name].astype(np.int64) for name in ("kind", "key", "count"))
    found.counts.add(key[kind == VOXEL], count[kind == VOXEL], key[kind == VIEW])
    sampler.keep_farthest(found, key[kind == FARTHEST])
