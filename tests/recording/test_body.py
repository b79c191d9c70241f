"""A recording knows its robot: it is not replayed on another body."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.recording.body import require_same_body


def still(robot: kd.Robot, rows: int = 5) -> kd.Recording:
    q = np.tile(robot.neutral(), (rows, 1))
    zeros = np.zeros((rows, robot.nv))
    return kd.Recording.from_robot(robot, np.arange(rows) * 0.1, q, zeros, zeros)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_the_body_survives_a_file_and_slices(tmp_path: Path, suffix: str) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    robot = kd.load("humanoid", height=1.2)
    still(robot).save(tmp_path / f"walk{suffix}")
    loaded = kd.Recording.load(tmp_path / f"walk{suffix}")
    for recording in (loaded, loaded[1:3], loaded.with_signals(x=np.zeros(5))):
        assert recording.body is not None and recording.body.difference(robot) == ""
        assert recording.body.name == "humanoid" and recording.body.mass == pytest.approx(robot.mass)


def test_a_walk_of_a_child_is_not_played_on_an_adult(tmp_path: Path) -> None:
    child, adult = kd.load("humanoid", height=1.2), kd.load("humanoid", height=1.7)
    recording = still(child)
    with pytest.raises(kd.InputError, match=r"it is 1\.417 times as large; mass .* kg, now .*; moved are") as caught:
        require_same_body(recording, adult)
    assert "load the robot that was recorded" in str(caught.value)
    with pytest.raises(kd.InputError, match="times as large"):
        kd.sim.render_video(adult, recording, tmp_path / "walk.mp4")
    with pytest.raises(kd.InputError, match="times as large"):
        kd.view(adult, recording=recording, port=0)


def test_another_payload_friction_or_name_is_the_same_body() -> None:
    robot = kd.load("ur5")
    recording = still(robot)
    for same in (robot.with_payload("wrist_3_link", 1.0), robot.replace(damping=2.0), kd.load("ur5")):
        require_same_body(recording, same)


def test_other_links_are_named() -> None:
    with pytest.raises(kd.InputError, match="links of only one of them are .* and .* more"):
        require_same_body(still(kd.load("ur5")), kd.load("panda"))


def test_a_recording_without_a_body_is_played_on_any_robot_that_fits() -> None:
    robot = kd.load("ur5")
    known = still(robot)
    unknown = kd.Recording("log", known.time, known.q, known.v, known.tau)
    require_same_body(unknown, kd.load("ur5").with_payload("wrist_3_link", 1.0))
    assert unknown.body is None


@pytest.mark.parametrize("broken", [3, {}, {"links": ["a"], "positions": [[1, 2]], "fingerprint": "", "mass": 1}])
def test_a_broken_body_in_a_file_is_an_error(tmp_path: Path, broken: object) -> None:
    from kinodyn import tables

    still(kd.load("ur5")).save(tmp_path / "a.npz")
    table = tables.read(tmp_path / "a.npz")
    tables.write(tmp_path / "a.npz", table.columns, metadata={**table.metadata, "body": broken})
    with pytest.raises(kd.InputError, match="is not a recording"):
        kd.Recording.load(tmp_path / "a.npz")
