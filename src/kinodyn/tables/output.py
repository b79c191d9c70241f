"""Atomic output: a file is replaced only after the new content has been written completely."""

from __future__ import annotations

import errno
import os
import re
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from kinodyn.checks import as_path
from kinodyn.errors import InputError

FULL = (errno.ENOSPC, errno.EDQUOT)
_NAME = 100  # characters of the name of a file that the name of its unfinished version repeats


def write_file(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """Write a temporary file next to the final one and rename it at the end: no reader sees an incomplete file.

    If writing fails, the old file stays. What a killed process has left behind is removed by the next one that writes
    the same file.

    Parameters
    ----------
    path
        A link is followed; a device or a pipe is written to directly.
    write
        Writes the content to the stream that it is given.
    """
    target = Path(os.path.realpath(as_path("path", path)))
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            with open(target, "wb") as stream:
                write(stream)
            return
        sweep(target)
        _write_beside(target, write)
    except OSError as cause:
        reason = "the disk is full" if cause.errno in FULL else cause.strerror or cause
        raise InputError(f"{os.fspath(path)} cannot be written: {reason}") from cause


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8, as `write_file` does."""
    content = text.encode("utf-8", errors="xmlcharrefreplace")
    write_file(path, lambda stream: stream.write(content))


def _write_beside(target: Path, write: Callable[[BinaryIO], object]) -> None:
    part = target.with_name(f"{_prefix(target)}{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
        _sync_folder(target.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def sweep(target: Path) -> None:
    """Remove unfinished versions of a file that processes of this machine have left which no longer run.

    Parameters
    ----------
    target
    """
    unfinished = re.compile(re.escape(_prefix(target)) + r"(\d+)-[0-9a-f]{8}\.part")
    with os.scandir(target.parent) as entries:
        found = [(entry.path, match) for entry in entries if (match := unfinished.fullmatch(entry.name))]
    for path, match in found:
        if not _runs(int(match[1])):
            Path(path).unlink(missing_ok=True)


def _prefix(target: Path) -> str:
    """Return how the names of unfinished versions of a file begin; other machines may share the folder."""
    host = re.sub(r"[^A-Za-z0-9]", "", socket.gethostname())[:30]
    return f".{target.name[:_NAME]}.{host}-"


def _runs(pid: int) -> bool:
    """Return whether a process exists."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # of another user
        return True
    return True


def _sync_folder(folder: Path) -> None:
    """Let the new name of a file survive a loss of power, where the file system can do that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_writable(path: Path | None, suffixes: Sequence[str]) -> None:
    """Raise if a file cannot be written, before the computation whose result it will hold; None is ignored."""
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise InputError(f"{path} ends in {path.suffix!r}; allowed are {', '.join(suffixes)}")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InputError(f"{path} cannot be written: the folder {folder} does not exist")
    if path.is_dir():
        raise InputError(f"{path} cannot be written: it is a folder")
    if not os.access(path if path.exists() else folder, os.W_OK) or not os.access(folder, os.W_OK):
        raise InputError(f"{path} cannot be written: you may not write in {folder}; choose another folder")
