"""How a worker process starts. Workers share the cores, and end with the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from multiprocessing.connection import wait

from kinodyn.errors import DescriptionWarning
from kinodyn.threads import set_threads


def start_worker() -> None:
    """Prepare a worker process: one thread, no reaction to Ctrl-C, no life after its parent."""
    set_threads(1)
    warnings.simplefilter("ignore", DescriptionWarning)  # each worker would repeat those about the robot of a job
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent decides
    threading.Thread(target=_end_with_parent, name="kinodyn-parent", daemon=True).start()


def _end_with_parent() -> None:
    """Wait for the end of the parent: if it is killed, nobody else ends its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
