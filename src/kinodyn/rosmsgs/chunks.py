"""Check the sizes in a bag before it is read: its storage decompresses whole chunks, whatever they expand to."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from kinodyn.errors import InputError

MAX_RECORD = 300_000_000  # bytes of one record of an MCAP file, compressed or not
MAX_METADATA = 10_000_000  # bytes of metadata.yaml
_MAGIC = b"\x89MCAP0\r\n"
_CHUNK = 6
_PIECE = 1 << 20


def check_bag(path: Path) -> None:
    """Raise an InputError if a record of the bag is larger than the limits, decompressed."""
    if path.is_dir():
        if (path / "metadata.yaml").stat().st_size > MAX_METADATA:
            raise InputError(f"{path / 'metadata.yaml'} must have at most {MAX_METADATA} bytes")
        if any(path.glob("*.zstd")):
            raise InputError(f"{path} must not be compressed as a whole; decompress it with ros2 bag convert")
    for file in path.glob("*.mcap") if path.is_dir() else [path] if path.suffix == ".mcap" else []:
        with open(file, "rb") as stream:
            _check_mcap(stream, file)


def _check_mcap(stream: BinaryIO, file: Path) -> None:
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise InputError(f"{file} is not an MCAP file")
    for kind, size in _records(stream, file):
        start = stream.tell()
        if kind == _CHUNK:
            _check_chunk(stream, size, file)
        stream.seek(start + size)


def _records(stream: BinaryIO, file: Path) -> Iterator[tuple[int, int]]:
    """Yield the kind and the size of each record, with the stream at its content."""
    while True:
        head = stream.read(9)
        if len(head) < 9 or head == _MAGIC[: len(head)]:
            return
        kind, size = struct.unpack("<BQ", head)
        if size > MAX_RECORD:
            raise InputError(f"{file}: records must have at most {MAX_RECORD} bytes, got {size}")
        yield kind, size


def _check_chunk(stream: BinaryIO, size: int, file: Path) -> None:
    content = stream.read(size)
    if len(content) < 32:
        raise InputError(f"{file}: a chunk is cut off")
    declared, name_size = struct.unpack_from("<16xQ4xI", content)
    if declared > MAX_RECORD:
        raise InputError(f"{file}: chunks must expand to at most {MAX_RECORD} bytes, got {declared}")
    compression = content[32 : 32 + name_size]
    expanded = _expanded(compression, content[32 + name_size + 8 :], declared)
    if expanded > declared:
        raise InputError(f"{file}: a chunk must expand to {declared} bytes as declared, got more")


def _expanded(compression: bytes, data: bytes, declared: int) -> int:
    """Return how many bytes data expands to, at most one more than declared."""
    decompressor = _decompressor(compression)
    if decompressor is None:
        return len(data)
    count = 0
    piece = data
    while count <= declared and not decompressor.eof:
        out = decompressor.decompress(piece, min(_PIECE, declared + 1 - count))
        if not out and decompressor.needs_input:
            break
        count, piece = count + len(out), b""
    return count


def _decompressor(compression: bytes) -> Any:
    """Return a decompressor that yields pieces, None for data that is not compressed."""
    if compression == b"zstd":
        try:
            return import_module("compression.zstd").ZstdDecompressor()
        except ImportError:  # before Python 3.14
            return import_module("backports.zstd").ZstdDecompressor()
    return import_module("lz4.frame").LZ4FrameDecompressor() if compression == b"lz4" else None
