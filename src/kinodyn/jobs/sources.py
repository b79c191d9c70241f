"""Sources: inputs of a job that can be divided into parts, one for each shard."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HASHED_AT_ONCE = 1 << 24  # bytes


class Part(ABC):
    """The input of one shard: small to send, read where it is processed."""

    @abstractmethod
    def read(self) -> Any:
        """Return what the function receives."""


class Source(ABC):
    """Inputs of a job.

    Attributes
    ----------
    count : int
        Number of inputs.
    seed : int or None
        Of inputs that are drawn at random.
    """

    count: int
    seed: int | None = None

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a hash of the content."""

    @abstractmethod
    def part(self, index: int, start: int, stop: int) -> Part:
        """Return the rows from `start` to `stop`, which are shard `index`."""


def content_hash(files: Sequence[Path], folder: Path | None = None) -> str:
    """Return a hash of the names, relative to a folder if there is one, and of the contents of files."""
    digest = hashlib.blake2b(digest_size=16)
    for file in files:
        name = file.name if folder is None else file.relative_to(folder).as_posix()
        digest.update(f"{name}:{file.stat().st_size}:".encode())
        with file.open("rb") as stream:
            while block := stream.read(HASHED_AT_ONCE):
                digest.update(block)
    return f"files:{digest.hexdigest()}"
