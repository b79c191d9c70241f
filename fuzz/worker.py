"""A child process that runs the cases of one target, from a given number on.

Each case is announced before it runs, so that the parent knows which one ended the process.
"""

from __future__ import annotations

import itertools
import os
import resource
import sys
import time
from collections.abc import Callable

MEMORY = 4 << 30  # bytes


def main(target: str, start: int, count: int, seconds: float) -> None:
    """Run the cases from `start` to `count` until there are none left or the time is over."""
    from fuzz.targets import cases_of

    report = _channel()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    end = time.monotonic() + seconds
    for number, (name, run) in enumerate(itertools.islice(cases_of(target), count)):
        if number < start:
            continue
        if time.monotonic() > end:
            report("pause")
            return
        report(f"case {number} {name}")
        wrong = run()
        if wrong:
            report(f"wrong {number} {' '.join(wrong.split())}")
    report("end")


def _channel() -> Callable[[str], None]:
    """Keep the standard output for messages to the parent; whatever the cases print goes nowhere."""
    stream = os.fdopen(os.dup(1), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return lambda line: print(line, file=stream, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
