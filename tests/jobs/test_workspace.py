"""A workspace as a job is that of one process."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.jobs.standard.workspace import add_shard, count_samples
from kinodyn.kinematics.workspaces.sampling import Sampled, WorkspaceSampler

pytest.importorskip("pyarrow")


@pytest.mark.parametrize("name", ["ur5", "scara"])
def test_the_job_counts_what_one_process_counts(tmp_path, name):
    robot = kd.load(name)
    frame = robot.frame_names[-1]
    expected = kd.kinematics.workspace(robot, frame, samples=50_000, resolution=0.1, seed=3)
    with ThreadPoolExecutor(2) as threads:
        found = kd.jobs.workspace(robot, frame, samples=50_000, resolution=0.1, seed=3, out=tmp_path, engine=threads)
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_array_equal(found.dexterity, expected.dexterity)
    np.testing.assert_allclose(found.origin, expected.origin)
    assert found.counts.sum() == 50_000
    assert found.max_reach == pytest.approx(expected.max_reach, abs=1e-7)


def test_shards_add_up():
    robot = kd.load("ur5")
    sampler = WorkspaceSampler.create(robot, robot.frame_names[-1], resolution=0.1)
    rng = np.random.default_rng(0)
    whole = count_samples(kd.jobs.SampleBatch(rng, 3000, 0), sampler)
    parts = [count_samples(kd.jobs.SampleBatch(rng, 1000, start), sampler) for start in (0, 1000, 2000)]
    total, expected = Sampled(), Sampled()
    add_shard(expected, whole, sampler)
    for part in parts:
        add_shard(total, part, sampler)
    for found, wanted in zip(total.counts.voxels(), expected.counts.voxels(), strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(total.counts.views(), expected.counts.views())
    np.testing.assert_array_equal(total.farthest, expected.farthest)
