"""The viewer's thread: a periodic callback at 60 Hz."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

PERIOD = 1.0 / 60.0  # s
MAX_DT = 0.1  # upper bound of the time passed to a tick, however late it is [s]
WINDOW = 60  # ticks over which the rate is measured


class Loop:
    """Calls `tick` with the seconds since the last call until it is stopped; its thread is a daemon.

    Attributes
    ----------
    ended : threading.Event
        Set when it has stopped.
    """

    def __init__(self, tick: Callable[[float], None]) -> None:
        self._tick, self._stop = tick, threading.Event()
        self._times: deque[float] = deque(maxlen=WINDOW)
        self.ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="kinodyn viewer")
        self._thread.start()

    @property
    def rate(self) -> float:
        """Ticks per second over the last `WINDOW` ticks; 0 before there are two."""
        times = list(self._times)
        return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else 0.0

    def stop(self) -> None:
        """Stop and wait for the tick in progress."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        last = due = time.perf_counter()
        try:
            while not self._stop.wait(max(0.0, due - time.perf_counter())):
                now = time.perf_counter()
                due = max(due + PERIOD, now)  # late ticks are skipped
                self._times.append(now)
                self._tick(min(now - last, MAX_DT))
                last = now
        finally:
            self.ended.set()
