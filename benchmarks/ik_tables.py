"""Write the report of the inverse kinematics benchmark as text or Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tables import number, section

Rows = Sequence[Sequence[str]]

NUMERIC = (
    "Time per pose [us], best of several rounds. Right: within tolerance and limits, verified by independent forward "
    "kinematics. False: wrong claims of success. ik_LM has errors up to 1.4e-3 with its default tolerance (as "
    "delivered); as exact: with 1e-6, like kinodyn. All start midway between limits. Faster: against the faster ik_LM."
)
CLOSED_FORM = (
    "Time per pose [us] for all solutions, without limits. Faster: EAIK's time over kinodyn's, for the same row."
)
PROTOCOL = (
    "Random reachable poses, start midway between limits, 1e-5 m and rad. Batch: one call, one thread. Within 5 ms: of "
    "single calls. TRAC-IK: from its README, version 1.5.1, on its authors' machine, not measured here."
)
WHOLE_BODY = (
    "Time per step [us]: the best of several rounds for each step; first tenth: mean of the first tenth of the steps, "
    "where many joints are at velocity limits. Feet are constraints unless by weight. Errors [mm] after the last step, "
    "by forward kinematics. Faster: the peer's time over kinodyn's for the same problem."
)


def render(report: dict[str, Any], *, markdown: bool) -> str:
    """Format the whole report."""
    parts = [listed(report["machine"]), "Peers: " + listed(report["peers"])]
    parts += [f"{name} left out: {reason}" for name, reason in report["left out"].items()]
    if "numeric" in report:
        parts.append(NUMERIC)
        parts += [section(f"Numeric, {row['chain']}", numeric(row), markdown) for row in report["numeric"]]
    if "closed form" in report:
        parts.append(CLOSED_FORM)
        for row in report["closed form"]:
            parts.append(section(f"Closed form, {row['chain']}, {row['family']}", closed_form(row), markdown))
    if "protocol" in report:
        rows = [PROTOCOL_HEAD, *map(protocol, report["protocol"])]
        parts += [PROTOCOL, section("Protocol of TRAC-IK", rows, markdown)]
    if "whole body" in report:
        title = f"Whole body, {report['whole body']['robot']}, {report['whole body']['steps']} steps"
        parts += [WHOLE_BODY, section(title, [WHOLE_BODY_HEAD, *whole_body(report["whole body"])], markdown)]
    title = "Goals, of a quick run: not meaningful" if report["quick"] else "Goals"
    parts.append(section(title, [("", "needed", "measured", "met"), *map(goal, report["goals"])], markdown))
    return "\n\n".join(parts)


def listed(values: dict[str, str]) -> str:
    """Format names and values in one line."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def numeric(row: dict[str, Any]) -> Rows:
    """Return a row per solver; threads do not change results."""
    rows = [("", "us", "right %", "false", "worst error", "faster than ik_LM")]
    for name, value in row["us"].items():
        found = row["answers"].get(name) or row["answers"]["kinodyn batch, 1 thread"]
        said = (f"{found['success %']:.2f}", str(found["false claims"]), f"{found['worst error']:.1e}")
        rows.append((name, number(value), *said, times(row["faster"].get(name))))
    if row["without robotics-toolbox"]:
        rows.append(("ik_LM", row["without robotics-toolbox"], "", "", "", ""))
    return rows


def closed_form(row: dict[str, Any]) -> Rows:
    """Return a row per solver and number of threads."""
    rows = [("", "us", "solutions per pose", "wrong", "worst error", "true joints found %", "faster")]
    for name, value in row["us"].items():
        found = row["answers"][name.split()[0]]
        said = (f"{found['solutions a pose']:.3f}", str(found["wrong ones"]), f"{found['worst error']:.1e}")
        fraction = f"{found['true joints among them %']:.2f}"
        rows.append((name, number(value), *said, fraction, times(row["faster"].get(name))))
    if row["without EAIK"]:
        rows.append(("EAIK", row["without EAIK"], "", "", "", "", ""))
    return rows


PROTOCOL_HEAD = (
    "",
    "joints",
    "poses",
    "solved %",
    "false",
    "us, batch",
    "single calls",
    "within 5 ms %",
    "us, mean",
    "us, longest",
    "TRAC-IK, published",
)


def protocol(row: dict[str, Any]) -> Sequence[str]:
    """Return the row of one chain."""
    us, published = row["us"], row["TRAC-IK, published"]
    return (
        row["chain"],
        str(row["joints"]),
        str(row["poses"]["batch"]),
        f"{row['batch']['success %']:.2f}",
        str(row["batch"]["false claims"]),
        number(us["batch"]),
        str(row["poses"]["singles"]),
        f"{row['single calls solved within 5 ms %']:.2f}",
        number(us["single, mean"]),
        number(us["single, longest"]),
        f"{published[0]} %, {published[1]} us" if published else "",
    )


WHOLE_BODY_HEAD = ("", "median", "faster", "first tenth", "faster", "longest", "hands", "feet", "centre of mass")


def whole_body(part: dict[str, Any]) -> Iterator[Sequence[str]]:
    """Return a row per solver, with the errors at the start before them."""
    yield ("at the start", "", "", "", "", "", *map(millimetres, places(part["start mm"])))
    for name, us in part["us"].items():
        faster = part["faster"].get(name, {})
        cells = [text for kind in ("median", "first tenth") for text in (number(us[kind]), times(faster.get(kind)))]
        yield (name, *cells, number(us["longest"]), *map(millimetres, places(part["end mm"][name])))
    for peer, reason in part["without"].items():
        yield (peer, reason, *[""] * 7)


def places(errors: dict[str, float]) -> Sequence[float]:
    """Return the errors that the table shows."""
    return [errors[name] for name in ("hands", "feet", "com")]


def times(ratio: float | None) -> str:
    """Format a speed-up; empty if there is no peer."""
    return "" if ratio is None else f"{ratio:.1f}x" if ratio >= 1.0 else f"{ratio:.2g}x"


def millimetres(value: float) -> str:
    """Format a distance [mm]."""
    return f"{value:.1f}" if value >= 10.0 else f"{value:.3f}" if value >= 1e-3 else f"{value:.0e}" if value else "0"


def goal(evaluated: dict[str, Any]) -> Sequence[str]:
    """Return the row of one goal."""
    met = {True: "yes", False: "NO", None: ""}[evaluated["met"]]
    return (evaluated["what"], evaluated["needed"], evaluated["measured"] or "peer not installed", met)
