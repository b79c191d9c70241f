"""Ctrl-C while foreign code runs, which an exception must not pass through."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def calling_at_interrupt(handler: Callable[[], object]) -> Iterator[None]:
    """Call a function at Ctrl-C instead of raising KeyboardInterrupt.

    Only where Python would raise it: in the main thread, unless the program handles Ctrl-C itself.

    Parameters
    ----------
    handler
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: handler())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def deferred_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end instead of at any time."""
    interrupts: list[None] = []
    with calling_at_interrupt(lambda: interrupts.append(None)):
        yield
    if interrupts:
        raise KeyboardInterrupt
