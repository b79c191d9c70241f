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

from kinodyn.jobs.inputs import SampleBatch, Samples
from kinodyn.jobs.result import JobResult, ShardFailure, open_job
from kinodyn.jobs.run import map
from kinodyn.jobs.workspace import workspace

__all__ = ["JobResult", "SampleBatch", "Samples", "ShardFailure", "map", "open_job", "workspace"]


def __dir__() -> list[str]:
    return list(__all__)
