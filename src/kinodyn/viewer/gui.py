"""One place to set what the page shows in an input."""

from __future__ import annotations

from typing import Any


def assign(handle: Any, value: object) -> None:
    """Set the value of one of viser's inputs; its setter is hidden from type checkers."""
    handle.value = value
