"""Format a report as text or Markdown tables."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import kinodyn as kd

LEGEND = (
    "Time per state [us]. First three columns: a call from Python for each state. Batch: one call for all states, with "
    "one thread or with two. Faster: Pinocchio's time over kinodyn's; for batches, Pinocchio's fastest way with one "
    "thread (its parallel function where it has one, else a call per state). Times are the best of several turns; the "
    "gain of 2 threads is the median over pairs of sustained runs."
)
HEAD = (
    "",
    "kinodyn",
    "Pinocchio",
    "MuJoCo",
    "faster",
    "kinodyn batch",
    "2 threads",
    "Pinocchio batch",
    "2 threads",
    "faster",
    "gain of 2 threads",
)


def machine(packages: Iterable[str] = ("kinodyn", "pin", "mujoco", "numpy")) -> dict[str, str]:
    """Describe the machine and the versions of these packages."""
    versions = {name: version(name) for name in packages}
    return {"cpu": cpu(), "cores": str(os.cpu_count()), "core": str(kd.__build__), **versions}


def cpu() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def render(report: dict[str, Any], *, markdown: bool) -> str:
    """Format the whole report."""
    parts = [", ".join(f"{name} {value}" for name, value in report["machine"].items()), LEGEND]
    for robot in report["robots"]:
        title = f"{robot['robot']}, {robot['nv']} degrees of freedom, batches of {robot['batch']}"
        parts.append(section(title, [HEAD, *robot_rows(robot)], markdown))
        if robot["without MuJoCo"]:
            parts.append(f"Without MuJoCo: {robot['without MuJoCo']}")
    grown = report["growth with batch"]
    head = ("states in a batch", *map(str, grown["batch"]))
    rows = [
        (f"{function}, {threads} thread{'s' * (threads != '1')}", *map(number, us))
        for function, by in grown["us"].items()
        for threads, us in by.items()
    ]
    parts.append(section(f"Growth with the batch, {grown['robot']}", [head, *rows], markdown))
    grown = report["growth with joints"]
    head = ("joints", *map(str, grown["joints"]), "exponent")
    rows = [
        (f"{function}, {engine}", *map(number, us), f"{grown['exponent'][function][engine]:.2f}")
        for function, by in grown["us"].items()
        for engine, us in by.items()
    ]
    parts.append(section("Growth with the number of joints, serial chains", [head, *rows], markdown))
    return "\n\n".join(parts)


def robot_rows(robot: dict[str, Any]) -> Iterable[Sequence[str]]:
    """Return one row per function."""
    for function, us in robot["us"].items():
        fastest = min(us["Pinocchio"], us.get("Pinocchio batch 1", us["Pinocchio"]))
        yield (
            function,
            number(us["kinodyn"]),
            number(us["Pinocchio"]),
            number(us.get("MuJoCo")),
            ratio(us["Pinocchio"], us["kinodyn"]),
            number(us["kinodyn batch 1"]),
            number(us["kinodyn batch 2"]),
            number(us.get("Pinocchio batch 1")),
            number(us.get("Pinocchio batch 2")),
            ratio(fastest, us["kinodyn batch 1"]),
            f"{robot['gain of 2 threads'][function]:.1f}x",
        )


def number(us: float | None) -> str:
    """Format a time with three digits; empty if there is none."""
    return "" if us is None else f"{us:.{max(0, 2 - int(us >= 10) - int(us >= 100))}f}"


def ratio(theirs: float, ours: float) -> str:
    """Format the speed-up of ours over theirs."""
    return f"{theirs / ours:.1f}x"


def section(title: str, rows: Sequence[Sequence[str]], markdown: bool) -> str:
    """Format one table with its title, numbers right-aligned."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    padded = [
        [
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
    if not markdown:
        return "\n".join([title, *("  ".join(row) for row in padded)])
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([f"**{title}**", "", *("| " + " | ".join(row) + " |" for row in [padded[0], rule, *padded[1:]])])
