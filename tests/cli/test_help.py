"""Every command has an example in its help, and every example runs as shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.cli.command import EXAMPLES

Run = Callable[[str], Any]  # the fixture of conftest.py

COMMANDS = {
    "info", "check", "fk", "ik", "jacobian", "dynamics", "trajectory", "workspace", "derive", "identify", "simulate",
    "push", "walk", "view", "bench", "robots", "collide", "plan", "retarget", "envelope", "motions", "bag",
}  # fmt: skip
PAGE = Path(__file__).parent.parent.parent / "docs" / "command_line.md"


def record(path: str) -> None:
    """Write a recording of a standing humanoid, as `kinodyn walk --save` does."""
    robot = kd.load("humanoid")
    q, still = np.tile(robot.configuration("standing"), (31, 1)), np.zeros((31, robot.nv))
    kd.Recording.from_robot(robot, np.linspace(0.0, 0.3, 31), q, still, still).save(path)


def test_every_capability_is_a_listed_command(run: Run) -> None:
    shown = run("kinodyn --help")
    assert set(EXAMPLES) == COMMANDS
    assert shown.code == 0 and all(re.search(rf"\b{name} ", shown.out) for name in COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_shows_the_examples(run: Run, name: str) -> None:
    shown = run(f"kinodyn {name} --help")
    assert shown.code == 0 and EXAMPLES[name]
    for example in EXAMPLES[name]:
        assert example in shown.out


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_examples_in_the_help_run(run: Run, name: str, outside: dict[str, Any], scene: None) -> None:
    if name == "bag":
        pytest.importorskip("rosbags")
    if name in ("view", "collide", "motions", "bag"):
        record("walk.npz")
    for example in EXAMPLES[name]:
        done = run(example)
        assert done.code == 0, f"{example}\n{done.err}"
        for file in re.findall(r"--(?:out|save|plot|urdf|write-srdf) (\S+)", example):
            assert Path(file).stat().st_size > 0


def test_the_commands_on_the_documentation_page_run(run: Run, outside: dict[str, Any], scene: None) -> None:
    lines = re.findall(r"^\$ (kinodyn .*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    known = {example for examples in EXAMPLES.values() for example in examples}
    assert len(lines) >= 15
    record("walk.npz")
    for line in lines:
        if line in known and line.split()[1] not in ("fk", "identify"):
            continue  # the test above has run it, and no later line needs its files
        command, _, file = line.partition(" > ")
        done = run(command)
        assert done.code == 0, f"{line}\n{done.err}"
        if file:
            Path(file).write_text(done.out)


def test_the_version_is_printed(run: Run) -> None:
    assert run("kinodyn --version").out.startswith(f"kinodyn {kd.__version__}")


def test_the_shell_completes_commands_and_robots(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_KINODYN_COMPLETE", "complete_bash")
    for words, expected in (
        ("kinodyn traj", "trajectory"),
        ("kinodyn fk pand", "panda"),
        ("kinodyn walk hum", "humanoid"),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        assert expected in run("kinodyn").out.split()
