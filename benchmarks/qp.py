"""Quadratic programs: `kd.qp.solve` against DAQP alone, and quadprog where it is installed, on the same programs.

    python benchmarks/qp.py [--json]

Random strictly convex programs with two-sided rows, twice as many as variables. Each solver takes all of them in turn;
the figure is the fastest round, in microseconds per program. BLAS threads are as the environment has them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from importlib import import_module
from time import perf_counter
from typing import Any

import daqp
import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array

Program = tuple[Array, Array, Array, Array, Array]
SIZES = (5, 10, 20, 40, 60)
PROGRAMS, ROUNDS = 20, 15


def random_program(n: int, seed: int) -> Program:
    """Make H, g, A, lower and upper of a program with n variables that some point satisfies."""
    rng = np.random.default_rng(seed)
    B, A, inside = rng.normal(size=(n, n)), rng.normal(size=(2 * n, n)), rng.normal(size=n)
    room = rng.uniform(0, 1, (2, 2 * n))
    return B.T @ B + 0.1 * np.eye(n), 5 * rng.normal(size=n), A, A @ inside - room[0], A @ inside + room[1]


def solvers() -> dict[str, Callable[[Program], Array]]:
    """Return the installed solvers: each takes a program and returns x."""
    found: dict[str, Callable[[Program], Array]] = {
        "kinodyn": lambda p: kd.qp.solve(*p).x,
        "daqp": lambda p: daqp.solve(p[0], p[1], p[2], p[4], p[3], np.zeros(len(p[3]), dtype=np.intc))[0],
    }
    try:
        quadprog: Any = import_module("quadprog")
    except ImportError:
        return found
    found["quadprog"] = lambda p: quadprog.solve_qp(
        p[0], -p[1], np.vstack([p[2], -p[2]]).T, np.concatenate([p[3], -p[4]])
    )[0]
    return found


def measure(solve: Callable[[Program], Array], programs: list[Program]) -> float:
    """Return the fastest round [us] per program."""
    rounds = []
    for _ in range(ROUNDS):
        begin = perf_counter()
        for program in programs:
            solve(program)
        rounds.append((perf_counter() - begin) / len(programs))
    return 1e6 * min(rounds)


def main() -> None:
    """Measure all sizes, check that the answers agree, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    report: dict[int, dict[str, float]] = {}
    for n in SIZES:
        programs = [random_program(n, seed) for seed in range(PROGRAMS)]
        for solve in solvers().values():
            for program in programs:
                np.testing.assert_allclose(solve(program), kd.qp.solve(*program).x, atol=1e-4)
        report[n] = {name: measure(solve, programs) for name, solve in solvers().items()}
    if options.json:
        print(json.dumps(report))
        return
    for n, times in report.items():
        row = "  ".join(f"{name} {time:7.1f} us" for name, time in times.items())
        print(f"{n:3d} variables  {row}  kinodyn / daqp {times['kinodyn'] / times['daqp']:.1f}")


if __name__ == "__main__":
    main()
