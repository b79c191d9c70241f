"""The benchmark of the simulation runs, and both engines agree: it stops where they do not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


def test_steps_of_both_engines_and_batches_are_measured() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "control.py"), "--quick", "--json", "--only", "simulation"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    times = report["simulation"]["us per step"]
    assert {"kinodyn", "kinodyn rk4", "MuJoCo", "kinodyn batch 1", "kinodyn batch 2"} <= set(times)
    assert all(us > 0 for us in times.values())
    assert len(report["goals"]) == 2
