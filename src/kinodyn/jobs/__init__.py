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

from kinodyn.jobs.files import Files
from kinodyn.jobs.identification import identify
from kinodyn.jobs.inputs import SampleBatch, Samples
from kinodyn.jobs.inverse_kinematics import inverse_kinematics
from kinodyn.jobs.motions import motion_statistics
from kinodyn.jobs.result import JobResult, ShardFailure, open_job
from kinodyn.jobs.retargeting import retarget
from kinodyn.jobs.run import map
from kinodyn.jobs.walking import WalkingEnvelope, walking_envelope
from kinodyn.jobs.workspace import workspace

__all__ = [
    "Files",
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


def __dir__() -> list[str]:
    return list(__all__)
