"""Runs targets in child processes, and keeps what was done and found."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from kinodyn.tables import write_text

STARTUP = 60.0  # seconds that a child may take to start


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


def _run_child(target: str, state: State, seconds: float, case_seconds: float, cases: int | None) -> str:
    """Run one child until it ends, crashes or hangs; return the last line of it, or what happened."""
    start = state.following.get(target, 0)
    count = sys.maxsize if cases is None else cases
    command = [sys.executable, "-m", "fuzz.worker", target, str(start), str(count), str(seconds)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    lines: queue.Queue[str | None] = queue.Queue()
    assert child.stdout is not None
    threading.Thread(target=_forward, args=(child.stdout, lines), daemon=True).start()
    current, allowed = f"{start} (start)", STARTUP
    try:
        while True:
            line = lines.get(timeout=allowed)
            if line is None:
                return _crashed(target, state, current, child.wait())
            kind, _, rest = line.partition(" ")
            if kind == "case":
                current, allowed = rest, case_seconds
                state.following[target] = int(rest.split()[0]) + 1
                state.total += 1
            elif kind == "wrong":
                state.findings.append(f"{target} {current}: {rest.partition(' ')[2]}")
            else:
                return kind
    except queue.Empty:
        state.findings.append(f"{target} {current}: no end after {allowed:g} s")
        return "hang"
    finally:
        child.kill()
        child.wait()


def _crashed(target: str, state: State, current: str, code: int) -> str:
    name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    state.findings.append(f"{target} {current}: the process ended with {name}")
    state.following[target] = max(state.following.get(target, 0), int(current.split()[0]) + 1)
    return "crash"


def _forward(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line.rstrip("\n"))
    lines.put(None)
