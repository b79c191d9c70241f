"""Valid arguments of public functions that no example calls: by the names and annotations of the parameters."""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import inspect
import itertools
import os
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import kinodyn as kd
from fuzz.samples import sample, samples

ROBOTS = ("panda", "humanoid", "planar2r")
UNKNOWN = object()  # there is no value for a parameter
ARRAY = "..."  # the name under which the value of arrays is kept whose names are not known
SHAPES = ((), (3,), (2,), (6,), (4, 4), (3, 3), (2, 3), (5,), (1,))
PLAIN = {float: 0.5, int: 2, bool: False, str: "name", bytes: b"name", type(None): None, complex: 1j}


def valid_calls(function: Callable[..., Any], owner: type | None) -> Iterator[dict[str, Any]]:
    """Yield arguments by name that may be valid, for one robot and one shape of unknown arrays after the other."""
    hints = _hints(function)
    for name, shape in itertools.product(ROBOTS, SHAPES):
        known = {**_values(name), ARRAY: np.full(shape, 0.5) if len(shape) < 2 else np.eye(*shape)}
        owners = [UNKNOWN] if owner is None else samples().get(owner, [_of_class(owner, known)])
        for instance in owners:
            arguments = {} if owner is None else {"self": instance}
            found = {**arguments, **_required(function, hints, known)}
            if UNKNOWN not in map(_known, found.values()):
                yield found


def _known(value: Any) -> Any:
    return UNKNOWN if value is UNKNOWN else None


def _required(function: Callable[..., Any], hints: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for parameter in inspect.signature(function).parameters.values():
        variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if parameter.name == "self" or variadic or parameter.default is not parameter.empty:
            continue
        hint = hints.get(parameter.name)
        value = known.get(parameter.name, UNKNOWN) if _is_open(hint) else UNKNOWN
        found[parameter.name] = _of_hint(hint, known) if value is UNKNOWN else value
    return found


def _is_open(hint: Any) -> bool:
    """Return whether the name of a parameter says more than its annotation: arrays, strings, numbers, robots."""
    return not inspect.isclass(hint) or hint in (str, float, int, kd.Robot) or not hint.__module__.startswith("kinodyn")


@functools.cache
def _values(name: str) -> dict[str, Any]:
    """Return values for common names of parameters."""
    robot = kd.load(name)
    q, nv = robot.neutral() if robot.base == "floating" else 0.5 * np.ones(robot.nq), robot.nv
    frame, zero = robot.frame_names[-1], np.zeros(nv)
    T = kd.kinematics.pose(robot, q, frame)
    velocities = dict.fromkeys(("v", "a", "tau", "v0", "v1", "qd", "qdd", "torque", "velocity", "acceleration"), zero)
    configurations = dict.fromkeys(("q", "q0", "q1", "q_start", "start", "goal", "home", "configuration"), q)
    poses = dict.fromkeys(("T", "T0", "T1", "pose", "target", "T_world_frame", "transform"), T)
    vectors = dict.fromkeys(("p", "point", "position", "axis", "normal", "direction", "com", "omega"), np.ones(3))
    others = {
        "robot": robot, "frame": frame, "link": frame, "joint": robot.joint_names[0], "t": 0.1, "dt": 0.01, "seed": 0,
        "duration": 0.5, "name": "box", "points": np.eye(3), "R": np.eye(3), "world": sample(kd.collision.World),
        "targets": {frame: T}, "contacts": [kd.contact.Contact(frame)], "path": np.stack([q, q]), "height": 0.8,
        "x": np.ones(3), "matrix": np.eye(3), "twist": np.ones(6), "wrench": np.ones(6), "times": np.array([0.0, 1.0]),
        "angles": np.zeros(3), "quaternion": np.array([0.0, 0.0, 0.0, 1.0]), "inertia": np.eye(3), "mass": 1.0,
        "frames": [frame], "joints": list(robot.joint_names), "order": 1, "corners": np.eye(3), "friction": 0.7,
    }  # fmt: skip
    return {**velocities, **configurations, **poses, **vectors, **others}


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    target = function.__init__ if inspect.isclass(function) else function  # type: ignore[misc]
    try:
        return typing.get_type_hints(inspect.unwrap(target))
    except (NameError, TypeError, AttributeError):  # names that only type checkers import
        return {}


def _of_hint(hint: Any, known: dict[str, Any]) -> Any:
    """Return a value of an annotation."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if origin is typing.Literal:
        return parts[0]
    if hint is Any or origin is np.ndarray or complex in parts:  # as in ArrayLike
        return known[ARRAY]
    if origin in (typing.Union, types.UnionType):
        found = (_of_hint(part, known) for part in parts)
        return next((value for value in found if value is not UNKNOWN), UNKNOWN)
    if origin in (list, tuple, collections.abc.Sequence, collections.abc.Iterable):
        value = _of_hint(parts[0], known) if parts else UNKNOWN
        return UNKNOWN if value is UNKNOWN else [value]
    if origin in (dict, collections.abc.Mapping):
        value = _of_hint(parts[1], known)
        return UNKNOWN if value is UNKNOWN else {known["frame"]: value}
    if origin is collections.abc.Callable:
        return lambda *_: 0.0
    return _of_class(hint, known)


def _of_class(hint: Any, known: dict[str, Any]) -> Any:
    """Return a sample of a class, or an object made of such arguments."""
    if not inspect.isclass(hint):
        return UNKNOWN
    if issubclass(hint, (Path, os.PathLike)):
        return Path("file")
    value = sample(hint)
    if value is not None:
        return value
    stores = dataclasses.is_dataclass(hint) and not hasattr(hint, "__post_init__")  # whatever it is given
    if stores or not hint.__module__.startswith("kinodyn"):
        return UNKNOWN
    try:
        return hint(**_required(hint, _hints(hint), known))
    except Exception:  # of any kind: the values are guesses
        return UNKNOWN
