"""Run the fuzzer: `python -m fuzz --seconds 60`."""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path

from fuzz.runner import State, run_target
from fuzz.targets import targets


def main() -> int:
    """Divide the time among the targets, and print what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="duration of the run")
    parser.add_argument("--state", type=Path, help="JSON file with what was done; a run continues from there")
    parser.add_argument("--only", default="", help="run the targets whose name contains this")
    parser.add_argument("--seed", type=int, default=0, help="order of the targets; the cases are always the same")
    parser.add_argument("--cases", type=int, help="largest number of cases of each target")
    parser.add_argument("--case-seconds", type=float, default=60.0, help="time after which a case counts as endless")
    parser.add_argument("--list", action="store_true", help="list the targets and end")
    options = parser.parse_args()
    chosen = [name for name in targets() if options.only in name]
    if options.list:
        print("\n".join(chosen))
        return 0
    state = State.load(options.state)
    random.Random(options.seed).shuffle(chosen)
    end = time.monotonic() + options.seconds
    while chosen and time.monotonic() < end:
        for k, name in enumerate(list(chosen)):
            left = end - time.monotonic()
            if left <= 0:
                break
            seconds = left / max(1, len(chosen) - k)
            if run_target(name, state, seconds, options.case_seconds, options.cases):
                chosen.remove(name)
            state.save(options.state)
    print(json.dumps({"cases": state.total, "findings": len(state.findings)}))
    for finding in state.findings:
        print(finding)
    return 1 if state.findings else 0


if __name__ == "__main__":
    sys.exit(main())
