"""Run constrained dynamics and impacts in kinodyn and in Pinocchio on the same random states.

    python benchmarks/contacts.py [--quick] [--json] [--robot talos]

The robot stands on both soles, six directions each. Pinocchio's constraintDynamics and impulseDynamics are called once
per state with preallocated data; kinodyn is called once per state, and once for all states. Results are compared before
the timing: the run stops if the engines disagree.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import repeat
from typing import Any

import numpy as np
import pinocchio as pin

import kinodyn as kd
import pinocchio_model
import setups
import tables
from kinodyn_engine import TOLERANCE
from setups import Array
from timing import Entry, Run, best_of, loop

DYNAMICS, IMPACT = "constrained forward dynamics", "impact"
FEET = {
    "talos": ("left_sole_link", "right_sole_link"),
    "humanoid": ("left_sole", "right_sole"),
    "g1": ("left_ankle_roll_link", "right_ankle_roll_link"),
}
GOALS = {"batch": 4.0, "single": 1.0}  # speed-up over a call of Pinocchio


class Engines:
    """kinodyn and Pinocchio on one standing robot."""

    def __init__(self, setup: setups.Setup, feet: Sequence[str]) -> None:
        self.setup = setup
        self.contacts = [kd.contact.Contact(foot) for foot in feet]
        q = setup.states["q"]
        # feet at rest: for moving feet the engines define zero acceleration differently
        self.still = kd.contact.project_velocity(setup.robot, q, setup.states["v"], self.contacts)
        self.model = pinocchio_model.build(setup.robot.description)
        self.data = self.model.createData()
        self.models, self.datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for foot in feet:
            frame = self.model.frames[self.model.getFrameId(foot)]
            place = (frame.parentJoint, frame.placement, pin.LOCAL_WORLD_ALIGNED)
            self.models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, self.model, *place))
            self.datas.append(self.models[-1].createData())
        pin.initConstraintDynamics(self.model, self.data, self.models, self.datas)

    def columns(self, function: str) -> list[Array]:
        """Return the arguments of a function."""
        states = self.setup.states
        return [states["q"], self.still, states["tau"]] if function == DYNAMICS else [states["q"], states["v"]]

    def theirs(self, function: str, count: int) -> Run:
        """Return a run that calls Pinocchio once for each of the first states."""
        call = pin.constraintDynamics if function == DYNAMICS else pin.impulseDynamics
        columns = [list(column[:count].copy()) for column in self.columns(function)]
        fixed = [repeat(each) for each in (self.model, self.data)]
        return loop(call, *fixed, *columns, repeat(self.models), repeat(self.datas))

    def ours(self, function: str, count: int) -> Run:
        """Return a run that calls kinodyn once for each of the first states."""
        call: Any = kd.contact.dynamics if function == DYNAMICS else kd.contact.impact
        columns = [list(column[:count].copy()) for column in self.columns(function)]
        return loop(call, repeat(self.setup.robot), *columns, repeat(self.contacts))

    def batch(self, function: str) -> Run:
        """Return a run that calls kinodyn once for all states."""
        call: Any = kd.contact.dynamics if function == DYNAMICS else kd.contact.impact
        columns = self.columns(function)
        return lambda: call(self.setup.robot, *columns, self.contacts)

    def require_agreement(self, function: str, states: int) -> None:
        """Stop the benchmark if motion or forces differ, relative to the largest value of each state."""
        result: Any = self.batch(function)()
        motion, forces = result
        call: Any = pin.constraintDynamics if function == DYNAMICS else pin.impulseDynamics
        for i in range(states):
            columns = [column[i] for column in self.columns(function)]
            moved = call(self.model, self.data, *columns, self.models, self.datas)
            load = np.concatenate([data.contact_force.vector for data in self.datas])
            for ours, theirs in ((motion[i], moved), (forces.vector[i], load)):
                error = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
                if not error < TOLERANCE:
                    where = f"{function!r} on {self.setup.name}, state {i}"
                    raise SystemExit(f"kinodyn and Pinocchio differ by {error:.1e} in {where}: comparison stopped")


def measure(name: str, *, quick: bool) -> dict[str, Any]:
    """Check that the engines agree, then time them in alternation."""
    batch, singles, rounds = (64, 16, 3) if quick else (4096, 256, 40)
    setup = setups.named(name, batch)
    engines = Engines(setup, FEET[name])
    times, faster = {}, {}
    for function in (DYNAMICS, IMPACT):
        engines.require_agreement(function, states=8)
        us = best_of(
            {
                "Pinocchio": Entry(engines.theirs(function, singles), singles),
                "kinodyn": Entry(engines.ours(function, singles), singles),
                "kinodyn batch 1": Entry(engines.batch(function), batch),
                "kinodyn batch 2": Entry(engines.batch(function), batch, threads=2),
            },
            rounds,
        )
        times[function] = us
        faster[function] = {
            "single": us["Pinocchio"] / us["kinodyn"],
            "batch": us["Pinocchio"] / us["kinodyn batch 1"],
        }
    rows = 6 * len(engines.contacts)
    head = {"robot": name, "nv": setup.robot.nv, "constraints": rows, "batch": batch}
    return {**head, "us": times, "faster": faster}


def render(report: dict[str, Any]) -> str:
    """Format the report as a table."""
    head = ("", "Pinocchio", "kinodyn", "faster", "kinodyn batch", "2 threads", "faster")
    rows = [
        (
            function,
            *(tables.number(us[key]) for key in ("Pinocchio", "kinodyn")),
            f"{report['faster'][function]['single']:.1f}x",
            *(tables.number(us[f"kinodyn batch {threads}"]) for threads in (1, 2)),
            f"{report['faster'][function]['batch']:.1f}x",
        )
        for function, us in report["us"].items()
    ]
    title = "{robot}, {nv} degrees of freedom, {constraints} constraints, batches of {batch}: us per state".format(
        **report
    )
    lines = [", ".join(f"{key} {value}" for key, value in report["machine"].items())]
    lines.append(tables.section(title, [head, *rows], False))
    for goal in report["goals"]:
        lines.append(f"{goal['what']}: {goal['found']:.1f}x, {'met' if goal['met'] else 'NOT met'}")
    return "\n\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", choices=FEET, default="talos", help="name of the robot")
    parser.add_argument("--quick", action="store_true", help="few states and rounds: a smoke test with rough times")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    report: dict[str, Any] = {"machine": tables.machine(("kinodyn", "pin", "numpy"))}
    report |= measure(options.robot, quick=options.quick)
    report["goals"] = [
        {
            "what": f"{function}, {kind}: at least {goal:g} times as fast as Pinocchio",
            "found": found,
            "met": found >= goal,
        }
        for function, by in report["faster"].items()
        for kind, goal in GOALS.items()
        for found in [by[kind]]
    ]
    print(json.dumps(report, indent=2) if options.json else render(report))


if __name__ == "__main__":
    main()
