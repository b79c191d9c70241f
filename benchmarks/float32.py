"""Time batches in float64 and in float32; print the time per state.

    python benchmarks/float32.py [--robot talos] [--batch 1024]

With large batches, results that do not fit in the cache take longer to write than to compute.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

import kinodyn as kd
import setups
from kinodyn_engine import Kinodyn
from setups import COM, ENDS, FORWARD, FRAMES, INVERSE, JACOBIAN, MASS
from timing import Entry, best_of, repeated

ROUNDS, STATES = 30, 4096


def main() -> None:
    """Run the benchmark and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="talos", help="robot to measure")
    parser.add_argument("--batch", type=int, default=1024, help="states in a call")
    options = parser.parse_args()
    setup = setups.named(options.robot, options.batch)
    engine = Kinodyn(setup)
    print(f"{options.robot}, batches of {options.batch}, {kd.__build__}, time per state [us]")
    print(f"{'':24}{'float64':>9}{'float32':>9}{'faster':>9}")
    for function in (ENDS, FRAMES, JACOBIAN, COM, INVERSE, MASS, FORWARD):
        entries = {}
        for dtype in (np.float64, np.float32):
            call = partial(engine.functions[function], dtype=dtype)
            columns = [column.astype(dtype) for column in setup.columns(function)]
            times = max(1, STATES // options.batch)
            run = repeated(partial(call, *columns, out=call(*columns)), times)
            entries[dtype.__name__] = Entry(run, times * options.batch)
        times_us = best_of(entries, ROUNDS)
        double, single = times_us["float64"], times_us["float32"]
        print(f"{function:24}{double:9.3f}{single:9.3f}{double / single:8.1f}x")


if __name__ == "__main__":
    main()
