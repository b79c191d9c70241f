"""Tables of numbers as text, for the report of an identification."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinodyn.arrays import Array

WIDTH = 60  # of the column of names


def heading(title: str, *columns: str) -> str:
    """Return the first line of a table."""
    return f"{title:<{WIDTH}} " + " ".join(f"{column:>10}" for column in columns)


def rows(names: Sequence[str], columns: Sequence[Array]) -> list[str]:
    """Return a line for each name, with its number of each column."""
    return [_row(name, numbers) for name, *numbers in zip(names, *columns, strict=True)]


def _row(name: str, numbers: Sequence[float]) -> str:
    shown = name if len(name) <= WIDTH else name[: WIDTH - 4] + " ..."
    return f"{shown:<{WIDTH}} " + " ".join(f"{np.float64(number):>10.4g}" for number in numbers)
