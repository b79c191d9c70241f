"""Recordings in files: NPZ and Parquet there and back, CSV out. Nothing that is read is unpickled or run."""

from __future__ import annotations

import csv
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError, KinodynError
from kinodyn.identification.columns import WRENCH
from kinodyn.recording.recording import Recording

KIND = "kinodyn recording"
VERSION = 1
LARGEST = 1 << 34  # bytes that a file may unpack to
PLAIN = ("time", "q", "v", "tau")
GROUPS = {"contacts": "contact", "forces": "wrench", "signals": "signal", "limits": "limit", "terrain": "terrain"}
ROWLESS = ("limit.", "terrain.")  # what has no row for each time


def save(recording: Recording, path: str | os.PathLike[str]) -> None:
    """Write a recording; see `Recording.save`."""
    file = Path(path)
    writers: dict[str, Callable[[Recording, BinaryIO], None]] = {
        ".npz": _write_npz,
        ".parquet": _write_parquet,
        ".csv": _write_csv,
    }
    if file.suffix.lower() not in writers:
        raise InputError(f"{file} ends in {file.suffix!r}; recordings end in {', '.join(writers)}")
    _write_whole(file, lambda stream: writers[file.suffix.lower()](recording, stream))


def load(path: str | os.PathLike[str]) -> Recording:
    """Read a recording; see `Recording.load`."""
    file = Path(path)
    readers = {".npz": _read_npz, ".parquet": _read_parquet}
    if file.suffix.lower() not in readers:
        raise InputError(f"{file} ends in {file.suffix!r}; recordings are read from {' and '.join(readers)}")
    if not file.is_file():
        raise InputError(f"{file} does not exist or is no file")
    about, arrays = readers[file.suffix.lower()](file)
    try:
        return _assemble(about, arrays)
    except (InputError, KeyError, TypeError, AttributeError, ValueError) as cause:
        raise InputError(f"{file} is no recording: {cause}") from cause


