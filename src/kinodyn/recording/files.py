"""Recordings in files: read from NPZ and Parquet, written to these and to CSV."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from kinodyn import tables
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.recording.recording import Recording

KIND = "kinodyn recording"
VERSION = 2
COMMON = ("time", "q", "v", "tau")  # arrays that every recording has
SAMPLED = {"contacts": "contact", "forces": "wrench", "signals": "signal"}  # attribute -> prefix of names in files
CONSTANT = {"limits": "limit", "terrain": "terrain"}


def save(recording: Recording, path: str | os.PathLike[str]) -> None:
    """Write a recording; see `Recording.save`."""
    labels = {"q": recording.q_names, "v": recording.v_names, "tau": recording.v_names}
    labels |= {f"wrench.{frame}": tables.WRENCH for frame in recording.forces}
    names = ("robot", "q_names", "v_names", "status", "reason")
    tables.write(
        path,
        {**{name: getattr(recording, name) for name in COMMON}, **_prefixed(recording, SAMPLED)},
        labels=labels,
        about={"kind": KIND, "version": VERSION, **{name: getattr(recording, name) for name in names}},
        constants=_prefixed(recording, CONSTANT),
    )


def load(path: str | os.PathLike[str]) -> Recording:
    """Read a recording; see `Recording.load`."""
    file = Path(path)
    columns, about = tables.read(file, suffixes=(".npz", ".parquet"))
    try:
        return _assemble(about, columns)
    except (InputError, KeyError, TypeError, AttributeError, ValueError) as cause:
        raise InputError(f"{file} is not a recording: {cause}") from cause


def _prefixed(recording: Recording, groups: dict[str, str]) -> dict[str, Array]:
    return {
        f"{prefix}.{name}": array
        for group, prefix in groups.items()
        for name, array in getattr(recording, group).items()
    }


def _assemble(about: Any, arrays: tables.Columns) -> Recording:
    if not isinstance(about, dict) or about.get("kind") != KIND:
        raise InputError("it does not say that it is one")
    if about.get("version") != VERSION:
        raise InputError(f"it has version {about.get('version')!r}; this kinodyn reads version {VERSION}")
    texts = (about["robot"], about["reason"], *about["q_names"], *about["v_names"])
    if not all(isinstance(text, str) for text in texts):
        raise InputError("its names must be strings")
    groups: dict[str, Any] = {attribute: {} for attribute in (*SAMPLED, *CONSTANT)}
    attributes = {prefix: attribute for attribute, prefix in (SAMPLED | CONSTANT).items()}
    for key, array in arrays.items():
        prefix, _, name = key.partition(".")
        if key not in COMMON:
            groups[attributes[prefix]][name] = array
    described: dict[str, Any] = {name: about[name] for name in ("robot", "status", "reason")}
    described |= {name: tuple(about[name]) for name in ("q_names", "v_names")}
    common: dict[str, Any] = {name: arrays[name] for name in COMMON}
    return Recording(**described, **common, **groups)
