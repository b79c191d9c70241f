"""Jobs: the same function over millions of inputs, on all cores or on a cluster, in shards that can be resumed.

    inputs -> shards -> function, in processes or Dask workers -> one Parquet file per shard, and a manifest

>>> import tempfile
>>> from concurrent.futures import ThreadPoolExecutor
>>> import numpy as np, kinodyn as kd
>>> robot = kd.load("panda")
>>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as threads:
...     job = kd.jobs.map(
...         lambda q: kd.kinematics.pose(robot, q, "panda_link8")[:, :3, 3],
...         robot.random(1000), out=folder, engine=threads, shard=250)
...     position = job.read()["result"]
>>> position.shape
(1000, 3)
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from kinodyn.jobs.files import Files
from kinodyn.jobs.inputs import SampleBatch, Samples
from kinodyn.jobs.manifest import JobDescription
from kinodyn.jobs.result import JobResult, ShardFailure, open_job
from kinodyn.jobs.run import map

if _TYPE_CHECKING:
    from kinodyn.jobs.standard.identification import identify
    from kinodyn.jobs.standard.inverse_kinematics import inverse_kinematics
    from kinodyn.jobs.standard.motions import motion_statistics
    from kinodyn.jobs.standard.retargeting import retarget
    from kinodyn.jobs.standard.walking import WalkingEnvelope, walking_envelope
    from kinodyn.jobs.standard.workspace import workspace

# imported on first use: every worker imports this package, and all of these together take two seconds
_MEMBERS = {
    "WalkingEnvelope": "walking",
    "identify": "identification",
    "inverse_kinematics": "inverse_kinematics",
    "motion_statistics": "motions",
    "retarget": "retargeting",
    "walking_envelope": "walking",
    "workspace": "workspace",
}

__all__ = [
    "Files",
    "JobDescription",
    "JobResult",
    "SampleBatch",
    "Samples",
    "ShardFailure",
    "WalkingEnvelope",
    "identify",
    "inverse_kinematics",
    "map",
    "motion_statistics",
    "open_job",
    "retarget",
    "walking_envelope",
    "workspace",
]


def __getattr__(name: str) -> _Any:
    """Import a standard job on first use."""
    if name not in _MEMBERS:
        raise AttributeError(f"module 'kinodyn.jobs' has no attribute {name!r}")
    value = getattr(_import_module(f"kinodyn.jobs.standard.{_MEMBERS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