def _write_whole(file: Path, write: Callable[[BinaryIO], None]) -> None:
    """Write beside the file and move it there at the end, so that nobody ever sees a half."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    except OSError as cause:
        raise InputError(f"{file} cannot be written: {cause}") from cause
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # as any new file; mkstemp's own are closed to others
        os.replace(name, file)
    except BaseException as cause:
        Path(name).unlink(missing_ok=True)
        if isinstance(cause, OSError):
            raise InputError(f"{file} cannot be written: {cause}") from cause
        raise


def _about(recording: Recording) -> dict[str, Any]:
    names = ("robot", "q_names", "v_names", "status", "reason")
    return {"kind": KIND, "version": VERSION, **{name: getattr(recording, name) for name in names}}


def _keyed(recording: Recording) -> Iterator[tuple[str, Array]]:
    """Name all arrays as they are called in files."""
    for name in PLAIN:
        yield name, getattr(recording, name)
    for group, key in GROUPS.items():
        for name, array in getattr(recording, group).items():
            yield f"{key}.{name}", array


def _assemble(about: Any, arrays: dict[str, Array]) -> Recording:
    if not isinstance(about, dict) or about.get("kind") != KIND:
        raise InputError("it does not say that it is one")
    if about.get("version") != VERSION:
        raise InputError(f"it is of version {about.get('version')!r}; this kinodyn reads version {VERSION}")
    groups: dict[str, dict[str, Array]] = {key: {} for key in GROUPS.values()}
    for key, array in arrays.items():
        group, _, name = key.partition(".")
        if key not in PLAIN:
            groups[group][name] = array
    texts = [about[name] for name in ("robot", "reason", *("q_names", "v_names"))]
    if not all(isinstance(text, str) for text in (*texts[:2], *texts[2], *texts[3])):
        raise InputError("its names are no texts")
    return Recording(
        texts[0],
        arrays["time"],
        arrays["q"],
        arrays["v"],
        arrays["tau"],
        contacts=groups["contact"],
        forces=groups["wrench"],
        signals=groups["signal"],
        q_names=tuple(texts[2]),
        v_names=tuple(texts[3]),
        limits=groups["limit"],
        terrain=groups["terrain"],
        status=about["status"],
        reason=texts[1],
    )


def _write_npz(recording: Recording, stream: BinaryIO) -> None:
    text = np.frombuffer(json.dumps(_about(recording)).encode(), dtype=np.uint8)
    np.savez_compressed(stream, about=text, **dict(_keyed(recording)))  # type: ignore[arg-type]


def _read_npz(file: Path) -> tuple[Any, dict[str, Array]]:
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > LARGEST:
            raise InputError(f"{file} would unpack to {size} bytes; at most {LARGEST} are read")
        with np.load(file, allow_pickle=False) as stream:
            arrays = {name: stream[name] for name in stream.files}
        return json.loads(bytes(arrays.pop("about", np.zeros(0, np.uint8)).astype(np.uint8))), arrays
    except InputError:
        raise
    except (
        *(OSError, ValueError, KeyError, AttributeError, TypeError, EOFError, MemoryError, NotImplementedError),
        *(zipfile.BadZipFile, zlib.error, RecursionError, SyntaxError),
    ) as cause:
        raise InputError(f"{file} cannot be read as NPZ without pickle: {cause}") from cause


def _columns(recording: Recording) -> Iterator[tuple[str, str, tuple[int, ...], Array]]:
    """Split all arrays with rows into columns: name of the column, of the array, its shape, numbers."""
    last_names = {"q": recording.q_names, "v": recording.v_names, "tau": recording.v_names}
    for key, array in _keyed(recording):
        if key.startswith(ROWLESS):
            continue
        shape = array.shape[1:]
        last = WRENCH if key.startswith("wrench.") else last_names.get(key, ())
        for number, index in enumerate(np.ndindex(shape)):
            named = [last[index[-1]]] if last else []
            numbered = index[: len(index) - len(named)]
            label = ".".join([key, *(str(i) for i in numbered), *named])
            yield label, key, shape, array.reshape(len(array), -1)[:, number]


def _write_csv(recording: Recording, stream: BinaryIO) -> None:
    parts = list(_columns(recording))
    text = Text(stream)
    writer = csv.writer(text)
    writer.writerow(label for label, *_ in parts)
    writer.writerows(
        [repr(float(value)) for value in row] for row in zip(*(column for *_, column in parts), strict=True)
    )


class Text:
    """Lets the csv module write to a stream of bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text as UTF-8."""
        return self._stream.write(text.encode())


def _write_parquet(recording: Recording, stream: BinaryIO) -> None:
    arrow, parquet = _pyarrow()
    layout: dict[str, Any] = {}
    table = {}
    for label, key, shape, column in _columns(recording):
        if label in table:
            raise InputError(f"two columns would be called {label!r}; give the signal another name")
        table[label] = np.ascontiguousarray(column)
        layout.setdefault(key, {"shape": list(shape), "columns": []})["columns"].append(label)
    # a signal without columns, such as one of shape (n, 0), is known by its shape alone
    for key, array in _keyed(recording):
        if not key.startswith(ROWLESS):
            layout.setdefault(key, {"shape": list(array.shape[1:]), "columns": []})
    limits = {name: [repr(float(x)) for x in array] for name, array in recording.limits.items()}
    terrain = {name: array.tolist() for name, array in recording.terrain.items()}
    text = json.dumps({**_about(recording), "layout": layout, "limits": limits, "terrain": terrain})
    parquet.write_table(arrow.table(table).replace_schema_metadata({b"kinodyn": text.encode()}), stream)


def _read_parquet(file: Path) -> tuple[Any, dict[str, Array]]:
    arrow, parquet = _pyarrow()
    try:
        opened = parquet.ParquetFile(file)
        size = sum(opened.metadata.row_group(i).total_byte_size for i in range(opened.metadata.num_row_groups))
        if size > LARGEST:
            raise InputError(f"{file} would unpack to {size} bytes; at most {LARGEST} are read")
        table = opened.read()
        about = json.loads((table.schema.metadata or {}).get(b"kinodyn", b"null"))
        rows = table.num_rows
        if not isinstance(about, dict):
            return about, {}
        arrays = {}
        for key, part in about["layout"].items():
            columns = [table[label].to_numpy() for label in part["columns"]]
            stacked = np.stack(columns, axis=1) if columns else np.zeros((rows, 0))
            arrays[key] = stacked.reshape(rows, *(int(n) for n in part["shape"]))
        limits = {f"limit.{name}": np.array([float(x) for x in row]) for name, row in about["limits"].items()}
        terrain = {f"terrain.{name}": np.array(rows) for name, rows in about.get("terrain", {}).items()}
        return about, {**arrays, **limits, **terrain}
    except InputError:
        raise
    except (
        *(arrow.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError, MemoryError),
        RecursionError,
    ) as cause:
        raise InputError(f"{file} cannot be read as a Parquet recording: {cause}") from cause


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as cause:
        raise KinodynError("Parquet needs the package pyarrow; install it with: pip install 'kinodyn[data]'") from cause
    return pyarrow, parquet
