"""Fixtures that call the command line in this process."""

from __future__ import annotations

import json
import shlex
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kinodyn.cli import main
from kinodyn.viewer.viewer import Viewer


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Read stdout as exactly one JSON document without NaN."""

        def refuse(name: str) -> None:
            raise AssertionError(f"{name} is not JSON")

        return json.loads(self.out, parse_constant=refuse)

    @property
    def result(self) -> Any:
        return self.document["result"]


Run = Callable[[str], Ran]

# A board in front of the Panda and a ball beside it, and a motion from one side of the board to the other.
SCENE = """\
name: board
world:
  collision_objects:
    - id: board
      primitives: [{type: box, dimensions: [0.4, 0.04, 0.6]}]
      primitive_poses: [{position: [0.6, 0.0, 0.3]}]
    - id: ball
      primitives: [{type: sphere, dimensions: [0.08]}]
      primitive_poses: [{position: [0.4, 0.5, 0.3]}]
"""
REQUEST = """\
start_state:
  joint_state:
    name: [panda_joint1, panda_joint2, panda_joint3, panda_joint4, panda_joint5, panda_joint6, panda_joint7]
    position: [0.9, -0.2, 0.0, -2.0, 0.0, 1.6, 0.8]
goal_constraints:
  - joint_constraints: [{joint_name: panda_joint1, position: -0.9}]
allowed_planning_time: 2.0
"""


@pytest.fixture
def scene(tmp_path: Path) -> None:
    """Write scene.yaml and request.yaml to the folder in which commands run."""
    (tmp_path / "scene.yaml").write_text(SCENE)
    (tmp_path / "request.yaml").write_text(REQUEST)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in a folder of its own, on a terminal of 120 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")

    def call(line: str) -> Ran:
        words = shlex.split(line)
        code = main(words[1:] if words[:1] == ["kinodyn"] else words)
        captured = capfd.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace `Viewer.wait`: fetch the page, record what it shows, and press Ctrl-C."""
    seen: dict[str, Any] = {}

    def wait(viewer: Viewer, timeout: float | None = None) -> None:
        with urllib.request.urlopen(viewer.url, timeout=10) as page:
            seen.update(url=viewer.url, status=page.status, robot=viewer.robot.name, mode=viewer.mode)
        seen["goal"] = viewer.planning.problem is not None and viewer.planning.problem.goal
        seen["plan"] = viewer.planning.outcome and viewer.planning.outcome.plan
        seen["world"] = viewer.world.names
        seen["names"] = [track.name for track in viewer.player.tracks] if viewer.player is not None else []
        raise KeyboardInterrupt

    monkeypatch.setattr(Viewer, "wait", wait)
    return seen
