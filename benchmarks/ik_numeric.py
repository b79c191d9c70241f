"""Numeric inverse kinematics against robotics-toolbox's `ik_LM`: same arm, same poses, same start."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ik_peers
import kinodyn as kd
from ik_chains import Chain, RevoluteJoint
from setups import Array
from timing import Entry, best_of, loop

TOLERANCE = 1e-6
# `ik_LM` stops when half the squared error, metres and radians together, is below its `tol`.
AS_DELIVERED, AS_EXACT = 1e-6, 0.5 * TOLERANCE**2


def measure(chain: Chain, singles: int, batch: int, rounds: int) -> dict[str, Any]:
    """Time every solver per pose [us] and verify its solutions by the chain's forward kinematics."""
    threads = os.cpu_count() or 1
    _, few = chain.reachable(singles)
    _, many = chain.reachable(batch, seed=1)
    start, answer = chain.middle, partial(kd.ik.solve, chain.robot, q0=chain.middle, tolerance=TOLERANCE)

    def solve(T: Array) -> kd.ik.IKResult:
        return answer({chain.frame: T})

    entries = {
        "kinodyn": Entry(loop(solve, list(few)), singles),
        "kinodyn batch, 1 thread": Entry(partial(solve, many), batch),
        f"kinodyn batch, {threads} threads": Entry(partial(solve, many), batch, threads),
    }
    if threads == 1:
        entries.popitem()
    one_by_one = [solve(T) for T in few]
    found = {
        "kinodyn": verify(chain, few, one_by_one, TOLERANCE),
        "kinodyn batch, 1 thread": verify(chain, many, solve(many), TOLERANCE),
    }
    reason = ik_peers.missing("robotics-toolbox")
    if not reason:
        for name, tol in (("ik_LM, as delivered", AS_DELIVERED), ("ik_LM, as exact", AS_EXACT)):
            peer = ik_lm(chain, start, tol)
            entries[name] = Entry(loop(peer, list(few)), singles)
            found[name] = verify(chain, few, list(map(peer, few)), float(np.sqrt(2.0 * tol)))
    us = best_of(entries, rounds)
    theirs = min((time for name, time in us.items() if name.startswith("ik_LM")), default=None)
    return {
        "chain": chain.name,
        "poses": {"singles": singles, "batch": batch},
        "us": us,
        "faster": {name: theirs / time for name, time in us.items() if theirs and name.startswith("kinodyn")},
        "answers": found,
        "threads": threads,
        "without robotics-toolbox": reason,
    }


def verify(chain: Chain, T: Array, answers: Any, tolerance: float) -> dict[str, float]:
    """Return the success rate [%], the number of false claims, and the largest error of a claim [m or rad]."""
    several = isinstance(answers, list)
    q = np.array([answer.q for answer in answers]) if several else answers.q
    claimed: NDArray[np.bool_] = np.array([bool(a.success) for a in answers]) if several else answers.success
    error = chain.error(q, T)
    true = claimed & (error <= tolerance).all(axis=-1) & chain.within_limits(q)
    return {
        "success %": 100.0 * float(true.mean()),
        "false claims": int((claimed & ~true).sum()),
        "worst error": float(error[claimed].max(initial=0.0)),
    }


def ik_lm(chain: Chain, start: Array, tol: float) -> Callable[[Array], Any]:
    """Return robotics-toolbox's solver for the same arm; stop if its forward kinematics differ."""
    rtb: Any = import_module("roboticstoolbox")
    joints, T_last = chain.joints
    ets = rtb.ETS([*elements(rtb.ET, joints), rtb.ET.SE3(T_last)])
    for q in chain.robot.random(8, seed=2):
        difference = float(np.abs(ets.fkine(q).A - chain.pose(q)).max())
        if not difference < 1e-9:
            raise SystemExit(f"robotics-toolbox's {chain.name} differs by {difference:.1e}: comparison stopped")
    return partial(ets.ik_LM, q0=start, tol=tol)


def elements(ET: Any, joints: Iterable[RevoluteJoint]) -> Iterable[Any]:
    """Convert joints to robotics-toolbox's elementary transforms, which rotate about x, y or z only."""
    for joint in joints:
        index = int(np.abs(joint.axis).argmax())
        if not np.isclose(abs(joint.axis[index]), 1.0, atol=1e-12):
            raise SystemExit(f"robotics-toolbox has no rotation about the axis {joint.axis}: comparison stopped")
        if not np.array_equal(joint.T_before, np.eye(4)):
            yield ET.SE3(joint.T_before)
        about = (ET.Rx, ET.Ry, ET.Rz)[index]
        yield about(flip=bool(joint.axis[index] < 0.0), qlim=np.array([joint.lower, joint.upper]))
