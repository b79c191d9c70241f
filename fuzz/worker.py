"""A child process that runs the cases of one target, from a given number on.

Each case is announced before it runs, so that the parent knows which one ended the process.
"""

from __future__ import annotations

import itertools
import os
import resource
import time
from multiprocessing.connection import Connection

MEMORY = 4 << 30  # bytes


def main(channel: Connection, target: str, start: int, count: int, seconds: float) -> None:
    """Run the cases from `start` to `count` until there are none left or the time is over; send what happens."""
    from fuzz.targets import cases_of

    _discard_output()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    end = time.monotonic() + seconds
    for number, (name, run) in enumerate(itertools.islice(cases_of(target), count)):
        if number < start:
            continue
        if time.monotonic() > end:
            channel.send("pause")
            return
        channel.send(f"case {number} {name}")
        wrong = run()
        if wrong:
            channel.send(f"wrong {number} {' '.join(wrong.split())}")
    channel.send("end")


def _discard_output() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
