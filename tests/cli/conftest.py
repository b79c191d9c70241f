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


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stand in for what opens a browser; tells how it was called."""
    calls: dict[str, Any] = {}
    viewer = types.ModuleType("kinodyn.viewer")

    def view(robot: kd.Robot, **settings: Any) -> None:
        calls["view"] = (robot, settings)

    viewer.view = view  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "kinodyn.viewer", viewer)
    return calls
