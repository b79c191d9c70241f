"""Runs targets in child processes, and keeps what was done and found."""

from __future__ import annotations

import functools
import json
import multiprocessing
import signal
import sys
import time
from dataclasses import asdict, dataclass, field
from multiprocessing.context import ForkServerContext
from pathlib import Path

from fuzz import worker
from kinodyn.tables import write_text

STARTUP = 300.0  # seconds that a child may take to start; the first one waits for the samples


@dataclass
class State:
    """The next case of each target, and what was wrong so far."""

    following: dict[str, int] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    total: int = 0

    @classmethod
    def load(cls, path: Path | None) -> State:
        """Read the state of an earlier run, or start anew."""
        return cls(**json.loads(path.read_text())) if path is not None and path.exists() else cls()

    def save(self, path: Path | None) -> None:
        """Write the state, if a file is given."""
        if path is not None:
            write_text(path, json.dumps(asdict(self), indent=1))


def run_target(target: str, state: State, seconds: float, case_seconds: float, cases: int | None = None) -> bool:
    """Run a target for some time; return whether all of its cases, or the first ones if a number is given, are done."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status = _run_child(target, state, end - time.monotonic(), case_seconds, cases)
        if status in ("end", "pause"):
            return status == "end"
    return False


@functools.cache
def _context() -> ForkServerContext:
    """Return a context whose processes are forks of one that has imported kinodyn and made the samples."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["fuzz.preload"])
    return context


def _run_child(target: str, state: State, seconds: float, case_seconds: float, cases: int | None) -> str:
    """Run one child until it ends, crashes or hangs; return the last line of it, or what happened."""
    start = state.following.get(target, 0)
    count = sys.maxsize if cases is None else cases
    received, sent = _context().Pipe(duplex=False)
    child = _context().Process(target=worker.main, args=(sent, target, start, count, seconds), daemon=True)
    child.start()
    sent.close()
    current, allowed = f"{start} (start)", STARTUP
    try:
        while received.poll(allowed):
            kind, _, rest = received.recv().partition(" ")
            if kind == "case":
                current, allowed = rest, case_seconds
                state.following[target] = int(rest.split()[0]) + 1
                state.total += 1
            elif kind == "wrong":
                state.findings.append(f"{target} {current}: {rest.partition(' ')[2]}")
            else:
                return str(kind)
        state.findings.append(f"{target} {current}: no end after {allowed:g} s")
        return "hang"
    except EOFError:
        child.join()
        return _crashed(target, state, current, child.exitcode or 0)
    finally:
        child.kill()
        child.join()


def _crashed(target: str, state: State, current: str, code: int) -> str:
    name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    state.findings.append(f"{target} {current}: the process ended with {name}")
    state.following[target] = max(state.following.get(target, 0), int(current.split()[0]) + 1)
    return "end" if "(start)" in current else "crash"  # a child that cannot start will not start again
