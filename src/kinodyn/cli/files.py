"""Rows of numbers in files, by suffix: tables (CSV, NPZ, Parquet) and JSON documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from kinodyn import tables
from kinodyn.errors import InputError
from kinodyn.tables import Columns

WRITTEN = (".json", *tables.SUFFIXES)


def read_columns(path: Path) -> Columns:
    """Read a file of rows: arrays by name, (n,) each, or (n, k) under the name "" where the file has no names.

    JSON is a list of rows, each a list of numbers or an object; or an object of name -> list.
    """
    if path.suffix.lower() != ".json":
        return tables.read(path, suffixes=WRITTEN).columns
    if not path.is_file():
        raise InputError(f"{path} does not exist or is not a file")
    try:
        return _read_json(path)
    except (ValueError, OSError, KeyError, TypeError, RecursionError) as cause:
        raise InputError(f"{path} cannot be read: {cause}") from cause


def _read_json(path: Path) -> Columns:
    content = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(content, list) and content and isinstance(content[0], dict):
        return {name: np.array([row[name] for row in content]) for name in content[0]}
    if isinstance(content, list):
        return {"": _rows(content)}
    if isinstance(content, dict) and {"command", "inputs", "result"} <= set(content):
        content = {**content["inputs"], **content["result"]}  # what a command wrote with --out or --json
        poses = content.get("frames")  # of fk, by name; of others names alone
        content |= {f"{name}.T": pose["T"] for name, pose in poses.items()} if isinstance(poses, dict) else {}
    return {name: np.array(value) for name, value in content.items() if isinstance(value, list)}


def _rows(content: list[Any]) -> Any:
    """Return a list of rows, or one row, as an array."""
    rows = content if content and isinstance(content[0], list) else [content]
    if not all(isinstance(row, list) for row in rows):
        raise ValueError("its rows must be lists of numbers, or objects")
    for k, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(f"row {k} has {len(row)} entries and row 0 has {len(rows[0])}")
    return np.array(rows, dtype=float).reshape(np.shape(content))
