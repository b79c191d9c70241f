"""Numbers as files write them: lists with a decimal comma, NaN, too few of them."""

from __future__ import annotations

import math
import re


def parsed(text: str, count: int, *, finite: bool = True) -> tuple[float, ...] | None:
    """Return the numbers of a text that a reader accepts, None if it would not."""
    if "_" in text or not text.isascii():
        return None
    try:
        values = tuple(map(float, text.split()))
    except ValueError:
        return None
    allowed = all(math.isfinite(value) if finite else not math.isnan(value) for value in values)
    return values if len(values) == count and allowed else None


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
