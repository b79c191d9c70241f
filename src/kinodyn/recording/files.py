"""The fields of recordings in files: read from NPZ and Parquet, written to these and to CSV."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from kinodyn import tables
from kinodyn.arrays import Array
from kinodyn.checks import as_path
from kinodyn.errors import InputError
from kinodyn.recording.body import RecordedBody

T = TypeVar("T")

KIND = "kinodyn recording"
VERSION = 2
REQUIRED = ("time", "q", "v", "tau")  # arrays that every recording has
SAMPLED = {"contacts": "contact", "forces": "wrench", "signals": "signal"}  # attribute -> prefix of names in files
CONSTANT = {"limits": "limit", "terrain": "terrain"}


def is_bag(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of a ROS 2 bag: an .mcap or .db3 file, or a folder, which has no suffix."""
    file = as_path("path", path)
    return file.suffix in (".mcap", ".db3", "") or file.is_dir()


def save(fields: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the fields of a recording; see `Recording.save`."""
    labels = {"q": fields["q_names"], "v": fields["v_names"], "tau": fields["v_names"]}
    labels |= {f"wrench.{frame}": tables.WRENCH for frame in fields["forces"]}
    names = ("robot", "q_names", "v_names", "status", "reason")
    tables.write(
        path,
        {**{name: fields[name] for name in REQUIRED}, **_prefixed(fields, SAMPLED)},
        labels=labels,
        metadata={"kind": KIND, "version": VERSION, **{name: fields[name] for name in names}, **_body(fields["body"])},
        constants=_prefixed(fields, CONSTANT),
    )


def _body(body: RecordedBody | None) -> dict[str, Any]:
    return {} if body is None else {"body": body.to_json()}


def load(path: str | os.PathLike[str], build: Callable[..., T], max_bytes: int | None) -> T:
    """Read the fields of a recording and pass them to `build`; see `Recording.load`."""
    file = Path(path)
    columns, metadata = tables.read(file, suffixes=(".npz", ".parquet"), max_bytes=max_bytes)
    try:
        return build(**_fields(metadata, columns))
    except (InputError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as cause:
        raise InputError(f"{file} is not a recording: {cause}") from cause


def _prefixed(fields: Mapping[str, Any], groups: dict[str, str]) -> dict[str, Array]:
    return {f"{prefix}.{name}": array for group, prefix in groups.items() for name, array in fields[group].items()}


def _fields(metadata: Any, arrays: tables.Columns) -> dict[str, Any]:
    if not isinstance(metadata, dict) or metadata.get("kind") != KIND:
        raise InputError("it has no header of a recording")
    if metadata.get("version") != VERSION:
        raise InputError(f"it has version {metadata.get('version')!r}; this kinodyn reads version {VERSION}")
    texts = (metadata["robot"], metadata["reason"], *metadata["q_names"], *metadata["v_names"])
    if not all(isinstance(text, str) for text in texts):
        raise InputError("its names must be strings")
    groups: dict[str, Any] = {attribute: {} for attribute in (*SAMPLED, *CONSTANT)}
    attributes = {prefix: attribute for attribute, prefix in (SAMPLED | CONSTANT).items()}
    for key, array in arrays.items():
        prefix, _, name = key.partition(".")
        if key not in REQUIRED:
            groups[attributes[prefix]][name] = array
    described: dict[str, Any] = {name: metadata[name] for name in ("robot", "status", "reason")}
    described |= {name: tuple(metadata[name]) for name in ("q_names", "v_names")}
    if "body" in metadata:
        described["body"] = RecordedBody.from_json(metadata["robot"], metadata["body"])
    common: dict[str, Any] = {name: arrays[name] for name in REQUIRED}
    return {**described, **common, **groups}
