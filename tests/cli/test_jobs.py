"""Commands that run as jobs: a folder that can be resumed, and the same numbers as without it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd

from .conftest import Run

pytest.importorskip("pyarrow")


def shards(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in sorted(folder.glob("shard-*"))}


def test_a_workspace_by_a_job_is_that_of_one_process(run: Run, tmp_path: Path) -> None:
    command = "workspace planar2r --poses 4e4 --json --approach x --directions 20"
    plain = run(command).result
    assert run(f"{command} --job folder").result == plain
    before = shards(tmp_path / "folder")
    assert before and run(f"{command} --job folder").result == plain
    assert shards(tmp_path / "folder") == before
    refused = run(f"{command} --seed 4 --job folder")
    assert refused.code != 0 and "has another job" in refused.out + refused.err


def test_targets_are_solved_by_a_job(run: Run, tmp_path: Path) -> None:
    robot = kd.load("ur5")
    np.savez(tmp_path / "poses.npz", T=kd.kinematics.pose(robot, robot.random(20, seed=2), "wrist_3_link"))
    ran = run("ik ur5 --targets poses.npz --frame wrist_3_link --json --job folder")
    assert ran.code == 0, ran.err
    assert kd.jobs.open_job(tmp_path / "folder").read()["success"].all()


def test_motions_are_analysed_and_files_that_cannot_be_used_are_listed(run: Run, tmp_path: Path) -> None:
    robot = kd.load("planar2r")
    time = np.linspace(0.0, 1.0, 101)
    q = np.column_stack([np.sin(time), np.cos(time)])
    (tmp_path / "in").mkdir()
    kd.Recording.from_robot(robot, time, q, np.gradient(q, time, axis=0), np.zeros_like(q)).save(
        tmp_path / "in" / "a.npz"
    )
    (tmp_path / "in" / "b.csv").write_text("time\n0\n")
    assert "b.csv" in run("motions planar2r in --job folder").out
    job = kd.jobs.open_job(tmp_path / "folder")
    assert job.done == 1 and set(job.read()["file"]) == {"a.npz"}
