"""Measure how the time per state grows with the number of states in a batch and with the number of joints."""

from __future__ import annotations

from typing import Any

import numpy as np

import pinocchio_model
import setups
from kinodyn_engine import Kinodyn, require_agreement
from pinocchio_engine import Pinocchio
from setups import ENDS, FORWARD, INVERSE
from timing import Entry, best_of, repeated

FUNCTIONS = (ENDS, INVERSE, FORWARD)
BATCHES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
JOINTS = (4, 8, 16, 32, 64, 128, 256)


def with_batch(name: str, *, quick: bool) -> dict[str, Any]:
    """Time per state [us] of one robot over the size of the batch, with one thread and with two."""
    sizes = BATCHES[:3] if quick else BATCHES
    whole = setups.named(name, sizes[-1])
    times: dict[str, dict[str, list[float]]] = {function: {"1": [], "2": []} for function in FUNCTIONS}
    for size in sizes:
        kinodyn = Kinodyn(whole.first(size))
        calls = max(1, (64 if quick else 4096) // size)
        for function in FUNCTIONS:
            run = repeated(kinodyn.batch(function), calls)
            entries = {str(threads): Entry(run, calls * size, threads) for threads in (1, 2)}
            for threads, best in best_of(entries, 1 if quick else 12).items():
                times[function][threads].append(best)
    return {"robot": name, "batch": list(sizes), "us": times}


def with_joints(*, quick: bool) -> dict[str, Any]:
    """Time per state [us] of serial chains over the number of joints, and the exponent that fits the longer half.

    A cost in proportion to the number of joints has the exponent 1.
    """
    counts = JOINTS[:3] if quick else JOINTS
    times: dict[str, dict[str, list[float]]] = {f: {"kinodyn": [], "Pinocchio": []} for f in FUNCTIONS}
    for count in counts:
        setup = setups.chain(count, 16 if quick else 1024)
        model = pinocchio_model.build(setup.robot.description)
        kinodyn, peer = Kinodyn(setup), Pinocchio(setup.first(16 if quick else 128), model)
        require_agreement(kinodyn, peer, FUNCTIONS, states=2)
        for function in FUNCTIONS:
            entries = {
                "kinodyn": Entry(kinodyn.batch(function), setup.size),
                "Pinocchio": Entry(peer.single(function), peer.setup.size),
            }
            for engine, best in best_of(entries, 1 if quick else 12).items():
                times[function][engine].append(best)
    exponents = {f: {engine: exponent(counts, us) for engine, us in by.items()} for f, by in times.items()}
    return {"joints": list(counts), "us": times, "exponent": exponents}


def exponent(counts: tuple[int, ...], times: list[float]) -> float:
    """Fit p in time = c count^p to the longer half of the chains, where fixed costs are negligible."""
    half = len(counts) // 2
    return float(np.polyfit(np.log(counts[half:]), np.log(times[half:]), 1)[0])
