"""Wording of warnings about descriptions: one warning per subject, with the first few names."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

from kinodyn.errors import DescriptionWarning


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: `1 link`, `2 links`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(items: Iterable[object], limit: int = 4) -> str:
    """Join the first `limit` items with commas and add how many more there are."""
    every = [str(item) for item in items]
    shown = ", ".join(every[:limit])
    return shown if len(every) <= limit else f"{shown} and {len(every) - limit} more"


def warn(message: str, file: Path | None) -> None:
    """Warn about a description, with the file it came from."""
    text = message if file is None else f"{file}: {message}"
    warnings.warn(text, DescriptionWarning, stacklevel=3)


def repair_hint(file: Path | None) -> str:
    """Return a hint on how to repair a file, to be appended to a message; empty if there is no file."""
    if file is None:
        return ""
    return f"; 'kinodyn check {file} --repair repaired{file.suffix}' proposes repairs"
