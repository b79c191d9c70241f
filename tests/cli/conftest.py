"""How tests call the command line: in this process, as the script does."""

from __future__ import annotations

import json
import shlex
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.cli import main


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

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


class PushMap:
    """What `push_map` gives, with numbers that are easy to recognise."""

    def __init__(self, directions: int) -> None:
        self.directions = np.linspace(0.0, 2.0 * np.pi, directions, endpoint=False)
        self.survived, self.bound = np.full(directions, 20.0), np.full(directions, 25.0)

    def plot(self, path: str | None) -> Any:
        from matplotlib.figure import Figure

        return Figure()

    def summary(self) -> dict[str, Any]:
        return {"survived": self.survived, "bound": self.bound}


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stand in for what opens a browser and for what takes minutes; tells how they were called."""
    calls: dict[str, Any] = {}
    viewer = types.ModuleType("kinodyn.viewer")

    def view(robot: kd.Robot, **settings: Any) -> None:
        calls["view"] = (robot, settings)

    def push_map(robot: kd.Robot, **settings: Any) -> PushMap:
        calls["push"] = (robot, settings)
        return PushMap(settings["directions"])

    viewer.view = view  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "kinodyn.viewer", viewer)
    monkeypatch.setattr(kd.walking, "push_map", push_map, raising=False)
    return calls
