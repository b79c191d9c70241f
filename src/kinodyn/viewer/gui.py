"""One place to set what the page shows in its inputs."""

from __future__ import annotations

import time
from typing import Any

QUIET = 0.5  # s after which an input that somebody moved follows the robot again


def assign(handle: Any, value: object) -> None:
    """Set the value of one of viser's inputs; its setter is hidden from type checkers."""
    handle.value = value


class Shown:
    """Shows in inputs where things are, and does not tear them from a hand.

    What somebody does in the page is in the input at once, and is told to us later, by another thread. An input that is
    set in between would have lost it.
    """

    def __init__(self) -> None:
        self._stamps: dict[int, float] = {}

    def assign(self, handle: Any, value: object) -> None:
        """Set an input (one of viser's handles), unless somebody moved it just now."""
        if handle.value != value and not self._held(handle):
            assign(handle, value)
            self._stamps[id(handle)] = handle.update_timestamp

    def _held(self, handle: Any) -> bool:
        stamp = handle.update_timestamp
        return bool(stamp != self._stamps.get(id(handle)) and time.time() - stamp < QUIET)
