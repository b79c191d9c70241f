"""Walk every humanoid at hand with no setting given: the table robot -> speed, steps, worst margins, or why not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import kinodyn as kd

# Robots with two legs, or without legs but with arms that could be taken for legs.
ROBOTS = (
    "humanoid",
    "icub",
    "icub_reduced",
    "romeo",
    "romeo_small",
    "simple_humanoid",
    "simple_humanoid_classical",
    "alexander",
    "alexander_v1.lowerBodyOnly",
    "alex",
    "alex_nub_hands",
    "alex_sake_hands",
    "human",
    "talos",
    "talos_full_v2",
    "talos_full_v2_box",
    "talos_reduced",
    "talos_reduced_box",
    "talos_reduced_corrected",
    "g1",
    "g1_29dof_rev_1_0",
    "g1_29dof_with_hand_rev_1_0",
    "bolt",
)
HEAD = "| robot | mass | leg | commanded | walked | steps | ZMP margin | torque | slip | real time | |"
RULE = "|---|---|---|---|---|---|---|---|---|---|---|"


def walk_robot(job: tuple[str, float]) -> dict[str, Any]:
    """Walk one robot, by name or file, for a time [s]."""
    source, duration = job
    found: dict[str, Any] = {"robot": source if source in ROBOTS else Path(source).stem}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        try:
            robot = kd.load(source, base="floating")
            body = kd.walking.Biped.from_robot(robot)
            found |= {"mass": robot.mass, "leg": body.leg}
            result = kd.walking.walk(body, duration=duration)
        except kd.errors.KinodynError as cause:
            return found | {"refused": str(cause)}
    return found | {
        "commanded": float(result.commanded[0]),
        "speed": result.speed,
        "steps": result.steps,
        "margin": result.least_margin,
        "torque": max(result.torques.values()),
        "slip": result.slip,
        "real_time": result.real_time,
        "fault": result.reason,
    }


def walk_robots(sources: Sequence[str], duration: float, processes: int) -> Iterator[dict[str, Any]]:
    """Walk robots one after the other, or in parallel."""
    jobs = [(source, duration) for source in sources]
    if processes == 1:
        yield from map(walk_robot, jobs)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(walk_robot, jobs)


def markdown_row(found: dict[str, Any]) -> str:
    """Format one robot as a row of a table in Markdown."""
    size = [f"{found['mass']:.0f} kg", f"{found['leg']:.2f} m"] if "leg" in found else ["", ""]
    if "refused" in found:
        cells = [found["robot"], *size, *7 * [""], f"refused: {found['refused']}"]
    else:
        cells = [
            found["robot"],
            *size,
            f"{found['commanded']:.2f} m/s",
            f"{found['speed']:.2f} m/s" if np.isfinite(found["speed"]) else "",
            str(found["steps"]),
            f"{1e3 * found['margin']:.0f} mm",
            f"{100 * found['torque']:.0f} %",
            f"{1e3 * found['slip']:.1f} mm",
            f"{found['real_time']:.1f}",
            found["fault"],
        ]
    return f"| {' | '.join(cells)} |"
