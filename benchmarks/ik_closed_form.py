"""All closed-form solutions of six-joint arms, against EAIK."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import ik_peers
import kinodyn as kd
from ik_chains import Chain
from setups import Array
from timing import Entry, best_of, loop

RIGHT = 1e-9  # a solution brings the frame to its target, in metres and in radians, or it is none


def measure(chain: Chain, singles: int, batch: int, rounds: int) -> dict[str, Any]:
    """Time both per pose [us], joint limits left out as EAIK does not know them, and check what they find."""
    counts = sorted({1, os.cpu_count() or 1})
    q, T = chain.reachable(batch, seed=1)
    solve = partial(kd.ik.analytic, chain.robot, frame=chain.frame, limits=False)
    poses = list(T)
    entries = {"kinodyn": Entry(loop(solve, poses[:singles]), singles)}
    for threads in counts:
        entries[f"kinodyn batch, {plural(threads)}"] = Entry(partial(solve, T), batch, threads)
    found = solve(T)
    answers = {"kinodyn": judged(chain, q, T, [way[right] for way, right in zip(found.q, found.valid, strict=True)])}
    reason = ik_peers.missing("EAIK")
    if not reason:
        peer = eaik(chain)
        entries["EAIK"] = Entry(loop(peer.IK, poses[:singles]), singles)
        for threads in counts:
            entries[f"EAIK batch, {plural(threads)}"] = Entry(partial(peer.IK_batched, poses, threads), batch)
        answers["EAIK"] = judged(chain, q, T, [exact(solution) for solution in peer.IK_batched(poses, 1)])
    us = best_of(entries, rounds)
    pairs = {name: name.replace("kinodyn", "EAIK") for name in us if name.startswith("kinodyn")}
    return {
        "chain": chain.name,
        "family": found.family,
        "poses": {"singles": singles, "batch": batch},
        "us": us,
        "faster": {ours: us[theirs] / us[ours] for ours, theirs in pairs.items() if theirs in us},
        "answers": answers,
        "threads": counts[-1],
        "without EAIK": reason,
    }


def plural(threads: int) -> str:
    """Write a number of threads."""
    return f"{threads} thread{'s' * (threads > 1)}"


def judged(chain: Chain, q: Array, T: Array, solutions: Sequence[Array]) -> dict[str, float]:
    """Check solutions (k, nq) of each pose by forward kinematics, and look for the true joints (n, nq) among them."""
    sizes = [len(each) for each in solutions]
    every = np.concatenate(solutions)
    error = chain.error(every, np.repeat(T, sizes, axis=0)).max(axis=-1)
    turned = np.abs(np.angle(np.exp(1j * (every - np.repeat(q, sizes, axis=0))))).max(axis=-1)
    owner = np.repeat(np.arange(len(q)), sizes)
    return {
        "solutions a pose": float((error <= RIGHT).sum()) / len(q),
        "wrong ones": int((error > RIGHT).sum()),
        "worst error": float(error.max(initial=0.0)),
        "true joints among them %": 100.0 * len(np.unique(owner[turned < 1e-6])) / len(q),
    }


def exact(solution: Any) -> Array:
    """Take from an answer of EAIK what it does not itself call a mere least-squares fit: (k, 6)."""
    ways = np.asarray(solution.Q, dtype=float).reshape(-1, 6)
    return np.asarray(ways[~np.asarray(solution.is_LS, dtype=bool)])


def eaik(chain: Chain) -> Any:
    """Make EAIK's robot for the very same arm, each joint's frame turned so that z is its axis."""
    from eaik.IK_Homogeneous import HomogeneousRobot

    turns, T_last = chain.turns
    frames, T = [], np.eye(4)
    for turn in turns:
        T = T @ turn.T_before
        frames.append(T @ with_z_along(turn.axis))
    robot = HomogeneousRobot(np.array([*frames, T @ T_last]))
    for q in chain.robot.random(8, seed=2):
        difference = float(np.abs(robot.fwdKin(q) - chain.pose(q)).max())
        if not difference < 1e-9:
            raise SystemExit(f"EAIK's {chain.name} differs by {difference:.1e}: nothing to compare")
    return robot


def with_z_along(axis: Array) -> Array:
    """Turn the axes (4, 4) so that z points along a unit vector."""
    x = np.cross(np.eye(3)[np.abs(axis).argmin()], axis)
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.stack([x, np.cross(axis, x), axis], axis=1)
    return T
