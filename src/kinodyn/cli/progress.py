"""A progress bar for long computations; the first Ctrl-C stops the computation and keeps what is done."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from kinodyn.cli import terminal


class ProgressBar:
    """Shows how much is done; `interrupted` is True once Ctrl-C was pressed."""

    def __init__(self, bar: Progress, description: str) -> None:
        self._bar, self._task = bar, bar.add_task(description, total=None)
        self.interrupted = False

    def __call__(self, done: int, total: int) -> bool:
        """Show that `done` of `total` parts are done; return False if the computation should stop."""
        self._bar.update(self._task, completed=done, total=total)
        return not self.interrupted


@contextmanager
def progress_bar(description: str) -> Iterator[ProgressBar]:
    """Show a bar on stderr, if it is a terminal, and catch the first Ctrl-C; a second one stops at once."""
    console = terminal.messages()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        progress = ProgressBar(bar, description)

        def stop(number: int, frame: FrameType | None) -> None:
            if progress.interrupted:
                raise KeyboardInterrupt
            progress.interrupted = True

        try:
            before = signal.signal(signal.SIGINT, stop)
        except ValueError:  # not in the main thread, which alone receives Ctrl-C
            yield progress
            return
        try:
            yield progress
        finally:
            signal.signal(signal.SIGINT, before)
