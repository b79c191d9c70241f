"""Arrays in NPZ files, whose sizes are checked before anything is unpacked."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np

from kinodyn.errors import InputError
from kinodyn.tables.columns import Columns, Table, check_size

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_npz_table(file: Path, most: int | None) -> Table:
    """Read all arrays of an NPZ file, and the metadata that `write` has added."""
    columns = read_arrays(file, most, None)
    described = columns.pop("about", None)
    return Table(columns, None if described is None else json.loads(bytes(described.astype(np.uint8))))


def read_arrays(file: Path, most: int | None, names: Sequence[str] | None) -> Columns:
    """Read the arrays of these names, or all; `most` bounds the bytes that all arrays of the file unpack to."""
    with zipfile.ZipFile(file) as archive:
        check_size(file, sum(member.file_size for member in archive.infolist()), most)
        for member in archive.infolist():
            _check_member(archive, member)
    with np.load(file, allow_pickle=False) as stream:
        return {name: stream[name] for name in (stream.files if names is None else names)}


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Raise unless a member has the bytes that its header declares: NumPy allocates these before it reads."""
    name = member.filename.removesuffix(".npy")
    with archive.open(member) as stream:
        if stream.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
            raise InputError(f"{archive.filename}: {name!r:.60} must be an array")
        declared = _declared_bytes(stream)
        stored = member.file_size - stream.tell()
    if declared is not None and declared != stored:
        raise InputError(f"{archive.filename}: {name!r:.60} declares {declared} bytes; the file has {stored}")


def _declared_bytes(stream: IO[bytes]) -> int | None:
    """Return the size of an array of numbers from its header, None for Python objects, which are refused later."""
    version = tuple(stream.read(2))
    if version not in HEADERS:
        raise InputError(f"version {version} of the array format is not read; use numpy.savez on plain arrays")
    shape, _, dtype = HEADERS[version](stream)
    return None if dtype.hasobject else dtype.itemsize * math.prod(shape)
