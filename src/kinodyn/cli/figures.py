"""Figures by name, laid out for people: with words and units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinodyn.cli.answer import Table

# name -> (words, unit, factor)
WORDS: dict[str, tuple[str, str, float]] = {
    "fallen": ("fell at", "s", 1.0),
    "distance": ("distance", "m", 1.0),
    "speed": ("mean speed", "m/s", 1.0),
    "commanded": ("commanded: forward, sideways, turn", "m/s, rad/s", 1.0),
    "turning": ("mean turn", "rad/s", 1.0),
    "heading_drift": ("heading drift", "deg", 57.29577951308232),
    "steps": ("steps", "", 1.0),
    "least_margin": ("ZMP margin, smallest", "mm", 1e3),
    "mean_margin": ("ZMP margin, mean", "mm", 1e3),
    "com_error": ("tracking error, centre of mass", "mm", 1e3),
    "foot_error": ("tracking error, swing foot", "mm", 1e3),
    "trunk_error": ("tracking error, trunk", "deg", 57.29577951308232),
    "torque": ("largest torque against limit", "%", 100.0),
    "slip": ("largest foot slip", "mm", 1e3),
    "cost_of_transport": ("cost of transport", "", 1.0),
    "real_time": ("real-time factor", "", 1.0),
    "tick_median": ("control tick, median", "ms", 1e3),
    "tick_99": ("control tick, 99 %", "ms", 1e3),
    "tick_worst": ("control tick, worst", "ms", 1e3),
    "plan_median": ("plan, median", "ms", 1e3),
    "plan_99": ("plan, 99 %", "ms", 1e3),
    "plan_worst": ("plan, worst", "ms", 1e3),
    "mpc_median": ("MPC programme in it, median", "ms", 1e3),
    "mpc_99": ("MPC programme in it, 99 %", "ms", 1e3),
    "mpc_worst": ("MPC programme in it, worst", "ms", 1e3),
}
HIDDEN = ("robot", "walked", "reason")
JOINTS = 10  # rows of torques on the terminal


def walk_tables(summary: Mapping[str, Any]) -> list[Table]:
    """Lay out the figures of a walk: one row each, then the torques of the joints that work hardest."""
    rows: list[tuple[Any, ...]] = []
    tables = []
    for name, value in summary.items():
        if name in HIDDEN:
            continue
        if name == "fallen":
            rows.append(("falls", 0, "") if value is None else _row(name, value))
            continue
        if name == "torques":
            tables.append(_shares(value))
            continue
        rows.append(_row(name, value))
    return [Table("", ("figure", "value", "unit"), rows, most=len(rows)), *tables]


def _row(name: str, value: Any) -> tuple[Any, Any, str]:
    if isinstance(value, list):
        value = ", ".join(f"{entry:g}" for entry in value)
    words, unit, factor = WORDS.get(name, (name.replace("_", " "), "", 1.0))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return words, value * factor if number and factor != 1.0 else value, unit


def _shares(torque: Mapping[str, float | None]) -> Table:
    known = sorted(((share, name) for name, share in torque.items() if share is not None), reverse=True)
    rows = [(name, 100.0 * share) for share, name in known[:JOINTS]]
    title = "largest torque against limit" + (f", {JOINTS} joints of {len(known)}" if len(known) > JOINTS else "")
    return Table(title, ("joint", "% of limit"), rows)
