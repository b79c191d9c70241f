"""Random messages of any type, as dictionaries of plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinodyn.rosmsgs.rosbags_library import FieldType, field_types

PACKAGES = (
    "builtin_interfaces",
    "control_msgs",
    "geometry_msgs",
    "moveit_msgs",
    "nav_msgs",
    "object_recognition_msgs",
    "octomap_msgs",
    "sensor_msgs",
    "shape_msgs",
    "std_msgs",
    "tf2_msgs",
    "trajectory_msgs",
)


def random_fields(name: str, rng: np.random.Generator) -> dict[str, Any]:
    """Return values for all fields of a message type."""
    return {field: _value(kind, rng) for field, kind in field_types(name).items()}


def _value(kind: FieldType, rng: np.random.Generator) -> Any:
    if kind.length is None:
        return _single(kind, rng)
    most = kind.bound or 2
    count = kind.length if kind.length >= 0 else int(rng.integers(0, most + 1))
    return [_single(kind, rng) for _ in range(count)]


def _single(kind: FieldType, rng: np.random.Generator) -> Any:
    if kind.is_message:
        return random_fields(kind.name, rng)
    if kind.name == "string":
        return "".join(rng.choice(list("abcé/ "), rng.integers(0, 9)))
    if kind.name == "bool":
        return bool(rng.integers(2))
    if kind.name.startswith("float"):
        return float(np.float32(rng.normal()))
    if kind.name in ("byte", "char"):
        return int(rng.integers(128))
    limits = np.iinfo(kind.name)
    return int(rng.integers(limits.min, limits.max, dtype=kind.name, endpoint=True))
