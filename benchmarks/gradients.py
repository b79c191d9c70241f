"""Gradients through kinematics and dynamics: kinodyn in PyTorch and JAX against pytorch_kinematics, adam and jaxsim.

    make bench-gradients
    python benchmarks/gradients.py [--states N] [--rounds N] [--json]

The bundled humanoid with a fixed base, 30 joints. Poses: those of all end effectors and the gradient of a weighted sum
of their entries with respect to q. Inverse dynamics: torques and the gradient of a weighted sum of them with respect to
q, v and a; peers that have no such function compute M a + h. Functions of JAX are compiled before they are timed. All
libraries compute the same numbers, which is checked, with one thread each (adam and jaxsim: as many as XLA starts; run
`taskset -c 0` for one). The figure is the fastest of several alternating rounds. A peer that is not installed, or
cannot read the robot here, is a row that says so.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gradients_peers as peers
import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from tables import machine, section
from timing import Entry, best_of

Answer = tuple[Array, ...]  # a value and gradients


class Problem(NamedTuple):
    """A robot, its URDF file and states; weights of the scalar to differentiate."""

    robot: Robot
    urdf: Path
    ends: list[str]
    q: Array
    v: Array
    a: Array
    pose_weights: Array
    torque_weights: Array


def humanoid(folder: Path, states: int) -> Problem:
    """Prepare the humanoid with a fixed base, without armature and damping, which the peers do not read."""
    human = kd.load("humanoid", base="fixed").replace(armature=0.0, damping=0.0)
    urdf = folder / "humanoid.urdf"
    kd.write_urdf(human.description, urdf)
    inner = {joint.parent for joint in human.description.joints}
    ends = [link.name for link in human.description.links if link.name not in inner]
    rng = np.random.default_rng(0)
    v, a, weights = rng.normal(size=(3, states, human.nv))
    poses = rng.normal(size=(states, len(ends), 4, 4))
    poses[..., 3, :] = 0.0
    return Problem(human, urdf, ends, human.random(states), v, a, poses, weights)


def measure(
    makers: dict[str, Callable[[Problem], Callable[[], Answer]]], problem: Problem, rounds: int
) -> dict[str, float | str]:
    """Return the time [ms] of each library, or why there is none; the first one is the reference of the results."""
    runs: dict[str, Callable[[], Answer]] = {}
    report: dict[str, float | str] = {}
    for name, make in makers.items():
        try:
            runs[name] = make(problem)
            found = runs[name]()
        except Exception as error:  # whatever a peer raises is a row of the table
            runs.pop(name, None)
            report[name] = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:70]
            continue
        reference = next(iter(runs.values()))()
        for given, expected in zip(found, reference, strict=True):
            scale = np.abs(expected).max()  # pytorch_kinematics reads lengths in single precision
            np.testing.assert_allclose(given, expected, atol=(1e-4 if "float32" in name else 1e-6) * scale, rtol=0)
    entries = {name: Entry(run, 1, threads=1) for name, run in runs.items()}
    times = {name: us / 1e3 for name, us in best_of(entries, rounds).items()}
    return {name: times.get(name, report.get(name, "")) for name in makers}


def table(title: str, times: dict[str, float | str]) -> str:
    """Format one comparison; ratios are relative to the fastest row of kinodyn with the same precision."""
    rows = [("library", "time [ms]", "slower than kinodyn")]
    for name, time in times.items():
        if isinstance(time, str):
            rows.append((name, "not measured", time))
            continue
        single = "float32" in name
        ours = [
            each
            for other, each in times.items()
            if isinstance(each, float) and other.startswith("kinodyn") and ("float32" in other) == single
        ]
        rows.append((name, f"{time:.2f}", f"{time / min(ours):.1f}x"))
    return section(title, rows, False)


def main() -> None:
    """Measure, check that the results agree, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=10_000, help="states for the poses; a tenth for the dynamics")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        problem = humanoid(Path(folder), options.states)
        few = max(1, options.states // 10)
        small = problem._replace(
            q=problem.q[:few], v=problem.v[:few], a=problem.a[:few], torque_weights=problem.torque_weights[:few]
        )
        report = {
            f"{len(problem.ends)} end-effector poses and gradient, {len(problem.q)} states, "
            f"{problem.robot.nv} joints": measure(peers.POSES, problem, options.rounds),
            f"inverse dynamics and gradient, {len(small.q)} states, {problem.robot.nv} joints": measure(
                peers.DYNAMICS, small, options.rounds
            ),
        }
    about = machine(("kinodyn", "numpy", *peers.installed()))
    if options.json:
        print(json.dumps({"machine": about, "ms": report}))
        return
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    for title, times in report.items():
        print("\n" + table(title, times))


if __name__ == "__main__":
    main()
