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

TOLERANCE = 1e-9  # error of a valid solution [m and rad]


def measure(chain: Chain, singles: int, batch: int, rounds: int) -> dict[str, Any]:
    """Time both per pose [us], without joint limits, which EAIK does not have, and verify their solutions."""
    counts = sorted({1, os.cpu_count() or 1})
    q, T = chain.reachable(batch, seed=1)
    solve = partial(kd.ik.analytic, chain.robot, frame=chain.frame, limits=False)
    poses = list(T)
    entries = {"kinodyn": Entry(loop(solve, poses[:singles]), singles)}
    for threads in counts:
        entries[f"kinodyn batch, {plural(threads)}"] = Entry(partial(solve, T), batch, threads)
    found = solve(T)
    answers = {
        "kinodyn": verify(chain, q, T, [branch[valid] for branch, valid in zip(found.q, found.valid, strict=True)])
    }
    reason = ik_peers.missing("EAIK")
    if not reason:
        peer = eaik(chain)
        entries["EAIK"] = Entry(loop(peer.IK, poses[:singles]), singles)
        for threads in counts:
            entries[f"EAIK batch, {plural(threads)}"] = Entry(partial(peer.IK_batched, poses, threads), batch)
        answers["EAIK"] = verify(chain, q, T, [exact(solution) for solution in peer.IK_batched(poses, 1)])
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
    """Format a number of threads."""
    return f"{threads} thread{'s' * (threads > 1)}"


def verify(chain: Chain, q: Array, T: Array, solutions: Sequence[Array]) -> dict[str, float]:
    """Verify solutions (k, nq) of each pose by forward kinematics; look for the original joints (n, nq) among them."""
    sizes = [len(each) for each in solutions]
    every = np.concatenate(solutions)
    error = chain.error(every, np.repeat(T, sizes, axis=0)).max(axis=-1)
    turned = np.abs(np.angle(np.exp(1j * (every - np.repeat(q, sizes, axis=0))))).max(axis=-1)
    owner = np.repeat(np.arange(len(q)), sizes)
    return {
        "solutions a pose": float((error <= TOLERANCE).sum()) / len(q),
        "wrong ones": int((error > TOLERANCE).sum()),
        "worst error": float(error.max(initial=0.0)),
        "true joints among them %": 100.0 * len(np.unique(owner[turned < 1e-6])) / len(q),
    }


def exact(solution: Any) -> Array:
    """Return the exact solutions (k, 6) of EAIK, without its least-squares approximations."""
    solutions = np.asarray(solution.Q, dtype=float).reshape(-1, 6)
    return np.asarray(solutions[~np.asarray(solution.is_LS, dtype=bool)])


def eaik(chain: Chain) -> Any:
    """Build EAIK's model of the same arm, with joint frames whose z axis is the joint axis."""
    from eaik.IK_Homogeneous import HomogeneousRobot

    joints, T_last = chain.joints
    frames, T = [], np.eye(4)
    for joint in joints:
        T = T @ joint.T_before
        frames.append(T @ with_z_along(joint.axis))
    robot = HomogeneousRobot(np.array([*frames, T @ T_last]))
    for q in chain.robot.random(8, seed=2):
        difference = float(np.abs(robot.fwdKin(q) - chain.pose(q)).max())
        if not difference < 1e-9:
            raise SystemExit(f"EAIK's {chain.name} differs by {difference:.1e}: comparison stopped")
    return robot


def with_z_along(axis: Array) -> Array:
    """Return a rotation (4, 4) that takes z to a unit vector."""
    x = np.cross(np.eye(3)[np.abs(axis).argmin()], axis)
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.stack([x, np.cross(axis, x), axis], axis=1)
    return T
