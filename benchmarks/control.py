"""Compare simulation and control with their peers on the same tasks in one run; print times, ratios and goals.

    python benchmarks/control.py                   # text
    python benchmarks/control.py --json            # everything as JSON
    python benchmarks/control.py --only simulation # one part

Parts:
    simulation         steps without contacts on Talos against MuJoCo's mj_step; a batch of 1,000 with one and two
                       threads
    operational-space  one tick of operational space control on the Panda, and of the other controllers
    inverse-dynamics   one tick of InverseDynamicsQP on Talos, against TSID where it is installed (make bench-control)

The solvers are timed in alternation and the best time of each counts; compare only numbers of one run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import control_inverse_dynamics
import control_operational_space
import control_simulation
import tables

PARTS = ("simulation", "operational-space", "inverse-dynamics")


def measure(parts: Sequence[str], *, quick: bool) -> dict[str, Any]:
    """Measure the selected parts and evaluate the goals."""
    report: dict[str, Any] = {"machine": tables.machine(("kinodyn", "mujoco", "numpy")), "quick": quick, "goals": []}
    if "simulation" in parts:
        effort = control_simulation.QUICK if quick else control_simulation.Effort()
        report["simulation"] = control_simulation.measure("talos", effort)
        report["goals"] += control_simulation.goals(report["simulation"])
    if "operational-space" in parts:
        rounds = control_operational_space.QUICK if quick else control_operational_space.ROUNDS
        report["operational-space"] = control_operational_space.measure(rounds)
        report["goals"] += control_operational_space.goals(report["operational-space"])
    if "inverse-dynamics" in parts:
        report["inverse-dynamics"] = control_inverse_dynamics.measure(*((1, 20) if quick else ()))
        report["goals"] += control_inverse_dynamics.goals(report["inverse-dynamics"])
    return report


def text(report: dict[str, Any]) -> str:
    """Format the report as text."""
    lines = [", ".join(f"{name} {value}" for name, value in report["machine"].items()), ""]
    if "simulation" in report:
        lines += [*control_simulation.text(report["simulation"]), ""]
    if "operational-space" in report:
        lines += [*control_operational_space.text(report["operational-space"]), ""]
    if "inverse-dynamics" in report:
        lines += [control_inverse_dynamics.render(report["inverse-dynamics"]), ""]
    for goal in report["goals"]:
        lines.append(f"{'met' if goal['met'] else 'NOT MET':8} {goal['what']}: {goal['measured']:.2f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to measure")
    parser.add_argument("--quick", action="store_true", help="few steps and rounds: a smoke test")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    report = measure(options.only, quick=options.quick)
    print(json.dumps(report, indent=2) if options.json else text(report))


if __name__ == "__main__":
    main()
