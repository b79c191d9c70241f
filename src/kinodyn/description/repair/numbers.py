"""Numbers as files write them: lists with a decimal comma, NaN, too few of them."""

from __future__ import annotations

import math
import re

from kinodyn.description.types import MAX_NUMBER


def parsed(text: str, count: int, *, finite: bool = True) -> tuple[float, ...] | None:
    """Return the numbers of a text that a reader accepts, None if it would not; limits of joints may be infinite."""
    if "_" in text or not text.isascii():
        return None
    try:
        values = tuple(map(float, text.split()))
    except ValueError:
        return None
    return values if len(values) == count and are_accepted(values, finite=finite) else None


def are_accepted(values: tuple[float, ...], *, finite: bool = True) -> bool:
    """Return whether no number is NaN or, if they have to be finite, too large for a robot."""
    return all(abs(value) <= MAX_NUMBER if finite else not math.isnan(value) for value in values)


def rewritten_numbers(text: str, count: int, *, finite: bool = True) -> str | None:
    """Rewrite numbers with commas, semicolons or typographic minus signs so that a reader accepts them, else None."""
    plain = text.replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "-").strip(" []()")
    for candidate in (plain.replace(",", "."), re.sub(r"[,;]", " ", plain)):
        if parsed(candidate, count, finite=finite) is not None:
            return " ".join(candidate.split())
    return None


def written(*values: float) -> str:
    """Write numbers so that reading them back gives the same to eight digits."""
    return " ".join(f"{value + 0.0:.8g}" for value in values)
