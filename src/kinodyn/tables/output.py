"""Files are replaced only once all has been written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from kinodyn.errors import InputError


def write_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside its final place and move it there at the end: no reader sees an incomplete file."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    except OSError as cause:
        raise InputError(f"{path} cannot be written: {cause}") from cause
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # as any new file; those of mkstemp are closed to others
        os.replace(name, path)
    except BaseException as cause:
        Path(name).unlink(missing_ok=True)
        if isinstance(cause, OSError):
            raise InputError(f"{path} cannot be written: {cause}") from cause
        raise


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
