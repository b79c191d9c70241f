"""The benchmarks run and the engines agree; times are not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"

# Runs benchmarks/ik.py in a Python where none of the peers can be imported, whatever is installed.
ALONE = """
import runpy, sys
sys.modules.update(dict.fromkeys(("roboticstoolbox", "eaik", "placo", "pink", "mink", "pinocchio")))
sys.path.insert(0, sys.argv[1])
sys.argv = ["ik.py", *sys.argv[2:]]
runpy.run_path(sys.path[0] + "/ik.py", run_name="__main__")
"""


def test_every_row_is_measured_for_engines_that_agree() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "engine.py"), "--quick", "--json", "--robots", "panda"],
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


def run_ik_alone(*options: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(BENCHMARKS), "--quick", *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_inverse_kinematics_is_measured_and_verified_without_peers() -> None:
    report = json.loads(run_ik_alone("--json"))
    assert [row["chain"] for row in report["numeric"]] == ["panda", "ur5", "puma560"]
    assert [row["chain"] for row in report["closed form"]] == ["puma560", "ur5"]
    for row in report["numeric"]:
        assert all(us > 0 for us in row["us"].values())
        assert all(found["false claims"] == 0 for found in row["answers"].values())
        assert "not installed" in row["without robotics-toolbox"]
    for row in report["closed form"]:
        assert row["answers"]["kinodyn"]["wrong ones"] == 0
        assert row["answers"]["kinodyn"]["true joints among them %"] == 100.0
    assert len(report["protocol"]) == 9
    assert all(row["batch"]["false claims"] == 0 for row in report["protocol"])
    body = report["whole body"]
    assert list(body["us"]) == ["kinodyn"] and set(body["without"]) == {"Placo", "Pink", "mink"}
    assert body["end mm"]["kinodyn"]["hands"] < body["start mm"]["hands"]
    against_peers = [goal for goal in report["goals"] if "against" in goal["what"]]
    assert against_peers and all(goal["met"] is None for goal in against_peers)


def test_the_tables_name_the_peers_that_are_missing() -> None:
    text = run_ik_alone("--only", "closed-form")
    assert "EAIK not installed" in text
    assert "roboticstoolbox-python not installed" in text
    assert "whole body" not in text.lower().replace("whole-body", "")


def test_every_method_of_solve_has_a_row() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "ik_methods.py"), "ur5", "--poses", "20"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()[2:]]
    methods = ("auto", "lm", "dls", "pinv", "newton", "transpose", "optimise")
    assert [row[0] for row in rows] == [f'`"{method}"`' for method in methods]
    assert rows[0][2] == rows[1][2] == "100.0%"  # with restarts


def test_contacts_are_measured_for_engines_that_agree() -> None:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "contacts.py"), "--quick", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["robot"], report["constraints"]) == ("talos", 12)
    assert len(report["us"]) == 2 and len(report["goals"]) == 4
    for us in report["us"].values():
        assert us.keys() == {"Pinocchio", "kinodyn", "kinodyn batch 1", "kinodyn batch 2"} and min(us.values()) > 0
