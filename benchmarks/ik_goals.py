"""The goals for inverse kinematics, and whether a report meets them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

# Speed-up over the peer: on the Panda, and for a whole-body step.
IK_LM_BATCH, IK_LM_SINGLE = 20.0, 3.0
STEP = {"Placo": 2.0, "Pink": 10.0, "mink": 10.0}
COLLISION = 2.0  # time of a step that avoids self-collision, over that of one which does not
CLOSED_FORM_US, SUCCESS = 5.0, 99.9


@dataclass(frozen=True)
class Goal:
    """A goal; `measured` and `met` are None if a peer is missing."""

    what: str
    needed: str
    measured: str | None
    met: bool | None


def evaluate(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Evaluate the goals of the parts in the report."""
    goals = [
        *(goal for row in report.get("numeric", ()) if row["chain"] == "panda" for goal in numeric(row)),
        *(goal for row in report.get("closed form", ()) for goal in closed_form(row)),
        *(goal for row in report.get("protocol", ()) for goal in protocol(row)),
        *(whole_body(report["whole body"]) if "whole body" in report else ()),
    ]
    return [asdict(goal) for goal in goals]


def times_faster(what: str, ratio: float | None, needed: float) -> Goal:
    """Return a goal for the speed-up over a peer, which may be missing."""
    if ratio is None:
        return Goal(what, f"{needed:g}x", None, None)
    return Goal(what, f"{needed:g}x", f"{ratio:.1f}x", ratio >= needed)


def numeric(row: dict[str, Any]) -> Iterator[Goal]:
    """Compare with the faster of `ik_LM`'s two tolerances."""
    for name in row["us"]:
        if name.startswith("kinodyn"):
            needed = IK_LM_BATCH if "batch" in name else IK_LM_SINGLE
            yield times_faster(f"panda, {name}, against ik_LM", row["faster"].get(name), needed)


def closed_form(row: dict[str, Any]) -> Iterator[Goal]:
    """Check the time on one thread and the solutions."""
    us, found = row["us"]["kinodyn batch, 1 thread"], row["answers"]["kinodyn"]
    what = f"{row['chain']}, closed form, batch on one thread"
    yield Goal(what, f"below {CLOSED_FORM_US:g} us", f"{us:.2f} us", us < CLOSED_FORM_US)
    right = found["wrong ones"] == 0 and found["true joints among them %"] == 100.0
    said = f"{found['wrong ones']} wrong, {found['true joints among them %']:g} %"
    yield Goal(f"{row['chain']}, closed form, all right and the true joints among them", "0 wrong, 100 %", said, right)


def protocol(row: dict[str, Any]) -> Iterator[Goal]:
    """Check the batch; single calls also have a time limit."""
    fraction, false = row["batch"]["success %"], row["batch"]["false claims"]
    said = f"{fraction:.2f} %, {false} false"
    yield Goal(f"{row['chain']}, batch", f"{SUCCESS} %, 0 false", said, fraction >= SUCCESS and false == 0)
    capped = row["single calls solved within 5 ms %"]
    yield Goal(f"{row['chain']}, single calls within 5 ms", f"{SUCCESS} %", f"{capped:.2f} %", capped >= SUCCESS)


def whole_body(part: dict[str, Any]) -> Iterator[Goal]:
    """Compare with peers that constrain the feet as strictly."""
    for peer, needed in STEP.items():
        for kind in ("median", "first tenth"):
            ratio = part["faster"].get(peer, {}).get(kind)
            yield times_faster(f"Talos step, {kind}, against {peer}", ratio, needed)
    for kind in ("median", "first tenth"):
        longer = part["faster"]["kinodyn, self-collision"][kind]
        what = f"Talos step, {kind}, with self-collision over without"
        yield Goal(what, f"{COLLISION:g}x at most", f"{longer:.2f}x", longer <= COLLISION)
