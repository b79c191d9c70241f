"""`kinodyn walk`: metrics, exit code, report."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.cli import walk_plots
from kinodyn.cli.commands.walk import pushes
from kinodyn.cli.plotting import link_segments, plot_stick_figures
from kinodyn.cli.walk_tables import walk_tables

Run = Callable[[str], Any]  # the fixture of conftest.py


def _no_screen(*_: Any, **__: Any) -> None:
    raise kd.InputError("no screen")


def test_pushes_are_parsed_as_the_help_says() -> None:
    robot = kd.load("humanoid")
    forward, left, long = pushes(robot, ["60@3", "0,-60@2.5", "1,2,3@1+0.2"])
    base = robot.joints[0].child
    assert (forward.frame, forward.force.tolist(), forward.start, forward.duration) == (base, [60, 0, 0], 3.0, 0.1)
    assert (left.force.tolist(), left.start) == ([0, -60, 0], 2.5)
    assert (long.force.tolist(), long.duration) == ([1, 2, 3], 0.2)


def test_a_fall_is_exit_code_1_and_all_files_are_written(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk_plots, "render_images", _no_screen)
    done = run("kinodyn walk --duration 3.2 --push 0,3000@0.6 --save fall.npz --report fall.html --json")
    assert done.code == 1 and done.result["walked"] is False and done.result["fallen"] > 0.6
    assert kd.Recording.load("fall.npz").status == "complete"
    assert len(re.findall("<img ", Path("fall.html").read_text())) == 4


def test_the_table_has_every_metric_with_its_unit() -> None:
    summary: dict[str, Any] = {"robot": "x", "walked": True, "fallen": None, "distance": 2.0, "least_margin": 0.01,
                               "new_metric": 3.0, "torques": {"a": 0.5, "b": 0.9}}  # fmt: skip
    metrics, torque = walk_tables(summary)
    assert metrics.rows[0] == ("falls", 0, "") and walk_tables({"fallen": 3.0})[0].rows == [("fell at", 3.0, "s")]
    assert metrics.rows[1:] == [("distance", 2.0, "m"), ("ZMP margin, smallest", 10.0, "mm"), ("new metric", 3.0, "")]
    assert [row[0] for row in torque.rows] == ["b", "a"] and torque.rows[0][1] == pytest.approx(90.0)


def test_link_segments_connect_the_joints() -> None:
    robot = kd.load("planar2r")
    lines = link_segments(robot, np.array([0.0, np.pi / 2]))
    ends = lines.reshape(-1, 3)
    assert np.linalg.norm(ends - [1.0, 0.0, 0.0], axis=1).min() < 1e-9
    assert np.linalg.norm(ends - [1.0, 1.0, 0.0], axis=1).min() < 1e-9


def test_stick_figures_need_no_renderer(tmp_path: Path) -> None:
    robot = kd.load("humanoid")
    figure = plot_stick_figures(robot, robot.random(3, seed=0), [0.0, 1.0, 2.0])
    figure.savefig(tmp_path / "strip.png")
    assert len(figure.axes) == 3 and (tmp_path / "strip.png").stat().st_size > 3_000


def test_the_video_is_refused_before_the_walk_if_nothing_renders(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def walked(*_: Any, **__: Any) -> None:
        raise AssertionError("the walk started")

    monkeypatch.setattr(kd.walking, "walk", walked)
    monkeypatch.setattr("kinodyn.sim.video.backend", _no_screen)
    for line, said in (
        ("kinodyn walk --video walk.gif", "no screen"),
        ("kinodyn walk --video walk.avi", "allowed are .mp4, .gif, .webp"),
        ("kinodyn walk --video walk.gif --size 100", "such as 640x480"),
        ("kinodyn walk --video walk.gif --size 101x100", "even numbers"),
        ("kinodyn walk --video walk.gif --fps 0", "fps"),
    ):
        done = run(line)
        assert done.code == 2 and said in " ".join(done.err.split())


def test_a_walk_is_written_as_a_video(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    written: dict[str, Any] = {}
    monkeypatch.setattr("kinodyn.sim.require_video", lambda path, **settings: None)
    monkeypatch.setattr("kinodyn.sim.render_video", lambda *given, **settings: written.update(given=given, **settings))
    done = run("kinodyn walk --duration 3.2 --video walk.gif --fps 12 --size 320x240")
    assert "written: walk.gif" in done.err and written["given"][2] == Path("walk.gif")
    assert len(written["given"][1]) > 100  # the recording
    assert (written["fps"], written["size"]) == (12.0, (320, 240))
