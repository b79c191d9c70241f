"""Workspaces from any number of samples, as a job."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.errors import KinodynError
from kinodyn.jobs.inputs import SampleBatch, Samples
from kinodyn.jobs.run import map
from kinodyn.kinematics.workspaces.grid import Workspace
from kinodyn.kinematics.workspaces.sampling import CHUNK, WorkspaceSampler
from kinodyn.kinematics.workspaces.voxels import VoxelCounts
from kinodyn.model.robot import Robot

SHARD = 64 * CHUNK
VOXEL, VIEW, FARTHEST = range(3)  # kinds of rows in a shard


def workspace(
    robot: Robot,
    frame: str | int,
    *,
    out: str | os.PathLike[str],
    samples: int = 10**8,
    resolution: float | None = None,
    joints: Sequence[str] | None = None,
    q0: ArrayLike | None = None,
    dexterous: bool = True,
    approach: str = "z",
    directions: int = 50,
    seed: int = 0,
    engine: Any = "processes",
    workers: int | None = None,
    progress: bool = False,
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
    samples, resolution, joints, q0, dexterous, approach, directions, seed
        See `kinematics.workspace`.
    engine, workers, progress
        See `jobs.map`.

    Returns
    -------
    Workspace

    Raises
    ------
    KinodynError
        If the job was interrupted or shards failed; call it again to continue.
    """
    sampler = WorkspaceSampler.create(
        robot,
        frame,
        resolution=resolution,
        joints=joints,
        q0=q0,
        dexterous=dexterous,
        approach=approach,
        directions=directions,
        seed=seed,
    )
    parameters = {
        "robot": robot.name,
        "frame": sampler.frame,
        "joints": [joint.name for joint in sampler.moving],
        "start": sampler.start.tolist(),
        "edge": sampler.edge,
        "directions": directions if dexterous else 0,
        "approach": approach,
    }
    job = map(
        functools.partial(count_samples, sampler=sampler),
        Samples(samples, seed),
        out=out,
        engine=engine,
        workers=workers,
        shard=min(SHARD, max(1, samples)),
        parameters=parameters,
        progress=progress,
    )
    if job.status != "complete":
        raise KinodynError(f"the workspace is not complete: {job.reason}; call it again with the same out= to continue")
    found, farthest = VoxelCounts(), np.zeros(0, dtype=np.int64)
    for shard in job.shards():
        part, far = _unpack(shard)
        found.add(part.voxels, part.counts, part.views)
        farthest = sampler.farthest(np.concatenate([farthest, far]))
    return sampler.workspace(found, farthest, samples)


def count_samples(batch: SampleBatch, sampler: WorkspaceSampler) -> dict[str, NDArray[np.int64]]:
    """Count the samples of a shard: rows of a kind (voxel, view or farthest sample), key and count."""
    found, farthest = VoxelCounts(), np.zeros(0, dtype=np.int64)
    end = batch.start + batch.count
    for start in range(batch.start, end, CHUNK):
        part, far = sampler.sample(start, min(CHUNK, end - start))
        found.add(part.voxels, part.counts, part.views)
        farthest = sampler.farthest(np.concatenate([farthest, far]))
    keys = (found.voxels, found.views, farthest)
    kinds = np.concatenate([np.full(len(part), kind) for kind, part in enumerate(keys)])
    counts = np.concatenate([found.counts, np.ones(len(found.views) + len(farthest), dtype=np.int64)])
    return {"kind": kinds.astype(np.int64), "key": np.concatenate(keys), "count": counts}


def _unpack(shard: dict[str, NDArray[Any]]) -> tuple[VoxelCounts, NDArray[np.int64]]:
    kind, key, count = (shard[name].astype(np.int64) for name in ("kind", "key", "count"))
    return VoxelCounts(key[kind == VOXEL], count[kind == VOXEL], key[kind == VIEW]), key[kind == FARTHEST]
