"""The benchmarks run and the engines agree; times are not tested."""

from __future__ import annotations

import importlib
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"

# Runs benchmarks/ik.py in a Python where none of the peers can be imported, whatever is installed.
ALONE = """
import runpy, sys
sys.modules.update(dict.fromkeys(("roboticstoolbox", "eaik", "placo", "pink", "mink", "pinocchio")))
sys.path.insert(0, sys.argv[1])
sys.argv = ["ik.py", *sys.argv[2:]]
runpy.run_path(sys.path[0] + "/ik.py", run_name="__main__")
"""


def run(*command: str) -> str:
    """Run Python with these arguments and return what it prints."""
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_benchmark(script: str, *options: str) -> str:
    """Run a script of the benchmarks and return what it prints."""
    return run(str(BENCHMARKS / script), *options)


def test_every_row_is_measured_for_engines_that_agree() -> None:
    times = json.loads(run_benchmark("engine.py", "--quick", "--json", "--robots", "panda"))["robots"][0]["us"]
    assert len(times) == 9
    for us in times.values():
        assert us["kinodyn"] > 0 and us["kinodyn batch 1"] > 0 and us["kinodyn batch 2"] > 0 and us["Pinocchio"] > 0


def run_ik_alone(*options: str) -> str:
    return run("-c", ALONE, str(BENCHMARKS), "--quick", *options)


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
    assert list(body["us"]) == ["kinodyn", "kinodyn, feet by weight", "kinodyn, self-collision"]
    assert set(body["without"]) == {"Placo", "Pink", "mink"}
    assert body["end mm"]["kinodyn"]["hands"] < body["start mm"]["hands"]
    against_peers = [goal for goal in report["goals"] if "against" in goal["what"]]
    assert against_peers and all(goal["met"] is None for goal in against_peers)


def test_the_tables_name_the_peers_that_are_missing() -> None:
    text = run_ik_alone("--only", "closed-form")
    assert "EAIK not installed" in text
    assert "roboticstoolbox-python not installed" in text
    assert "whole body" not in text.lower().replace("whole-body", "")


def test_every_method_of_solve_has_a_row() -> None:
    printed = run_benchmark("ik_methods.py", "ur5", "--poses", "20")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines()[2:]]
    methods = ("auto", "lm", "dls", "pinv", "newton", "transpose", "optimise")
    assert [row[0] for row in rows] == [f'`"{method}"`' for method in methods]
    assert rows[0][2] == rows[1][2] == "100.0%"  # with restarts


def test_contacts_are_measured_for_engines_that_agree() -> None:
    report = json.loads(run_benchmark("contacts.py", "--quick", "--json"))
    assert (report["robot"], report["constraints"]) == ("talos", 12)
    assert len(report["us"]) == 2 and len(report["goals"]) == 4
    for us in report["us"].values():
        assert us.keys() == {"Pinocchio", "kinodyn", "kinodyn batch 1", "kinodyn batch 2"} and min(us.values()) > 0


def test_motion_planning_is_measured_verified_and_compared() -> None:
    report = json.loads(run_benchmark("motion_planning.py", "--quick", "--json", "--verify", "--peer", "2"))
    assert report["families"].keys() == report["check us"].keys() == {"boxes", "wall", "all"}
    assert report["families"]["all"]["status"] == {"solved": 4}
    for row in report["problems"]:
        assert row["whole"] > row["planning"] > 0 and row["length"] > 0
    assert report["verification"]["paths"] == 4 and report["verification"]["colliding"] == {}
    timed = report["trajectories"]
    assert timed["solved"] == timed["problems"] == 4 and timed["whole"]["median"] > timed["trajectory"]["median"] > 0
    peer = report["peer"]
    if find_spec("ompl"):
        assert peer["solved"] == 2 and peer["whole"]["ratio"]["of medians"] > 0
    else:
        assert "ompl" in peer["missing"]


def test_a_mobile_manipulator_is_planned_for_in_all_kinds_of_scene() -> None:
    """Prismatic torso, continuous joints, mimic gripper; groups and problems are read from files."""
    options = ("mobile", "--count", "1", "--quick", "--json", "--time-budget", "20")
    (report,) = json.loads(run_benchmark("motion_planning_arms.py", *options))
    total = report["families"]["all"]
    assert report["joints"] == 8 and total["problems"] >= 6
    assert total["status"] == {"solved": total["problems"]}
    if find_spec("coal"):
        assert report["verification"]["paths"] == total["problems"] and report["verification"]["colliding"] == {}


def test_clouds_are_planned_in_like_the_shapes_that_they_sample() -> None:
    options = ("--limit", "2", "--points", "20000", "--rounds", "1", "--json")
    report = json.loads(run_benchmark("motion_planning_clouds.py", *options))
    assert report["problems"] == report["solved in both"] == 2
    assert report["set-up ms"]["median"] > 0 and report["planning"]["median"]["clouds"] > 0


def test_whole_body_planning_is_measured_and_verified() -> None:
    rows = json.loads(run_benchmark("whole_body_planning.py", "--quick", "--json", "--verify"))["results"]
    assert [(row["robot"], row["scene"], row["solved"]) for row in rows] == [
        ("humanoid", "table", 3),
        ("humanoid", "shelf", 3),
    ]
    for row in rows:
        assert row["p50_ms"] > 0 and row["foot_moves_mm"] <= 2.0 and row["com_margin_mm"] >= 20.0
        if find_spec("coal"):
            assert row["colliding_samples"] == 0


def test_archives_of_problems_are_read_without_writing_files(tmp_path: Path) -> None:
    scene = "world:\n  collision_objects:\n    - {id: ball, primitives: [{type: sphere, dimensions: [0.05]}],"
    scene += " primitive_poses: [{position: [0.5, 0.0, 1.2]}]}\n"
    request = "goal_constraints:\n  - joint_constraints: [{joint_name: panda_joint4, position: -1.5}]\n"
    request += "start_state: {joint_state: {name: [panda_joint4, panda_joint6], position: [-2.0, 2.0]}}\n"
    archive = tmp_path / "problems.tar.bz2"
    with tarfile.open(archive, "w:bz2") as tar:
        for name, text in (("scene", scene), ("request", request)):
            member = tarfile.TarInfo(f"../../outside/{name}0001.yaml")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    report = json.loads(run_benchmark("motion_planning.py", "--quick", "--json", "--problems", str(archive)))
    assert [(row["family"], row["name"], row["status"]) for row in report["problems"]] == [
        ("outside", "0001", "solved")
    ]
    assert list(tmp_path.iterdir()) == [archive] and not (tmp_path.parent.parent / "outside").exists()


def test_the_gate_fails_only_rows_that_are_slow_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    gate: Any = importlib.import_module("gate")

    class Measurements:
        """A machine that is disturbed during the first measurement of one row, and slow on another."""

        def __init__(self) -> None:
            self.disturbed = True

        def ratios(self, rows: Sequence[str]) -> dict[str, float]:
            speed = dict.fromkeys(rows, 10.0) | ({gate.MASS: 5.0} if self.disturbed else {})
            self.disturbed = False
            return {row: 7.9 if row == gate.INVERSE else speed[row] for row in rows}

    recorded = dict.fromkeys(gate.ROWS, 10.0)
    ratios, slow = gate.check(Measurements(), recorded)
    assert slow == [gate.INVERSE]
    assert ratios == recorded | {gate.INVERSE: 7.9}
