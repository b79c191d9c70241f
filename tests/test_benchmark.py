"""The benchmark runs, and its engines agree: it stops where they do not. How fast they are is not a test's business."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "engine.py"


def test_every_row_is_measured_for_engines_that_agree() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--quick", "--json", "--robots", "panda"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    times = json.loads(done.stdout)["robots"][0]["us"]
    assert len(times) == 9
    for us in times.values():
        assert us["kinodyn"] > 0 and us["kinodyn batch 1"] > 0 and us["kinodyn batch 2"] > 0 and us["Pinocchio"] > 0
