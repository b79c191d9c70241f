"""Every example runs headless from any folder, prints something and writes its figure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("[0-9]*.py"))


def test_examples_are_numbered_without_gaps_and_short() -> None:
    assert [int(example.name[:2]) for example in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
    assert all(len(example.read_text().splitlines()) < 120 for example in EXAMPLES)
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_runs_and_writes_its_figure(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example), "--plot", "figure.png"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    if done.stdout.startswith("skipped: "):  # an extra that is not installed
        pytest.skip(done.stdout.strip())
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
