"""The manifest of a job: what is to be computed, and its progress."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kinodyn import tables
from kinodyn.display import displayed
from kinodyn.errors import InputError

FILE = "manifest.json"
LOCK = ".lock"
FORMAT = 2


@displayed
@dataclass(frozen=True)
class JobDescription:
    """What identifies a job: if any of this differs, its shards cannot be used.

    Attributes
    ----------
    function : str
        Qualified name of the function.
    inputs : str
        Hash of the inputs.
    count, shard : int
        Number of inputs, and of inputs per shard.
    parameters : dict
        JSON values that the caller says results depend on.
    arguments : dict
        Arguments that a `functools.partial` binds, as JSON values; arrays and robots by a hash.
    seed : int or None
        Of random inputs.
    version : str
        Version of kinodyn.
    format : int
        Version of the manifest.
    """

    function: str
    inputs: str
    count: int
    shard: int
    parameters: dict[str, Any] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None
    version: str = ""
    format: int = FORMAT

    @property
    def shards(self) -> int:
        """Number of shards."""
        return -(-self.count // self.shard)

    @property
    def key(self) -> str:
        """Hash of the description, stored in every shard."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def bounds(self, index: int) -> tuple[int, int]:
        """Find the inputs of a shard.

        Parameters
        ----------
        index
            Number of the shard.

        Returns
        -------
        tuple of int
            Its first input, and the one after its last.
        """
        return index * self.shard, min((index + 1) * self.shard, self.count)


class JobFolder:
    """The folder of a job: shards, manifest and lock."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise InputError("out must be the path of a folder, got an empty string")
        self.path = Path(path)
        self._lock: Any = None

    def shard_file(self, index: int) -> Path:
        """Return the path of a shard."""
        return self.path / f"shard-{index:08d}.parquet"

    def lock(self) -> None:
        """Create the folder and keep others from running a job in it; the lock ends with the process."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = (self.path / LOCK).open("w")
        except OSError as cause:
            raise InputError(f"out: {self.path} cannot be written: {cause}") from cause
        try:
            import fcntl
        except ImportError:  # Windows: two jobs in one folder are not noticed there
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as cause:
            self._lock.close()
            raise InputError(
                f"another process runs a job in {self.path}; wait for it or choose another folder"
            ) from cause

    def unlock(self) -> None:
        """Release the folder for other jobs."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read(self) -> tuple[JobDescription, dict[str, Any]] | None:
        """Read the manifest: the description and the states of the shards; None if there is none."""
        file = self.path / FILE
        if not file.is_file():
            return None
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            found, made_by = content["job"]["format"], content["job"].get("version")
            if found == FORMAT:
                return JobDescription(**content["job"]), dict(content["shards"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as cause:
            raise InputError(f"{file} is not a manifest of a job: {type(cause).__name__}: {cause}") from cause
        raise InputError(
            f"{file} must have format {FORMAT}, got {found!r} of kinodyn {made_by}; finish the job with that version, "
            "or choose another folder"
        )

    def write(self, job: JobDescription, done: Collection[int], failed: Mapping[int, Mapping[str, Any]]) -> None:
        """Replace the manifest."""
        states = {
            "total": job.shards,
            "done": as_ranges(done),
            "failed": {str(k): dict(v) for k, v in sorted(failed.items())},
        }
        text = json.dumps({"job": asdict(job), "shards": states}, indent=1, sort_keys=True)
        tables.write_file(self.path / FILE, lambda stream: stream.write(text.encode()))

    def begin(self, job: JobDescription) -> set[int]:
        """Claim the folder for a job, and return the shards that exist already.

        Raises
        ------
        InputError
            If the folder has another job; it says what differs. Nothing is changed then.
        """
        earlier = self.read()
        if earlier is not None:
            _require_same(self.path, earlier[0], job)
        elif any(self.path.glob("shard-*.parquet")):
            raise InputError(f"{self.path} has shards but no manifest; choose another folder")
        self.sweep()
        if earlier is None:
            self.write(job, (), {})
        return {index for index in range(job.shards) if self._is_done(job, index)}

    def _is_done(self, job: JobDescription, index: int) -> bool:
        file = self.shard_file(index)
        if not file.is_file():
            return False
        try:
            if shard_key(file) != (job.key, index):
                return False
            tables.read(file)  # checksums of its pages show whether it was damaged later
        except InputError:
            return False
        return True

    def sweep(self) -> None:
        """Remove incomplete files of writers that were killed."""
        for file in (*self.path.glob(".shard-*"), *self.path.glob(f".{FILE}.*")):
            with suppress(OSError):
                file.unlink()


def require_complete(path: Path) -> None:
    """Raise if a folder is the output of a job that has not finished."""
    folder = JobFolder(path)
    found = folder.read() if (path / FILE).is_file() else None
    if found is None:
        return
    missing = [index for index in range(found[0].shards) if not folder.shard_file(index).is_file()]
    if missing:
        raise InputError(
            f"inputs: {path} must be the output of a complete job, got one without {len(missing)} of "
            f"{found[0].shards} shards (the first is {missing[0]}); finish that job first"
        )


def as_ranges(numbers: Collection[int]) -> str:
    """Return numbers as ranges.

    >>> as_ranges({0, 1, 2, 7, 9, 10})
    '0-2,7,9-10'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def shard_key(file: Path) -> tuple[str, int]:
    """Return the key of the job and the number of a shard, as its file says, without reading its columns."""
    metadata = tables.read_metadata(file)
    if not isinstance(metadata, dict) or "job" not in metadata:
        raise InputError(f"{file} is not a shard of a job")
    return str(metadata["job"]), int(metadata["shard"])


def is_shard(file: Path) -> bool:
    """Return whether a Parquet file is a shard of a job."""
    try:
        shard_key(file)
    except InputError:
        return False
    return True


def _require_same(path: Path, earlier: JobDescription, job: JobDescription) -> None:
    old, new = _flat(asdict(earlier)), _flat(asdict(job))
    names = [name for name in (*old, *(new.keys() - old.keys())) if old.get(name) != new.get(name)]
    if names:
        different = "; ".join(f"{name} was {_short(old.get(name))}, now {_short(new.get(name))}" for name in names)
        raise InputError(f"{path} has another job: {different}. Choose another folder, or remove this one")


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return nested dicts as one, with names such as "parameters.robot"."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(value, f"{above}{name}.") if isinstance(value, dict) and value else {f"{above}{name}": value}
    return found


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
