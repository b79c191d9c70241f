"""The benchmark of what moves in time runs, and its answers agree: it stops where they do not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


def report_of(part: str) -> dict[str, Any]:
    """Run one part of the benchmark quickly."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "control.py"), "--quick", "--json", "--only", part],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_steps_of_both_engines_and_batches_are_measured() -> None:
    report = report_of("simulation")
    times = report["simulation"]["us per step"]
    assert {"kinodyn", "kinodyn rk4", "MuJoCo", "kinodyn batch 1", "kinodyn batch 2"} <= set(times)
    assert all(us > 0 for us in times.values())
    assert len(report["goals"]) == 2


def test_a_tick_of_each_controller_is_measured() -> None:
    report = report_of("operational-space")
    found = report["operational-space"]
    assert {"operational space", "task space", "cartesian impedance", "operational space, batch of 1000"} <= set(
        found["us per tick"]
    )
    assert all(us > 0 for us in found["us per tick"].values())
    assert found["difference"] < 1e-8
    assert [goal["measured"] for goal in report["goals"]] == [found["us per tick"]["operational space"]]


def test_a_tick_of_inverse_dynamics_is_measured_with_or_without_tsid() -> None:
    report = report_of("inverse-dynamics")
    found = report["inverse-dynamics"]
    assert found["ticks"] == 20 and all(us["median"] > 0 for us in found["us"].values())
    assert ("TSID" in found["us"]) != bool(found["without TSID"])
    assert len(report["goals"]) == 1 + ("TSID" in found["us"])
