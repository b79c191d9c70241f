"""Rerun: its own reader finds the poses of the links and the curves of the joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd

pytest.importorskip("rerun")
chunks = pytest.importorskip("rerun.chunk")


def read(path: Path) -> dict[str, dict[str, np.ndarray]]:
    """Return the columns of each entity that change over time."""
    found: dict[str, dict[str, np.ndarray]] = {}
    for chunk in chunks.RrdReader(str(path)).stream():
        if not chunk.is_static:
            batch = chunk.to_record_batch()
            found[chunk.entity_path] = {
                name: np.array(batch.column(name).to_pylist())
                for name in batch.schema.names
                if "RowId" not in name and "time" not in name
            }
    return found


@pytest.mark.parametrize("name", ["panda", "humanoid"])
def test_poses_and_curves_are_those_of_the_recording(tmp_path: Path, name: str) -> None:
    robot = kd.load(name)
    q = robot.random(7, seed=0)
    v = np.random.default_rng(0).normal(size=(7, robot.nv))
    recording = kd.Recording.from_robot(robot, np.arange(7) * 0.1, q, v, 2 * v, signals={"error": np.arange(7.0)})
    kd.interop.rerun.save(recording, robot, tmp_path / "run.rrd")
    found = read(tmp_path / "run.rrd")
    for k, joint in enumerate(recording.v_names):
        np.testing.assert_allclose(found[f"/v/{joint}"]["Scalars:scalars"].ravel(), v[:, k])
    np.testing.assert_array_equal(found["/signals/error/0"]["Scalars:scalars"].ravel(), np.arange(7.0))
    links = [entity.split("/")[2] for entity in found if entity.startswith("/robot/")]
    assert len(links) > 5
    for link in links:
        T = kd.kinematics.pose(robot, q, link)
        at = found[f"/robot/{link}"]["Transform3D:translation"].reshape(7, 3)
        np.testing.assert_allclose(at, T[:, :3, 3], atol=1e-6)  # single precision
        turned = kd.spatial.from_quaternion(_unit(found[f"/robot/{link}"]["Transform3D:quaternion"].reshape(7, 4)))
        np.testing.assert_allclose(turned, T[:, :3, :3], atol=1e-5)


def _unit(quaternion: np.ndarray) -> np.ndarray:
    return quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)


def test_what_cannot_be_shown_is_an_error(tmp_path: Path) -> None:
    robot = kd.load("panda")
    recording = kd.sim.simulate(robot, None, 0.01)
    with pytest.raises(kd.InputError, match="robot must have the joints of the recording"):
        kd.interop.rerun.save(recording, kd.load("ur5"), tmp_path / "run.rrd")
    with pytest.raises(kd.InputError, match="path must end in .rrd"):
        kd.interop.rerun.save(recording, robot, tmp_path / "run.bag")
