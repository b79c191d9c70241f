"""Adapter to rosbags, the only module that imports it: message types, CDR, and the storage of bags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from kinodyn.errors import InputError, KinodynError, unknown_name

MAX_SEQUENCE = 50_000_000  # elements of one sequence of a message
_DEFINITIONS = ("control_msgs.txt", "moveit_msgs.txt")  # types that rosbags does not bring


class FieldType(NamedTuple):
    """The type of a field of a message.

    `name` is a primitive such as "float64", or another message type. `length` is None for a single value, -1 for a
    sequence, otherwise the size of an array. `bound` is the maximum length of a sequence, 0 for any.
    """

    name: str
    length: int | None
    bound: int

    @property
    def is_message(self) -> bool:
        """Whether the name is that of another message type."""
        return "/" in self.name


def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as cause:
        raise KinodynError("ROS messages and bags need rosbags: pip install 'kinodyn[ros]'") from cause


@cache
def _store() -> Any:
    """Return the types of ROS 2 Jazzy, with those of control_msgs and moveit_msgs."""
    typesys = _module("rosbags.typesys")
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    store.max_sequence_length = MAX_SEQUENCE
    types: dict[str, Any] = {}
    for file in _DEFINITIONS:
        text = (files("kinodyn.rosmsgs") / "definitions" / file).read_text(encoding="utf-8")
        for part in text.split("MSG: ")[1:]:
            name, _, body = part.partition("\n")
            types |= typesys.get_types_from_msg(body, name.strip())
    store.register(types)
    return store


@cache
def full_name(name: str) -> str:
    """Return the full name of a message type; "geometry_msgs/Pose" is short for "geometry_msgs/msg/Pose"."""
    store = _store()
    package, _, rest = str(name).partition("/")
    full = f"{package}/msg/{rest}" if rest and "/" not in rest else str(name)
    if full not in store.fielddefs:
        raise unknown_name("message type", name, store.fielddefs)
    return full


def type_names() -> tuple[str, ...]:
    """List all message types."""
    return tuple(sorted(_store().fielddefs))


def message_class(name: str) -> Any:
    """Return the Python class of a message type."""
    return _store().types[full_name(name)]


@cache
def field_types(name: str) -> dict[str, FieldType]:
    """Return the types of the fields of a message type, in their order."""
    kinds = _module("rosbags.interfaces").Nodetype
    fields = {}
    for field, (kind, detail) in _store().fielddefs[full_name(name)][1]:
        length, bound = None, 0
        if kind in (kinds.ARRAY, kinds.SEQUENCE):
            (inner, detail), size = detail
            length, bound = (size, 0) if kind is kinds.ARRAY else (-1, size)
            kind = inner
        fields[field] = FieldType(detail if kind is kinds.NAME else detail[0], length, bound)
    return fields


def type_hash(name: str) -> str:
    """Return the RIHS01 hash by which ROS 2 identifies the definition of a type."""
    return str(_store().hash_rihs01(full_name(name)))


def serialize(message: Any, name: str) -> bytes:
    """Encode a message whose fields have the right types: little-endian CDR with its four bytes of header."""
    return bytes(_store().serialize_cdr(message, name, little_endian=True))


def deserialize(data: bytes, name: str) -> Any:
    """Decode a message from CDR of either byte order."""
    try:
        return _store().deserialize_cdr(data, full_name(name))
    except KinodynError:
        raise
    except Exception as cause:  # the generated decoders raise anything on hostile data
        raise InputError(f"{len(data)} bytes are not a {name}: {cause}") from cause


def same_definition(name: str, definition: Any) -> bool:
    """Return whether the definition of a type that a bag contains has the fields that are known here.

    The definition is parsed but never executed. An absent or IDL definition is taken as the same.
    """
    if definition.format.name != "MSG":
        return True
    parsed = _module("rosbags.typesys").get_types_from_msg(definition.data, name)
    known = _store().fielddefs
    return all(known[each][1] == fields[1] for each, fields in parsed.items() if each in known) and name in known


@contextmanager
def reader(path: Path) -> Iterator[Any]:
    """Open a bag for reading: a folder, an .mcap file or a .db3 file."""
    with _module("rosbags.rosbag2").Reader(path) as opened:
        yield opened


@contextmanager
def writer(folder: Path, storage: str) -> Iterator[Any]:
    """Create a bag in a new folder, its storage is "mcap" or "sqlite3"; `add_topic` and `write` fill it."""
    rosbag2 = _module("rosbags.rosbag2")
    plugin = {"mcap": rosbag2.StoragePlugin.MCAP, "sqlite3": rosbag2.StoragePlugin.SQLITE3}[storage]
    with rosbag2.Writer(folder, version=9, storage_plugin=plugin) as opened:
        yield opened


def add_topic(opened: Any, topic: str, name: str, *, latched: bool) -> Any:
    """Add a topic to a bag that is being written; subscribers get the last message of a latched one at once."""
    interfaces = _module("rosbags.interfaces")
    none = interfaces.QosTime(2147483647, 4294967295)
    durability = interfaces.QosDurability.TRANSIENT_LOCAL if latched else interfaces.QosDurability.VOLATILE
    qos = interfaces.Qos(
        interfaces.QosHistory.KEEP_LAST,
        1 if latched else 10,
        interfaces.QosReliability.RELIABLE,
        durability,
        none,
        none,
        interfaces.QosLiveliness.AUTOMATIC,
        none,
        avoid_ros_namespace_conventions=False,
    )
    return opened.add_connection(topic, name, typestore=_store(), offered_qos_profiles=[qos])
