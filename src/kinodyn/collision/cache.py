"""Tables of numbers cached on disk, keyed by a hash of the content that they were computed from.

A file that is corrupt, too large or of another format is ignored and replaced; a read-only folder is not an error.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.tables.output import write_file

MAGIC = b"kinodyn table 1\n"
MAX_BYTES = 50_000_000


def cache_folder() -> Path:
    """Return the folder of cached results: $KINODYN_CACHE, or "kinodyn" in $XDG_CACHE_HOME or ~/.cache."""
    chosen = os.environ.get("KINODYN_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    parent = os.environ.get("XDG_CACHE_HOME")
    return (Path(parent) if parent else Path.home() / ".cache") / "kinodyn"


def content_key(*parts: bytes | str | float | Array) -> str:
    """Return a key that changes whenever one of the parts does."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else _bytes(part)
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def load_table(key: str, columns: int) -> Array | None:
    """Return the table (n, columns) that was saved under a key, None if there is none that is intact."""
    try:
        with open(_path(key), "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return None
    start = len(MAGIC) + 32
    if len(data) > MAX_BYTES or not data.startswith(MAGIC) or _digest(data[start:]) != data[len(MAGIC) : start]:
        return None
    if (len(data) - start) % (8 * columns):
        return None
    table = np.frombuffer(data, dtype="<f8", offset=start).reshape(-1, columns)
    return table.astype(float) if np.isfinite(table).all() else None


def cached_table(
    key: str, shape: tuple[int, int], is_valid: Callable[[Array], np.bool_], compute: Callable[[], Array]
) -> Array:
    """Return the table of a shape that was saved under a key, or compute and save it.

    `is_valid` returns whether the numbers of a table that was read are plausible.
    """
    table = load_table(key, shape[1])
    if table is None or table.shape != shape or not is_valid(table):
        table = compute()
        save_table(key, table)
    return table


def save_table(key: str, table: Array) -> None:
    """Save a table atomically."""
    content = np.ascontiguousarray(table, dtype="<f8").tobytes()
    path = _path(key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, lambda stream: stream.write(MAGIC + _digest(content) + content))
    except (OSError, InputError):
        return


def _path(key: str) -> Path:
    return cache_folder() / "collision" / f"{key}.bin"


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _bytes(part: str | float | Array) -> bytes:
    if isinstance(part, str):
        return part.encode()
    array = np.ascontiguousarray(part)
    return f"{array.dtype.str} {array.shape} ".encode() + array.tobytes()
