"""Compare kinodyn, Pinocchio and MuJoCo on the same random states; print the time per state.

    python benchmarks/engine.py [--quick] [--json | --markdown] [--robots talos g1]

All results are compared before they are timed: the run stops if engines disagree.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import growth
import mujoco_model
import pinocchio_model
import setups
import tables
from kinodyn_engine import Kinodyn, require_agreement
from mujoco_engine import MuJoCo
from pinocchio_engine import Pinocchio
from timing import Entry, best_of, thread_gain

ROBOTS = ("talos", "g1", "panda", "humanoid")


@dataclass(frozen=True)
class Effort:
    """How much to measure: states per batch, states for single calls, rounds (the best counts).

    For the speed-up by threads: pairs of runs (the median counts) and the duration of each [s].
    """

    batch: int = 4096
    singles: int = 1024
    rounds: int = 20
    pairs: int = 9
    seconds: float = 0.1


def measure(setup: setups.Setup, effort: Effort) -> dict[str, Any]:
    """Check that the engines agree on one robot, then time every function."""
    few = setup.first(effort.singles)
    model = pinocchio_model.build(setup.robot.description)
    peers: dict[str, Pinocchio | MuJoCo] = {"Pinocchio": Pinocchio(few, model)}
    reason = ""
    try:
        peers["MuJoCo"] = MuJoCo(few, mujoco_model.build(model, setup.ends))
    except ValueError as error:
        reason = str(error)
    for peer in peers.values():
        require_agreement(Kinodyn(setup.first(8)), peer, peer.functions, states=8)
    times, gains = {}, {}
    for function in setups.FUNCTIONS:
        entries = {"kinodyn": Entry(Kinodyn(few).single(function), few.size)}
        entries |= {name: Entry(r.single(function), few.size) for name, r in peers.items() if function in r.functions}
        entries |= batches(setup, model, function)
        times[function] = best_of(entries, effort.rounds)
        gains[function] = thread_gain(Kinodyn(setup).batch(function), effort.pairs, effort.seconds)
    return {
        "robot": setup.name,
        "nv": setup.robot.nv,
        "batch": setup.size,
        "without MuJoCo": reason,
        "us": times,
        "gain of 2 threads": gains,
    }


def batches(setup: setups.Setup, model: Any, function: str) -> dict[str, Entry]:
    """Return the entries that take all states in one call, with one thread and with two."""
    entries = {}
    for threads in (1, 2):
        entries[f"kinodyn batch {threads}"] = Entry(Kinodyn(setup).batch(function), setup.size, threads)
        parallel = Pinocchio(setup, model).batch(function, threads)
        if parallel is not None:
            entries[f"Pinocchio batch {threads}"] = Entry(parallel, setup.size)
    return entries


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=ROBOTS, metavar="NAME", help="robots to measure")
    parser.add_argument("--quick", action="store_true", help="few states and rounds: a smoke test with rough times")
    style = parser.add_mutually_exclusive_group()
    style.add_argument("--json", action="store_true", help="print everything as JSON")
    style.add_argument("--markdown", action="store_true", help="print Markdown tables")
    options = parser.parse_args(arguments)
    effort = Effort(batch=64, singles=16, rounds=5, pairs=1, seconds=0.0) if options.quick else Effort()
    report = {
        "machine": tables.machine(),
        "robots": [measure(setups.named(name, effort.batch), effort) for name in options.robots],
        "growth with batch": growth.with_batch(options.robots[0], quick=options.quick),
        "growth with joints": growth.with_joints(quick=options.quick),
    }
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print(tables.render(report, markdown=options.markdown))


if __name__ == "__main__":
    main()
