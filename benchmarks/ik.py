"""Compare kinodyn's inverse kinematics with its peers on the same poses in one run; print times, ratios and goals.

    pip install '.[benchmark]'                     # the peers; missing ones are reported and skipped
    python benchmarks/ik.py                        # tables
    python benchmarks/ik.py --json > ik.json       # everything as JSON
    python benchmarks/ik.py --only whole-body      # one part

Parts:
    numeric      one frame to random reachable poses on panda, ur5, puma560, against robotics-toolbox's ik_LM
    closed-form  all solutions on puma560 and ur5, against EAIK
    protocol     arms and legs by the protocol of TRAC-IK's README: 10,000 poses, start midway, 1e-5, 5 ms
    whole-body   one step on Talos with feet, hands, centre of mass, posture and limits, against Placo, Pink, mink

Peers get the same robot, built from kinodyn's description, and the same poses; the benchmark stops if their forward
kinematics differ. Solutions are verified by independent forward kinematics. The solvers alternate, and the
best time of each counts; compare only numbers of one run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ik_chains
import ik_closed_form
import ik_goals
import ik_numeric
import ik_peers
import ik_protocol
import ik_tables
import ik_whole_body
import kinodyn as kd
import tables

PARTS = ("numeric", "closed-form", "protocol", "whole-body")
NUMERIC, CLOSED_FORM = ("panda", "ur5", "puma560"), ("puma560", "ur5")


@dataclass(frozen=True)
class Effort:
    """How much to measure: poses in single calls and in batches, whole-body steps, rounds."""

    singles: int = 500
    batch: int = 4096
    turns: int = 7
    poses: int = 10_000
    timed: int = 1000
    steps: int = 100
    runs: int = 30


QUICK = Effort(singles=5, batch=64, turns=1, poses=64, timed=5, steps=10, runs=1)


def measure(parts: Sequence[str], effort: Effort) -> dict[str, Any]:
    """Measure the selected parts; robots that are not installed are skipped and listed."""
    report: dict[str, Any] = {
        "machine": tables.machine(("kinodyn", "numpy", "scipy")),
        "peers": ik_peers.versions(),
        "left out": {},
        "quick": effort == QUICK,
    }
    some = (effort.singles, effort.batch, effort.turns)
    if "numeric" in parts:
        report["numeric"] = [ik_numeric.measure(ik_chains.named(name), *some) for name in NUMERIC]
    if "closed-form" in parts:
        report["closed form"] = [ik_closed_form.measure(ik_chains.named(name), *some) for name in CLOSED_FORM]
    if "protocol" in parts:
        here = [name for name in ik_chains.CHAINS if installed(ik_chains.CHAINS[name][0], name, report)]
        turns = min(effort.turns, 3)
        report["protocol"] = [
            ik_protocol.measure(ik_chains.named(name), effort.poses, effort.timed, turns) for name in here
        ]
    if "whole-body" in parts and installed("talos", "whole-body", report):
        report["whole body"] = ik_whole_body.measure(effort.steps, effort.runs)
    report["goals"] = ik_goals.evaluate(report)
    return report


def installed(robot: str, what: str, report: dict[str, Any]) -> bool:
    """Return whether a robot is installed; otherwise note in the report what is skipped."""
    if robot in kd.robots():
        return True
    report["left out"][what] = f"robot {robot!r} comes with pip install '.[robots]'"
    return False


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="few poses, one round: a smoke test")
    style = parser.add_mutually_exclusive_group()
    style.add_argument("--json", action="store_true", help="print everything as JSON")
    style.add_argument("--markdown", action="store_true", help="print Markdown tables")
    options = parser.parse_args(arguments)
    report = measure(options.only, QUICK if options.quick else Effort())
    print(json.dumps(report, indent=2) if options.json else ik_tables.render(report, markdown=options.markdown))


if __name__ == "__main__":
    main()
