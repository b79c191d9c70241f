"""moveit_msgs/AllowedCollisionMatrix as pairs of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, product

from kinodyn.interop.moveit.fields import Fields

Pair = tuple[str, str]


def read_allowed_pairs(fields: Fields, names: Iterable[str]) -> set[Pair]:
    """Read the pairs that may touch; in each pair the names are in alphabetical order.

    Parameters
    ----------
    fields
        The matrix.
    names
        Links and objects that default entries apply to.

    Notes
    -----
    An entry of the matrix precedes the defaults of its two names. Where both have a default, both must allow the
    collision.
    """
    known, allowed = _read_matrix(fields)
    defaults = _read_defaults(fields)
    matrix = set(known)
    for name, other in product(defaults, {*names, *known, *defaults}):
        entered = name in matrix and other in matrix
        if name != other and not entered and defaults[name] and defaults.get(other, True):
            allowed.add(ordered(name, other))
    return allowed


def ordered(a: str, b: str) -> Pair:
    """Return two names in alphabetical order."""
    return (a, b) if a < b else (b, a)


def _read_matrix(fields: Fields) -> tuple[list[str], set[Pair]]:
    names, values = fields.texts("entry_names"), fields.raw("entry_values") or []
    rows = [row.get("enabled", ()) if isinstance(row, Mapping) else row for row in values]
    if len(set(names)) != len(names):
        raise fields.error("entry_names", names, "names that differ")
    if len(rows) != len(names) or any(not isinstance(row, (list, tuple)) or len(row) != len(names) for row in rows):
        raise fields.fault("entry_values", f"give {len(names)} rows of {len(names)} flags, one for each name")
    flags = [[fields.as_flag("entry_values", value) for value in row] for row in rows]
    allowed = set()
    for i, j in combinations(range(len(names)), 2):
        if flags[i][j] != flags[j][i]:
            raise fields.fault("entry_values", f"{names[i]} and {names[j]} have two values; give a symmetric matrix")
        if flags[i][j]:
            allowed.add(ordered(names[i], names[j]))
    return names, allowed


def _read_defaults(fields: Fields) -> dict[str, bool]:
    names, values = fields.texts("default_entry_names"), fields.raw("default_entry_values") or []
    if not isinstance(values, (list, tuple)) or len(values) != len(names):
        raise fields.error("default_entry_values", values, f"{len(names)} flags, one for each default_entry_name")
    flags = [fields.as_flag("default_entry_values", value) for value in values]
    return dict(zip(names, flags, strict=True))
