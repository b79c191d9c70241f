"""Long work: a bar with the time left, and Ctrl-C that ends the work but keeps what is done."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from kinodyn.cli import show


class Work:
    """Tells how far the work is, and hears whether it shall go on."""

    def __init__(self, bar: Progress, what: str) -> None:
        self._bar, self._task = bar, bar.add_task(what, total=None)
        self.interrupted = False

    def __call__(self, done: int, total: int) -> bool:
        """Show that `done` parts of `total` are ready; False once Ctrl-C was pressed."""
        self._bar.update(self._task, completed=done, total=total)
        return not self.interrupted


@contextmanager
def working(what: str) -> Iterator[Work]:
    """Show a bar on stderr, if that is a terminal, and catch the first Ctrl-C; a second one ends at once."""
    console = show.messages()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        work = Work(bar, what)

        def stop(number: int, frame: FrameType | None) -> None:
            if work.interrupted:
                raise KeyboardInterrupt
            work.interrupted = True

        try:
            before = signal.signal(signal.SIGINT, stop)
        except ValueError:  # not in the main thread, where no Ctrl-C arrives
            yield work
            return
        try:
            yield work
        finally:
            signal.signal(signal.SIGINT, before)
