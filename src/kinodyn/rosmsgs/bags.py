"""Bags: MCAP files and rosbag2 folders, in bounded memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kinodyn.argument_types import check_types
from kinodyn.checks import as_path, shown, with_attributes
from kinodyn.description.packages import is_file
from kinodyn.display import displayed
from kinodyn.errors import InputError, KinodynError, unknown_name
from kinodyn.rosmsgs.chunks import check_bag
from kinodyn.rosmsgs.messages import decode, encode
from kinodyn.rosmsgs.rosbags_library import add_topic, full_name, reader, same_definition, type_names, writer

SUFFIXES = (".mcap", ".db3")
MAX_NAME = 200  # characters of a file: those of temporary ones are longer
MAX_MESSAGES = 20_000_000
MAX_MESSAGE_BYTES = 200_000_000


@displayed
class BagMessage(NamedTuple):
    """A message of a bag.

    Attributes
    ----------
    topic : str
    time : int
        When it was recorded [ns].
    message
        As `decode` returns it; to be written, bytes as `encode` returns them are allowed too.
    """

    topic: str
    time: int
    message: Any


@displayed
class Bag:
    """An open bag; `read_bag` returns it.

    Parameters
    ----------
    opened
        Reader of the storage.
    path
        Path of the bag, for errors.

    Attributes
    ----------
    topics : dict of str -> str
        The types of the messages of each topic.
    counts : dict of str -> int
        The number of messages of each topic.
    """

    @check_types
    def __init__(self, opened: Any, path: Path) -> None:
        with_attributes("opened", opened, "a reader of bags", "connections")
        self._opened, self._path = opened, path
        self.topics = {each.topic: each.msgtype for each in opened.connections}
        self.counts = {each.topic: each.msgcount for each in opened.connections}

    @check_types
    def messages(self, topics: Iterable[str] | None = None) -> Iterator[BagMessage]:
        """Iterate over messages in the order of time.

        Parameters
        ----------
        topics
            Names of topics; by default all whose type is known.

        Yields
        ------
        BagMessage

        Raises
        ------
        UnknownNameError
            For a topic that is not in the bag, or a type that is not known.
        InputError
            If the bag is broken, or the definition of a type in it has other fields.
        """
        known = set(type_names())
        names = [topic for topic in self.topics if self.topics[topic] in known] if topics is None else list(topics)
        for topic in names:
            if topic not in self.topics:
                raise unknown_name("topic", topic, self.topics)
            full_name(self.topics[topic])
        chosen = [each for each in self._opened.connections if each.topic in names]
        for each in chosen:
            if not same_definition(each.msgtype, each.msgdef):
                raise InputError(f"{self._path}: {each.msgtype} of {each.topic} must have the fields known here")
        if chosen:
            yield from self._decoded(chosen)

    def _decoded(self, connections: list[Any]) -> Iterator[BagMessage]:
        for count, (connection, time, data) in enumerate(self._opened.messages(connections)):
            if count >= MAX_MESSAGES or len(data) > MAX_MESSAGE_BYTES:
                raise InputError(f"{self._path} must have at most {MAX_MESSAGES} messages of {MAX_MESSAGE_BYTES} bytes")
            yield BagMessage(connection.topic, int(time), decode(data, connection.msgtype))

    def __repr__(self) -> str:
        return f"Bag({self._path.name!r}, {', '.join(f'{topic}: {self.counts[topic]}' for topic in self.topics)})"


@contextmanager
def read_bag(path: str | os.PathLike[str]) -> Iterator[Bag]:
    """Open a bag for reading; nothing in it is executed.

    Parameters
    ----------
    path
        An .mcap or .db3 file, or the folder of a rosbag2 bag.

    Yields
    ------
    Bag

    Raises
    ------
    InputError
        If it is not a bag, is broken, or expands beyond the limits.
    """
    file = Path(path)
    if not is_bag(file):
        raise InputError(f"{file} must be an .mcap or .db3 file, or a folder with metadata.yaml")
    try:
        check_bag(file)
        with reader(file) as opened:
            yield Bag(opened, file)
    except (KinodynError, KeyboardInterrupt, GeneratorExit):
        raise
    except OSError as cause:
        raise InputError(f"{file} cannot be read: {cause}") from cause
    except Exception as cause:  # storage of hostile bags raises anything: struct.error, sqlite errors, KeyError
        raise InputError(f"{file} is not a readable bag: {type(cause).__name__}: {cause}") from cause


@check_types
def write_bag(
    path: str | os.PathLike[str],
    messages: Iterable[BagMessage],
    topics: Mapping[str, str],
    *,
    latched: Iterable[str] = (),
) -> None:
    """Write messages to a bag, which is replaced only after everything has been written.

    Parameters
    ----------
    path
        A file that ends in .mcap; or a folder, which becomes a rosbag2 bag with SQLite storage.
    messages
        In the order of time.
    topics
        The types of the messages of each topic.
    latched
        Topics whose last message late subscribers get, such as /robot_description.
    """
    file = as_path("path", path)
    storage = "mcap" if file.suffix == ".mcap" else "sqlite3"
    if storage == "sqlite3" and os.path.exists(file) and not is_file(file / "metadata.yaml"):
        raise InputError(f"path must be new or the folder of a bag, got {file}, which is something else")
    if not file.parent.is_dir():
        raise InputError(f"path must be in an existing folder, got {file}")
    if len(file.name) > MAX_NAME:
        raise InputError(f"path must have a name of at most {MAX_NAME} characters, got {shown(file.name)}")
    held = set(latched)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=f".{file.name}") as temporary:
        folder = Path(temporary) / file.stem
        with writer(folder, storage) as opened:
            added = {
                topic: add_topic(opened, topic, full_name(name), latched=topic in held)
                for topic, name in topics.items()
            }
            for each in messages:
                data = each.message if isinstance(each.message, bytes) else encode(each.message)
                opened.write(added[each.topic], each.time, data)
        _replace(folder, file, storage)


def _replace(folder: Path, file: Path, storage: str) -> None:
    if storage == "mcap":
        os.replace(next(folder.glob("*.mcap")), file)
        return
    if file.exists():
        shutil.rmtree(file)
    os.replace(folder, file)


def is_bag(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is that of a bag, by its name or its metadata file."""
    file = as_path("path", path)
    return file.suffix in SUFFIXES or is_file(file / "metadata.yaml")
