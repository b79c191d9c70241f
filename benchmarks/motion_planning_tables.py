"""Format the report of benchmarks/motion_planning.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tables import number, section

COLUMNS = {
    "reading": "reading",
    "world": "world",
    "call": "call",
    "whole": "world and call",
    "planning": "planning",
    "simplification": "simplification",
}
LEGEND = (
    "Medians and 95 % over the solved problems [us], the best of several rounds. reading: YAML files; world: a World "
    "built from shapes and poses; call: kd.planning.plan from Python; planning, simplification: parts of the call. "
    "Length: L2 norm in joint space. check: kd.collision.free for a configuration of a batch, one thread."
)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return counts by status, medians and 95 % of the solved problems."""
    statuses = [row["status"] for row in rows]
    solved = [row for row in rows if row["status"] == "solved"]
    found: dict[str, Any] = {
        "problems": len(rows),
        "status": {status: statuses.count(status) for status in sorted(set(statuses))},
    }
    for name in (*COLUMNS, "length") if solved else ():
        values = [row[name] for row in solved]
        found[name] = {"median": float(np.median(values)), "95 %": float(np.percentile(values, 95))}
    return found


def render(report: dict[str, Any]) -> str:
    """Format the whole report."""
    parts = [", ".join(f"{name} {value}" for name, value in report["machine"].items()), LEGEND]
    head = ["", "solved", *(cell for label in (*COLUMNS.values(), "length") for cell in (label, "95 %")), "check"]
    rows = [row_of(name, part, report["check us"].get(name)) for name, part in report["families"].items()]
    parts.append(section(f"{report['robot']}, seed {report['seed']}", [head, *rows], markdown=False))
    parts += unsolved(report["problems"])
    parts.append(timed(report["trajectories"]))
    us = report["Pinocchio, poses of all frames, us"]
    parts.append(f"Poses of all frames by Pinocchio from Python: {us if isinstance(us, str) else number(us) + ' us'}")
    parts += [verified(report["verification"])] if "verification" in report else []
    parts += [peer(report["peer"])] if "peer" in report else []
    return "\n\n".join(parts)


def row_of(name: str, part: dict[str, Any], check: float | None) -> list[str]:
    """Return a row of the table."""
    cells = [name, f"{part['status'].get('solved', 0)} of {part['problems']}"]
    for column in COLUMNS:
        cells += [number(part[column][key]) if column in part else "" for key in ("median", "95 %")]
    cells += [f"{part['length'][key]:.2f}" if "length" in part else "" for key in ("median", "95 %")]
    return [*cells, "" if check is None else f"{check:.3f}"]


def unsolved(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """List the problems without a path."""
    left = [row for row in rows if row["status"] != "solved"]
    if left:
        lines = (f"  {row['family']} {row['name']}: {row['status']}: {row['message']}" for row in left)
        yield "\n".join(["Not solved:", *lines])


def timed(part: dict[str, Any]) -> str:
    """Format the times from a pose goal to a trajectory."""
    head = f"From a pose goal to a trajectory: {part['solved']} of {part['problems']} solved"
    if not part["solved"]:
        return head
    cells = [
        f"{name} {number(part[name]['median'])} us (95 %: {number(part[name]['95 %'])} us)"
        for name in ("plan", "trajectory", "whole")
    ]
    return f"{head}; medians: {', '.join(cells)}; duration {part['duration']['median']:.2f} s"


def verified(part: dict[str, Any]) -> str:
    """Format the verification."""
    if "missing" in part:
        return f"Not verified: {part['missing']}"
    what = f"{part['paths']} paths, {part['configurations']:,} configurations at most {part['step']:.5f} apart"
    lines = [f"Verification: {what}: {len(part['colliding'])} paths collide by coal on the exact shapes"]
    lines += [
        f"  {name}: {', '.join(' with '.join(pair) for pair in pairs)}" for name, pairs in part["colliding"].items()
    ]
    lines.append(f"  spheres touch on {len(part['spheres touch'])} paths, where exact shapes decided")
    return "\n".join(lines)


def peer(part: dict[str, Any]) -> str:
    """Format the comparison with OMPL."""
    if "missing" in part:
        return f"Without OMPL: {part['missing']}"
    lines = [
        f"OMPL's RRTConnect with coal: {part['solved']} of {part['problems']} solved, "
        f"{number(part['us per check'])} us for a configuration. On these problems:"
    ]
    for name, label in (("planning", "planning"), ("whole", "world, planning, simplification")):
        row = part[name]
        times = [
            f"{who} {number(row[who]['median'])} us (total {number(1e-3 * row[who]['total'])} ms)"
            for who in ("OMPL", "kinodyn")
        ]
        quantiles = ", ".join(f"{share} {value:.0f}x" for share, value in row["ratios"].items())
        lines.append(
            f"  {label}: medians {', '.join(times)}; faster by medians {row['ratio']['of medians']:.0f}x, "
            f"by totals {row['ratio']['of totals']:.0f}x; quantiles of the ratios: {quantiles}"
        )
    return "\n".join(lines)
