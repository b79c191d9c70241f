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
        seen["names"] = [track.name for track in viewer.player.tracks] if viewer.player is not None else []
        raise KeyboardInterrupt

    monkeypatch.setattr(Viewer, "wait", wait)
    return seen
