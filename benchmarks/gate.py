"""Fail if kinodyn has become slower: its speed relative to Pinocchio, for each instruction set with recorded ratios.

    python benchmarks/gate.py [--record]

Both engines are timed in one process, in alternation, on one thread, by the processor time that they take, as other
processes may share the core; the best of several rounds counts. A row that falls below 80 % of the ratio in gate.json
is measured once more before it fails. `--record` writes that file: run it on an idle machine after a change that is
meant to change speed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import pinocchio_model
import setups
from kinodyn import _core
from kinodyn_engine import Kinodyn, require_agreement
from pinocchio_engine import Pinocchio
from setups import D_FORWARD, D_INVERSE, FRAMES, INVERSE, MASS
from timing import Entry, best_of

RECORD = Path(__file__).with_name("gate.json")
RECORDED_SETS = ("avx2", "avx512")
ROWS = (INVERSE, FRAMES, MASS, D_INVERSE, D_FORWARD)
ALLOWED = 0.8  # of the recorded ratio
ROBOT, BATCH, SINGLES, ROUNDS = "talos", 512, 64, 60

Ratios = dict[str, float]


class Comparison:
    """Batches of kinodyn and single calls of Pinocchio on the same states of one robot."""

    def __init__(self) -> None:
        setup = setups.named(ROBOT, BATCH)
        few = setup.first(SINGLES)
        self.ours, self.theirs = Kinodyn(setup), Pinocchio(few, pinocchio_model.build(setup.robot.description))
        require_agreement(Kinodyn(few), self.theirs, ROWS, states=4)

    def ratios(self, rows: Sequence[str]) -> Ratios:
        """Return how many times faster kinodyn is, for each row, with the instruction set in use."""
        found = {}
        for row in rows:
            entries = {
                "kinodyn": Entry(self.ours.batch(row), BATCH),
                "Pinocchio": Entry(self.theirs.single(row), SINGLES),
            }
            times = best_of(entries, ROUNDS, clock=time.thread_time)
            found[row] = times["Pinocchio"] / times["kinodyn"]
        return found


def slower(ratios: Ratios, recorded: Ratios) -> list[str]:
    """Return the rows that are below what is allowed."""
    return [row for row, ratio in ratios.items() if ratio < ALLOWED * recorded[row]]


def check(comparison: Comparison, recorded: Ratios) -> tuple[Ratios, list[str]]:
    """Return the ratios and the rows that are too slow in two measurements."""
    ratios = comparison.ratios(ROWS)
    again = comparison.ratios(slower(ratios, recorded))
    ratios |= {row: max(ratio, ratios[row]) for row, ratio in again.items()}
    return ratios, slower(ratios, recorded)


def record(comparison: Comparison) -> None:
    """Write the ratios of this machine; those of instruction sets that it does not run are kept."""
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    for name in RECORDED_SETS:
        if _core.use_instruction_set(name):
            runs = [comparison.ratios(ROWS) for _ in range(3)]
            known[name] = {row: round(sorted(run[row] for run in runs)[1], 2) for row in ROWS}
    RECORD.write_text(json.dumps(known, indent=2) + "\n")
    print(RECORD.read_text(), end="")


def main(arguments: Sequence[str] | None = None) -> None:
    """Check or record the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="record the ratios of this machine")
    options = parser.parse_args(arguments)
    comparison = Comparison()
    if options.record:
        record(comparison)
        return
    failed = []
    for name, recorded in json.loads(RECORD.read_text()).items():
        if not _core.use_instruction_set(name):
            print(f"{name}: not compiled, or not supported by this processor")
            continue
        ratios, slow = check(comparison, recorded)
        for row, ratio in ratios.items():
            print(f"{name:7} {row:32} {ratio:5.1f}x  recorded {recorded[row]:5.1f}x  {'too slow' * (row in slow)}")
        failed += slow
    if failed:
        raise SystemExit(f"slower than {ALLOWED:.0%} of what is recorded in {RECORD.name}, twice: {', '.join(failed)}")


if __name__ == "__main__":
    main()
