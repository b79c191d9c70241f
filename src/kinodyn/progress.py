"""A progress bar on the terminal."""

from __future__ import annotations

import sys
import time

WIDTH = 30
REFRESH_INTERVAL = 0.1  # [s]


class ProgressBar:
    """Draws on stderr if that is a terminal, and nothing otherwise."""

    def __init__(self, enabled: bool, duration: float, unit: str = "s", first: float = 0.0) -> None:
        """Start at `first`, which was done before: it does not count for the rate."""
        self._shown, self._unit = enabled and sys.stderr.isatty(), unit
        self._duration, self._first, self._start, self._last = duration, first, time.monotonic(), 0.0

    def update(self, t: float) -> None:
        """Show that the run has reached time t."""
        now = time.monotonic()
        if not self._shown or now - self._last < REFRESH_INTERVAL:
            return
        self._last = now
        full = round(WIDTH * min(1.0, t / self._duration))
        speed = (t - self._first) / max(now - self._start, 1e-9)
        left = f"{(self._duration - t) / speed:.0f} s left" if speed > 0 else ""
        pace = f"{speed:.2g} times real time, " if self._unit == "s" else f"{speed:.3g} per second, "
        text = f"[{'#' * full}{'.' * (WIDTH - full)}] {t:.4g} of {self._duration:g} {self._unit}, {pace}{left}"
        print(f"\r{text:<100}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line."""
        if self._shown and self._last:
            print(file=sys.stderr)
