"""Simulation without contacts: steps of kinodyn and of MuJoCo's mj_step on the same tree, and a batch over threads.

MuJoCo's model is made from kinodyn's robot by `kinodyn.sim.to_mujoco`: one body per moving joint, no shapes, limits or
friction, and its Euler method, which is our semi-implicit one. Both must reach the same state before they are timed.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

import kinodyn as kd
from kinodyn.sim import MujocoSimulator, NativeSimulator
from timing import Entry, best_of, thread_gain

TOLERANCE = 1e-8


@dataclass(frozen=True)
class Effort:
    """Steps per run, size and steps of the batch, rounds; pairs and seconds for the speed-up by threads."""

    steps: int = 1000
    batch: int = 1000
    batch_steps: int = 20
    rounds: int = 15
    pairs: int = 7
    seconds: float = 0.5


QUICK = Effort(steps=20, batch=32, batch_steps=2, rounds=1, pairs=1, seconds=0.0)


def measure(name: str, effort: Effort) -> dict[str, Any]:
    """Measure one robot: times per step [us], steps per second, the gain of a second thread on a batch."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name)
    native = {kind: NativeSimulator(robot, integrator=kind, stops=None, friction=False) for kind in KINDS}  # type: ignore[arg-type]
    other = MujocoSimulator(robot, contacts=False, limits=False, joint_friction=False, integrator="euler")
    q0, still = robot.random(seed=0), np.zeros(robot.nv)
    require_agreement(native["semi-implicit"], other, q0)

    def run(simulator: NativeSimulator, calls: int) -> None:
        simulator.reset(q0)
        for _ in range(calls):
            simulator.step(still, steps=effort.steps // calls)

    def run_mujoco() -> None:
        other.reset(q0)
        mujoco.mj_step(other.model, other.data, effort.steps)

    many = NativeSimulator(robot, stops=None, friction=False)
    starts = robot.random(effort.batch, seed=0)

    def run_batch() -> None:
        many.reset(starts)
        many.step(still, steps=effort.batch_steps)

    states = effort.batch * effort.batch_steps
    entries = {
        "kinodyn": Entry(lambda: run(native["semi-implicit"], 1), effort.steps),
        "kinodyn, a call per step": Entry(lambda: run(native["semi-implicit"], effort.steps), effort.steps),
        "kinodyn rk4": Entry(lambda: run(native["rk4"], 1), effort.steps),
        "MuJoCo": Entry(run_mujoco, effort.steps),
        "kinodyn batch 1": Entry(run_batch, states, 1),
        "kinodyn batch 2": Entry(run_batch, states, 2),
    }
    us = best_of(entries, effort.rounds)
    return {
        "robot": name,
        "nv": robot.nv,
        "batch": effort.batch,
        "us per step": us,
        "steps per second": {key: 1e6 / value for key, value in us.items()},
        "faster than mj_step": us["MuJoCo"] / us["kinodyn"],
        "gain of 2 threads": thread_gain(run_batch, effort.pairs, effort.seconds),
    }


KINDS = ("semi-implicit", "rk4")


def require_agreement(native: NativeSimulator, other: MujocoSimulator, q0: Any) -> None:
    """Stop the benchmark unless both reach the same state after a few steps."""
    robot, still = native.robot, np.zeros(native.robot.nv)
    for simulator in (native, other):
        simulator.reset(q0)
        simulator.step(still, steps=20)
    difference = np.abs(robot.difference(native.q, other.q)).max()
    if not difference <= TOLERANCE:
        raise SystemExit(
            f"{robot.name}: kinodyn and MuJoCo differ by {difference:.1e} after 20 steps; comparison stopped"
        )


def goals(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Evaluate the goals for the simulation of Talos."""
    return [
        {
            "what": f"{row['robot']}: steps per second at least 2 times those of mj_step",
            "measured": row["faster than mj_step"],
            "met": row["faster than mj_step"] >= 2.0,
        },
        {
            "what": f"{row['robot']}: a batch of {row['batch']} uses both cores, at least 1.5 times one",
            "measured": row["gain of 2 threads"],
            "met": row["gain of 2 threads"] >= 1.5,
        },
    ]


def text(row: dict[str, Any]) -> list[str]:
    """Format the results as lines of text."""
    lines = [f"Simulation without contacts, {row['robot']}, {row['nv']} degrees of freedom"]
    for key, us in row["us per step"].items():
        lines.append(f"  {key:28} {us:9.3f} us per step {1e6 / us:12.0f} steps/s")
    lines.append(
        f"  {row['faster than mj_step']:.2f} times as fast as mj_step; in batches of {row['batch']} two threads"
    )
    lines.append(f"  are {row['gain of 2 threads']:.2f} times as fast as one")
    return lines
