"""kinodyn motions: torques of recorded motions, and whether a robot can produce them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np

from kinodyn.cli import args
from kinodyn.cli.command import command
from kinodyn.cli.jobs import JobEngine, JobOption, job_options, skipped
from kinodyn.cli.options import Base, RobotName, argument, option
from kinodyn.cli.result import CommandResult, Table
from kinodyn.errors import InputError

COLUMNS = ("file", "duration [s]", "feasible", "torque / limit", "at joint", "speed / limit", "at joint", "energy [J]")
FEASIBLE = 0.9  # fraction of the frames below which a filter is recommended


@command(
    "motions",
    examples=["kinodyn motions humanoid walk.npz --out torques.csv"],
    without=("plot",),
)
def motions(
    robot: RobotName,
    files: Annotated[
        list[Path],
        argument("recordings (.npz, .parquet, .csv), folders of them, or the folder of `kinodyn retarget --job`"),
    ],
    cutoff: Annotated[float | None, option("low-pass filter before differentiation [Hz]")] = None,
    friction: Annotated[float, option("friction coefficient of the feet")] = 0.7,
    job: JobOption = None,
    engine: JobEngine = None,
    base: Base = None,
) -> CommandResult:
    """Compute the torques that recorded motions require, and in how many frames the robot can produce them.

    Foot forces stay within friction cones and torques within limits, if the motion allows it. --out writes a row
    for each joint of each file. Files that cannot be used are listed with the reason.
    """
    from kinodyn import jobs, tables

    loaded = args.load(robot, base)
    given = jobs.Files(files, tables.SUFFIXES)
    with job_options(job, engine) as options:
        found = jobs.motion_statistics(loaded, given.paths, cutoff=cutoff, friction=friction, **options)
        problems = skipped(found, [path.name for path in given.paths])
        if found.done == 0:
            raise InputError(found.reason)
        shards, columns = list(found.shards()), found.read()
    rows = []
    for shard in shards:
        torque, speed = int(np.argmax(shard["torque_ratio"])), int(np.argmax(shard["speed_ratio"]))
        rows.append(
            (
                *(str(shard["file"][0]), float(shard["duration"][0]), float(shard["feasible"][0])),
                *(float(shard["torque_ratio"][torque]), str(shard["joint"][torque])),
                *(float(shard["speed_ratio"][speed]), str(shard["joint"][speed]), float(shard["energy"].sum())),
            )
        )
    notes = []
    if cutoff is None and min(row[2] for row in rows) < FEASIBLE:
        notes = ["accelerations contain the noise of the recordings; --cutoff, such as 10 Hz, filters it"]
    return CommandResult(
        f"{loaded.name}: {len(rows)} motions",
        {"motions": [dict(zip(COLUMNS, row, strict=False)) for row in rows]},
        {"robot": robot, "files": [str(path) for path in given.paths], "cutoff": cutoff, "friction": friction},
        [Table("", COLUMNS, rows), *problems],
        samples=columns,
        interrupted=found.status == "interrupted",
        ok=found.status == "complete",
        notes=notes,
    )
