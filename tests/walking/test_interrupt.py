"""Ctrl-C during a push map: incomplete simulations have no result, and no process is left."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from multiprocessing import active_children
from typing import Any

import pytest

import kinodyn as kd
from kinodyn.walking import push_maps
from kinodyn.walking.controller import WalkingController


def test_an_interrupted_simulation_does_not_count_as_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(controller: Any, observation: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(WalkingController, "act", interrupted)
    with pytest.raises(KeyboardInterrupt):
        push_maps.survives_push(kd.load("humanoid"), 0.0, 1.0)


@pytest.mark.skipif(sys.platform == "win32", reason="processes end without a signal there")
def test_an_interrupted_map_ends_its_simulations_at_once() -> None:
    before, seen = signal.getsignal(signal.SIGINT), list[Any]()

    def press() -> None:
        while len(seen) < 2:
            time.sleep(0.05)
            seen[:] = active_children()
        time.sleep(0.2)  # until interrupts are heard again
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        kd.walking.push_map(kd.load("humanoid"), 8, resolution=0.01, processes=2)
    presser.join()
    assert [child.exitcode for child in seen] == [-signal.SIGTERM] * 2 and active_children() == []
    assert signal.getsignal(signal.SIGINT) is before
