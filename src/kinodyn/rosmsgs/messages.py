"""Messages as Python objects, as dictionaries and as bytes."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.errors import InputError, unknown_name
from kinodyn.rosmsgs.rosbags_library import (
    FieldType,
    deserialize,
    field_types,
    full_name,
    message_class,
    serialize,
)

_BYTES = ("byte", "char", "octet", "uint8")
_INTEGERS = {f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_DTYPES = {**_INTEGERS, **dict.fromkeys(_BYTES, "uint8"), "bool": "bool", "float32": "float32", "float64": "float64"}
MAX_DEPTH = 30


@check_types
def new(name: str, fields: Mapping[str, Any] | None = None, /, **more: Any) -> Any:
    """Create a message; fields that are not given have the defaults of their types.

    Parameters
    ----------
    name
        Name of the type, such as "sensor_msgs/msg/JointState" or "sensor_msgs/JointState".
    fields
        Values by field. A nested message is a message or a mapping of its fields; a vector, point or quaternion may
        also be a sequence of its numbers.
    more
        Further fields.

    Returns
    -------
    message
        Object with the fields as attributes, of a class that all messages of the type share.

    Raises
    ------
    UnknownNameError
        For a type or field that does not exist.
    InputError
        For a value of another type.

    Examples
    --------
    >>> import kinodyn as kd
    >>> pose = kd.interop.ros.new("geometry_msgs/Pose", position=[1.0, 2.0, 3.0])
    >>> pose.position.y, pose.orientation.w
    (2.0, 1.0)
    """
    return _message(full_name(name), {**(fields or {}), **more}, name, 0)


def encode(message: Any) -> bytes:
    """Encode a message in CDR, little endian, as ROS 2 sends it and stores it in bags.

    Parameters
    ----------
    message
        As `new` or `decode` returns it; fields may have been assigned lists or other real numbers since.

    Returns
    -------
    data : bytes
        With the four bytes of the CDR header.
    """
    name = _type_of(message)
    return serialize(_message(name, _fields(message, name), name, 0), name)


def encoded(name: str, /, **fields: Any) -> bytes:
    """Return the encoding of a new message; its values are converted once, not twice as by `encode(new(...))`."""
    full = full_name(name)
    return serialize(_message(full, fields, name, 0), full)


@check_types
def decode(data: bytes, name: str) -> Any:
    """Decode a message from CDR.

    Parameters
    ----------
    data
        With the four bytes of the CDR header, in either byte order.
    name
        Name of the type.

    Returns
    -------
    message

    Raises
    ------
    InputError
        If the bytes are not a message of the type.
    """
    return deserialize(bytes(data), name)


def as_dict(message: Any) -> dict[str, Any]:
    """Return the fields of a message as nested dictionaries, lists, numbers and strings.

    Parameters
    ----------
    message
        As `new` or `decode` returns it.

    Returns
    -------
    fields : dict
        Ready for YAML or JSON.
    """
    return {field: _plain(value) for field, value in _fields(message, _type_of(message)).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return as_dict(value) if hasattr(value, "__msgtype__") else value


def _type_of(message: Any) -> str:
    name = getattr(message, "__msgtype__", None)
    if not isinstance(name, str):
        raise InputError(f"message must be a message as new() returns it, got {type(message).__name__}")
    return full_name(name)


def _fields(message: Any, name: str) -> dict[str, Any]:
    return {field: getattr(message, field) for field in field_types(name)}


def _message(name: str, values: Mapping[str, Any], place: str, depth: int) -> Any:
    types = field_types(name)
    for field in values:
        if field not in types:
            raise unknown_name(f"field of {place}", field, types)
    if depth > MAX_DEPTH:
        raise InputError(f"{place} must have at most {MAX_DEPTH} levels, got more")
    converted = {
        field: _value(kind, values.get(field), f"{place}.{field}", depth + 1)
        if values.get(field) is not None
        else _default(name, field, kind, depth + 1)
        for field, kind in types.items()
    }
    return message_class(name)(**converted)


def _default(name: str, field: str, kind: FieldType, depth: int) -> Any:
    if kind.length is not None and kind.name in _DTYPES:
        return np.zeros(max(kind.length, 0), _DTYPES[kind.name])
    if kind.length is not None:
        return [_single_default(kind, depth) for _ in range(max(kind.length, 0))]
    if (name, field) == ("geometry_msgs/msg/Quaternion", "w"):
        return 1.0
    return _single_default(kind, depth)


def _single_default(kind: FieldType, depth: int) -> Any:
    if kind.is_message:
        return _message(kind.name, {}, kind.name, depth)
    return "" if kind.name == "string" else np.zeros((), _DTYPES[kind.name]).item()


def _value(kind: FieldType, value: Any, place: str, depth: int) -> Any:
    if kind.length is None:
        return _nested(kind, value, place, depth) if kind.is_message else _scalar(kind.name, value, place)
    if kind.name in _DTYPES:
        return _numbers(kind, value, place)
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        raise InputError(f"{place} must be a list, got {reprlib.repr(value)}")
    _check_length(kind, len(value), place)
    single = kind._replace(length=None)
    return [_value(single, part, f"{place}[{k}]", depth) for k, part in enumerate(value)]


def _nested(kind: FieldType, value: Any, place: str, depth: int) -> Any:
    if isinstance(value, Mapping):
        return _message(kind.name, value, place, depth)
    fields = field_types(kind.name)
    if getattr(value, "__msgtype__", None) == kind.name or all(hasattr(value, field) for field in fields):
        return _message(kind.name, _fields(value, kind.name), place, depth)
    if isinstance(value, (list, tuple, np.ndarray)) and len(value) == len(fields):
        return _message(kind.name, dict(zip(fields, value, strict=True)), place, depth)
    raise InputError(f"{place} must be a {kind.name} or its fields, got {reprlib.repr(value)}")


def _scalar(name: str, value: Any, place: str) -> Any:
    if name == "string":
        if not isinstance(value, str):
            raise InputError(f"{place} must be a string, got {reprlib.repr(value)}")
        return value
    if isinstance(value, bytes) and len(value) == 1 and name in _BYTES:
        value = value[0]
    try:
        number = np.asarray(value)
        if name == "byte" and number.shape == () and number.dtype.kind == "i" and -128 <= number < 0:
            number = number + 256
        if number.shape != () or number.dtype.kind not in "biuf":
            raise ValueError
        kept = number.astype(_DTYPES[name])
        if not name.startswith("float") and kept != number:
            raise ValueError
        if name == "byte":  # rosbags takes it as signed
            kept = kept.astype(np.int8)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{place} must be a {name}, got {reprlib.repr(value)}") from None
    return kept.item()


def _numbers(kind: FieldType, value: Any, place: str) -> np.ndarray[Any, Any]:
    if isinstance(value, (bytes, bytearray)):
        value = np.frombuffer(value, np.uint8)
    try:
        given = np.asarray(value)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "biuf"):
            raise ValueError
        kept = given.astype(_DTYPES[kind.name])
        if not kind.name.startswith("float") and (kept != given).any():
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{place} must be a list of {kind.name}, got {reprlib.repr(value)}") from None
    _check_length(kind, len(kept), place)
    return kept


def _check_length(kind: FieldType, length: int, place: str) -> None:
    if kind.length is not None and kind.length >= 0 and length != kind.length:
        raise InputError(f"{place} must have {kind.length} elements, got {length}")
    if kind.bound and length > kind.bound:
        raise InputError(f"{place} must have at most {kind.bound} elements, got {length}")
