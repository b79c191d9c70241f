"""Read recordings from ROS 2 bags: those that kinodyn wrote, and any with joint states."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.recording.bag_states import states_of
from kinodyn.recording.bag_topics import (
    ABOUT,
    GROUPS,
    JOINT_STATES,
    KIND,
    MAX_ABOUT,
    ODOMETRY,
    TF,
    TYPES,
    VERSION,
    odometry_state,
)
from kinodyn.rosmsgs.bags import Bag, read_bag
from kinodyn.rosmsgs.robot_messages import GIGA, nanoseconds

T = TypeVar("T")


def load(
    path: str | os.PathLike[str], build: Callable[..., T], robot: Robot | None, topics: Mapping[str, str] | None
) -> T:
    """Read the fields of a recording from a bag and pass them to `build`; see `Recording.load`."""
    names = {"joint_states": JOINT_STATES, "odometry": ODOMETRY, "tf": TF}
    for key, topic in (topics or {}).items():
        if key not in names:
            raise InputError(f"topics must have the keys {', '.join(names)}, got {key!r}")
        names[key] = topic
    with read_bag(path) as bag:
        metadata = _read_metadata(bag)
        if metadata is not None and robot is None and topics is None:
            return build(**_own_fields(bag, metadata, str(path)))
        fields = states_of(bag, names, robot, str(path))
    return build(**fields)


def _read_metadata(bag: Bag) -> dict[str, Any] | None:
    if bag.topics.get(ABOUT) != TYPES[ABOUT]:
        return None
    first = next(iter(bag.messages([ABOUT])), None)
    if first is None or len(first.message.data) > MAX_ABOUT:
        return None
    try:
        metadata = json.loads(first.message.data)
    except (ValueError, RecursionError):
        return None
    known = isinstance(metadata, dict) and metadata.get("kind") == KIND and metadata.get("version") == VERSION
    return metadata if known else None


def _own_fields(bag: Bag, metadata: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the fields of a bag that `save` wrote: exactly those of the recording, up to a nanosecond."""
    try:
        described = {name: metadata[name] for name in ("robot", "status", "reason")}
        described |= {name: tuple(metadata[name]) for name in ("q_names", "v_names")}
        topics = {topic: (group, entry) for _, (group, _) in GROUPS.items() for topic, entry in metadata[group].items()}
        rows = _rows(bag, topics)
        times = np.array([time - int(metadata["shift"]) for time in rows.pop("times")], dtype=np.int64) / GIGA
        arrays: dict[str, Any] = {"time": times, **{name: np.array(rows.pop(name)) for name in ("q", "v", "tau")}}
        groups: dict[str, dict[str, Array]] = {group: {} for group, _ in GROUPS.values()}
        for topic, (group, (name, *shape)) in topics.items():
            groups[group][name] = np.array(rows[topic]).reshape(len(times), *shape)
        constants = {
            group: {name: np.array(_finite(values), dtype=float) for name, values in metadata[group].items()}
            for group in ("limits", "terrain")
        }
        for name, values in constants["limits"].items():
            values[np.isnan(values)] = -np.inf if name == "lower" else np.inf
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as cause:
        if isinstance(cause, InputError):
            raise
        raise InputError(f"{path} is not a recording: {type(cause).__name__}: {cause}") from cause
    return {**described, **arrays, **groups, **constants}


def _finite(values: Any) -> Any:
    return [_finite(value) for value in values] if isinstance(values, list) else np.nan if values is None else values


def _rows(bag: Bag, topics: Mapping[str, tuple[str, Any]]) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {"times": [], "q": [], "v": [], "tau": [], **{topic: [] for topic in topics}}
    bases: list[tuple[Array, Array]] = []
    chosen = [topic for topic in (JOINT_STATES, ODOMETRY, *topics) if topic in bag.topics]
    for topic, _, message in bag.messages(chosen):
        if topic == JOINT_STATES:
            rows["times"].append(nanoseconds(message.header.stamp))
            for name, field in (("q", "position"), ("v", "velocity"), ("tau", "effort")):
                rows[name].append(getattr(message, field))
        elif topic == ODOMETRY:
            bases.append(odometry_state(message))
        else:
            rows[topic].append(_extra(topics[topic][0], message))
    if bases:
        rows["q"] = [np.concatenate([base[0], row]) for base, row in zip(bases, rows["q"], strict=True)]
        rows["v"] = [np.concatenate([base[1], row]) for base, row in zip(bases, rows["v"], strict=True)]
        rows["tau"] = [np.concatenate([np.zeros(6), row]) for row in rows["tau"]]
    return rows


def _extra(group: str, message: Any) -> Any:
    if group == "forces":
        force, torque = message.wrench.force, message.wrench.torque
        return [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    return message.data
