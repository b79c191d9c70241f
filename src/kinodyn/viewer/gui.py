"""Set the values of viser's input widgets."""

from __future__ import annotations

import time
from typing import Any

USER_PRIORITY = 0.5  # s during which a widget that a user moved is not set by the program


def assign(handle: Any, value: object) -> None:
    """Set the value of a widget; its setter is hidden from type checkers."""
    handle.value = value


class InputSync:
    """Keeps widgets in sync with the robot without overwriting what a user does.

    A user's change is in the widget immediately, but its callback comes later from another thread; setting the widget
    in between would lose the change.
    """

    def __init__(self) -> None:
        self._stamps: dict[int, float] = {}

    def assign(self, handle: Any, value: object) -> None:
        """Set a widget (a handle of viser) unless a user has just changed it."""
        if handle.value != value and not self._in_use(handle):
            assign(handle, value)
            self._stamps[id(handle)] = handle.update_timestamp

    def _in_use(self, handle: Any) -> bool:
        stamp = handle.update_timestamp
        return bool(stamp != self._stamps.get(id(handle)) and time.time() - stamp < USER_PRIORITY)
