"""Retarget clips of motion capture: kinodyn, and GMR's recipe with mink and DAQP as its peer.

    python benchmarks/retarget.py FOLDER --robot g1
    python benchmarks/retarget.py FOLDER --robot talos --no-peer --exact

Both run on one thread, on the same clips and targets, at the same rate. Times are CPU times of the process, the best of
`--repeat` runs for each: those of kinodyn are from the file to the report, those of the peer do not contain the reading
of the file. Self-penetration and slip are measured in the same way for both: by the spheres of kinodyn; `--exact`
measures kinodyn's by coal, on the shapes.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import kinodyn as kd
from kinodyn.retarget.body import Body
from kinodyn.retarget.contacts import find_contacts
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import key_points
from kinodyn.retarget.report import Measured, measure
from kinodyn.retarget.solver import ClipSolver
from kinodyn.retarget.targets import make_targets

RATE = 30.0
HEADER = "clip         frames  frames/s hands cm feet cm slip mm ground speed touch  in reach: hands cm  feet cm"


def main() -> None:
    """Print a row for each clip and each library."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--robot", default="g1")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--exact", action="store_true", help="measure self-penetration on the shapes, by coal")
    given = parser.parse_args()
    warnings.simplefilter("ignore", kd.DescriptionWarning)
    kd.set_threads(1)
    robot = kd.load(given.robot)
    clips = sorted(given.folder.glob("*.bvh"))
    kd.retarget.retarget(clips[0], robot, rate=RATE)  # spheres of the robot are fitted once
    print(HEADER)
    totals = np.zeros((2, 2))
    for clip in clips:
        seconds, result = run(clip, robot, given.repeat)
        totals[0] += len(result.q), seconds
        exact = f"  exact {touching(result)}" if given.exact else ""
        print(row(clip.stem, result, seconds) + exact, flush=True)
        if not given.no_peer:
            totals[1] += peer(clip, robot, given.repeat)
    rates = totals[:, 0] / np.maximum(totals[:, 1], 1e-9)
    print(f"kinodyn {rates[0]:.0f} frames/s" + ("" if given.no_peer else f", GMR's recipe {rates[1]:.0f} frames/s"))


def run(clip: Path, robot: kd.Robot, repeat: int) -> tuple[float, kd.retarget.Retargeted]:
    """Retarget a clip, from the file to the report; return the best CPU time [s] and the result."""
    best = np.inf
    for _ in range(repeat):
        start = time.process_time()
        result = kd.retarget.retarget(clip, robot, rate=RATE)
        best = min(best, time.process_time() - start)
    return best, result


def row(name: str, result: kd.retarget.Retargeted, seconds: float) -> str:
    """Format the report of kinodyn."""
    r = result.report
    return (
        f"{name:<12}{r.frames:>7}{r.frames / seconds:>10.0f}{100 * r.hand_error:>9.1f}{100 * r.foot_error:>8.1f}"
        f"{1e3 * r.slip:>8.2f}{1e3 * r.penetration:>7.1f}{r.speed_ratio:>6.2f}{r.self_collisions:>6}"
        f"{100 * r.hand_reach:>9.0f} % {100 * r.reachable_hand_error:.1f}"
        f"{100 * r.foot_reach:>8.0f} % {100 * r.reachable_foot_error:.1f}"
    )


def touching(result: kd.retarget.Retargeted) -> str:
    """Count the frames in which the exact shapes penetrate by more than 1 mm, among those whose spheres do."""
    near = kd.collision.distance(result.robot, result.q, max_distance=0.05).distance < 0.0
    if not near.any():
        return "0 (no spheres touch)"
    exact = kd.collision.distance(result.robot, result.q[near], exact=True, max_distance=0.05)
    return (
        f"{np.count_nonzero(exact.distance < -0.001)} of {np.count_nonzero(near)}, {1e3 * exact.distance.min():.1f} mm"
    )


def peer(clip: Path, robot: kd.Robot, repeat: int) -> tuple[int, float]:
    """Run GMR's recipe on the targets of a clip; print its row; return frames and the best CPU time [s]."""
    from retarget_gmr import Gmr

    body = Body.from_robot(robot)
    motion = kd.retarget.read(clip, RATE)
    human = normalise(motion, key_points(motion), RATE)
    feet = find_contacts(human)
    targets = make_targets(body, human, feet)
    seconds = np.inf
    for _ in range(repeat):
        gmr = Gmr(body, targets)
        frames = gmr.human()
        start = time.process_time()
        q = gmr.run(frames)
        seconds = min(seconds, time.process_time() - start)
    solver = ClipSolver(body, targets, feet.contacts, RATE)
    solver.q[:, : len(q)] = q.T
    solver.run(0, proximity=1.0, smoothing=0.0, base_only=True)  # positions of the points
    measured = measure(q, solver.paths, solver.lowest, targets, feet.contacts, solver.clearances)
    print(peer_row(q, measured, robot, seconds), flush=True)
    return len(q), seconds


def peer_row(q: np.ndarray, measured: Measured, robot: kd.Robot, seconds: float) -> str:
    """Format the measures of the peer."""
    speeds = np.abs(robot.difference(q[:-1], q[1:])[:, 6:]) * RATE
    limits = np.where(robot.limits.velocity[6:] > 0, robot.limits.velocity[6:], np.inf)
    return (
        f"{'  GMR':<12}{len(q):>7}{len(q) / seconds:>10.0f}{100 * np.median(measured.hands):>9.1f}"
        f"{100 * np.median(measured.feet):>8.1f}{1e3 * measured.slips.max(initial=0.0):>8.2f}"
        f"{-1e3 * min(0.0, measured.lowest.min()):>7.1f}{(speeds / limits).max():>6.2f}"
        f"{np.count_nonzero(measured.depth > 0.001):>6}"
    )


if __name__ == "__main__":
    main()
