"""The viewer's own thread: a beat, sixty times a second."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

PERIOD = 1.0 / 60.0  # s
LONGEST = 0.1  # s that one tick may count for, however late it is
WINDOW = 60  # ticks over which the rate is measured


class Loop:
    """Calls `tick` with the seconds since the last call, until it is stopped; its thread is a daemon.

    Attributes
    ----------
    ended : threading.Event
        Set when it has stopped.
    """

    def __init__(self, tick: Callable[[float], None]) -> None:
        self._tick, self._stop = tick, threading.Event()
        self._beats: deque[float] = deque(maxlen=WINDOW)
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="kinodyn viewer")
        self._thread.start()

    @property
    def rate(self) -> float:
        """Ticks a second over the last second or so; 0 before there were any."""
        beats = list(self._beats)
        return (len(beats) - 1) / (beats[-1] - beats[0]) if len(beats) > 1 else 0.0

    def stop(self) -> None:
        """End it and wait for the tick that is under way."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        last = due = time.perf_counter()
        try:
            while not self._stop.wait(max(0.0, due - time.perf_counter())):
                now = time.perf_counter()
                due = max(due + PERIOD, now)  # late ticks are not made up for
                self._beats.append(now)
                self._tick(min(now - last, LONGEST))
                last = now
        finally:
            self.ended.set()
