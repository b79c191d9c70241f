"""Workspaces as NPZ files of plain arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinodyn import tables
from kinodyn.errors import InputError

FORMAT = "kinodyn workspace 1"
_KINDS = {"format": "U", "robot": "U", "frame": "U", "samples": "iu", "counts": "iu"}
_SCALARS: dict[str, Any] = {"robot": str, "frame": str, "samples": int, "resolution": float, "max_reach": float}


def write(path: str | os.PathLike[str], fields: Mapping[str, Any]) -> None:
    """Write the fields of a workspace at exactly this path."""
    tables.write_file(path, lambda stream: np.savez_compressed(stream, format=FORMAT, **fields))


def read(path: str | os.PathLike[str], names: Sequence[str]) -> dict[str, Any]:
    """Read the named fields without pickle, and check that they are consistent."""
    content = tables.read_npz(path, "a saved workspace", ("format", *names))
    _check(os.fspath(path), content)
    return {name: _SCALARS.get(name, np.asarray)(content[name]) for name in names}


def _check(path: str, content: Mapping[str, Any]) -> None:
    _check_arrays(path, content)
    if content["format"] != FORMAT:
        raise InputError(f"{path} has the format {str(content['format'])!r}; only {FORMAT!r} can be read")
    counts, samples = content["counts"], int(content["samples"])
    if counts.ndim != 3 or (counts < 0).any() or counts.sum() != samples or samples < 1:
        raise InputError(f"{path}: counts must be three-dimensional, not negative, and add up to samples")
    if not content["resolution"] > 0.0:
        raise InputError(f"{path}: resolution must be positive")


def _check_arrays(path: str, content: Mapping[str, Any]) -> None:
    shape = content["counts"].shape
    shapes = {"origin": (3,), "centre": (3,), "counts": shape, "q_max_reach": content["q_max_reach"].shape[:1]}
    shapes["dexterity"] = shape if content["dexterity"].size else (0, 0, 0)
    for name, array in content.items():
        if array.dtype.kind not in _KINDS.get(name, "f") or array.shape != shapes.get(name, ()):
            raise InputError(f"{path}: {name} is an array {array.shape} of {array.dtype}, not that of a workspace")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InputError(f"{path}: {name} is not finite")
