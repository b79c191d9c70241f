"""Tables of the metrics of a walk, with labels and units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kinodyn.cli.result import Table

# metric -> (label, unit, factor from SI)
LABELS: dict[str, tuple[str, str, float]] = {
    "fallen": ("fell at", "s", 1.0),
    "distance": ("distance", "m", 1.0),
    "speed": ("mean speed", "m/s", 1.0),
    "commanded": ("commanded: forward, sideways, turn", "m/s, rad/s", 1.0),
    "turning": ("mean turn", "rad/s", 1.0),
    "heading_drift": ("heading drift", "deg", 57.29577951308232),
    "steps": ("steps", "", 1.0),
    "least_margin": ("ZMP margin, smallest", "mm", 1e3),
    "mean_margin": ("ZMP margin, mean", "mm", 1e3),
    "com_error": ("tracking error, CoM", "mm", 1e3),
    "foot_error": ("tracking error, swing foot", "mm", 1e3),
    "trunk_error": ("tracking error, trunk", "deg", 57.29577951308232),
    "torque": ("largest torque, fraction of limit", "%", 100.0),
    "slip": ("largest foot slip", "mm", 1e3),
    "cost_of_transport": ("cost of transport", "", 1.0),
    "real_time": ("real-time factor", "", 1.0),
    "tick_median": ("control tick, median", "ms", 1e3),
    "tick_99": ("control tick, 99 %", "ms", 1e3),
    "tick_worst": ("control tick, worst", "ms", 1e3),
    "plan_median": ("plan, median", "ms", 1e3),
    "plan_99": ("plan, 99 %", "ms", 1e3),
    "plan_worst": ("plan, worst", "ms", 1e3),
    "mpc_median": ("MPC QP, median", "ms", 1e3),
    "mpc_99": ("MPC QP, 99 %", "ms", 1e3),
    "mpc_worst": ("MPC QP, worst", "ms", 1e3),
}
HIDDEN = ("robot", "walked", "reason")
MAX_JOINTS = 10  # joints in the table of torques


def walk_tables(summary: Mapping[str, Any]) -> list[Table]:
    """Lay out the metrics of a walk: one row each, then the joints with the largest fraction of their torque limit."""
    rows: list[tuple[Any, ...]] = []
    tables = []
    for name, value in summary.items():
        if name in HIDDEN:
            continue
        if name == "fallen":
            rows.append(("falls", 0, "") if value is None else _row(name, value))
            continue
        if name == "torques":
            tables.append(_fractions(value))
            continue
        rows.append(_row(name, value))
    return [Table("", ("metric", "value", "unit"), rows, max_rows=len(rows)), *tables]


def _row(name: str, value: Any) -> tuple[Any, Any, str]:
    if isinstance(value, list):
        value = ", ".join(f"{entry:g}" for entry in value)
    label, unit, factor = LABELS.get(name, (name.replace("_", " "), "", 1.0))
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return label, value * factor if number and factor != 1.0 else value, unit


def _fractions(torque: Mapping[str, float | None]) -> Table:
    known = sorted(((share, name) for name, share in torque.items() if share is not None), reverse=True)
    rows = [(name, 100.0 * share) for share, name in known[:MAX_JOINTS]]
    title = "largest torque, fraction of limit" + (
        f", {MAX_JOINTS} joints of {len(known)}" if len(known) > MAX_JOINTS else ""
    )
    return Table(title, ("joint", "% of limit"), rows)
