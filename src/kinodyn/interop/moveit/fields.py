"""Typed access to the fields of a message; unused fields are recorded."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kinodyn.checks import MAX_MAGNITUDE
from kinodyn.description.messages import listed
from kinodyn.errors import InputError, warn

_FLAGS = {"true": True, "True": True, "1": True, "false": False, "False": False, "0": False}


class Message:
    """One file or dictionary: its name, its top-level fields, and the fields that were not read."""

    def __init__(self, data: Any, source: str) -> None:
        self.source = source
        self.read: list[Fields] = []
        self.notes: list[str] = []  # further warnings
        self.fields = Fields(data if data is not None else {}, "", self)

    def warn(self) -> None:
        """Warn once per message about ignored fields."""
        unread = dict.fromkeys(re.sub(r"\[\d+\]", "[]", name) for fields in self.read for name in fields.unread())
        notes = [*self.notes, *([f"fields that have no effect here: {listed(unread, 12)}"] if unread else [])]
        if notes:
            warn(f"{self.source}: {'; '.join(notes)}")


class Fields:
    """The fields of one mapping within a message.

    Values are those of YAML or of a dictionary: numbers may be written as strings. A field that is missing or null has
    the default of its message type: 0, "", empty.
    """

    def __init__(self, data: Any, place: str, message: Message) -> None:
        self.place, self.message = place, message
        if not isinstance(data, Mapping):
            raise self.error("", data, "a mapping of fields")
        self._data = data
        self._used: set[str] = set()
        message.read.append(self)

    def raw(self, name: str) -> Any:
        """Return a value as it is, None if it is missing."""
        self._used.add(name)
        return self._data.get(name)

    def text(self, name: str) -> str:
        """Return a string."""
        value = self.raw(name)
        if value is not None and not isinstance(value, str):
            raise self.error(name, value, "a string")
        return value or ""

    def texts(self, name: str) -> list[str]:
        """Return a list of strings."""
        values = self._sequence(name)
        if not all(isinstance(value, str) and value for value in values):
            raise self.error(name, values, "a list of names")
        return values

    def number(self, name: str, default: float = 0.0) -> float:
        """Return a finite number."""
        value = self.raw(name)
        return default if value is None else self._number(name, value)

    def numbers(self, name: str) -> list[float]:
        """Return a list of finite numbers of any length."""
        return [self._number(name, value) for value in self._sequence(name)]

    def vector(self, name: str, letters: str) -> list[float] | None:
        """Return the numbers of a vector, written as a list or as fields x, y, ...; None if it is missing."""
        value = self.raw(name)
        if value is None:
            return None
        return self.as_vector(name, value, letters)

    def as_vector(self, name: str, value: Any, letters: str) -> list[float]:
        """Return the numbers of a vector that was read before."""
        if isinstance(value, Mapping):
            extra = set(value) - set(letters)
            parts = [value.get(letter) or 0.0 for letter in letters] if not extra else None
        else:
            parts = list(value) if isinstance(value, (list, tuple)) and len(value) == len(letters) else None
        if parts is None:
            raise self.error(name, value, f"{len(letters)} numbers: {', '.join(letters)}")
        return [self._number(name, part) for part in parts]

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self.raw(name)
        return False if value is None else self.as_flag(name, value)

    def as_flag(self, name: str, value: Any) -> bool:
        """Return a flag that was read before."""
        if isinstance(value, bool):
            return value
        if str(value) not in _FLAGS:
            raise self.error(name, value, "true or false")
        return _FLAGS[str(value)]

    def child(self, name: str) -> Fields:
        """Return the fields of a nested message, all empty if it is missing."""
        value = self.raw(name)
        return Fields({} if value is None else value, self._path(name), self.message)

    def children(self, name: str) -> Iterator[Fields]:
        """Iterate over a list of nested messages."""
        for k, value in enumerate(self._sequence(name)):
            yield Fields(value, f"{self._path(name)}[{k}]", self.message)

    def names(self) -> list[str]:
        """Return the names of all fields, for mappings whose keys are names of joints or groups."""
        return [str(name) for name in self._data]

    def ignore(self, *names: str) -> None:
        """Mark fields without relevant content, such as time stamps."""
        self._used.update(names)

    def error(self, name: str, value: Any, allowed: str) -> InputError:
        """Return the error for a wrong value."""
        where = self._path(name) or "the message"
        return InputError(f"{self.message.source}: {where} must be {allowed}, got {reprlib.repr(value)}")

    def fault(self, name: str, text: str) -> InputError:
        """Return an error about a field."""
        return InputError(f"{self.message.source}: {self._path(name)}: {text}")

    def unread(self) -> Iterator[str]:
        """Yield the paths of the fields that were not read and are not empty."""
        for name, value in self._data.items():
            if name not in self._used and not _is_empty(value):
                yield self._path(str(name))

    def _path(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place and name else self.place or name

    def _sequence(self, name: str) -> list[Any]:
        value = self.raw(name)
        if value is None:
            return []
        if isinstance(value, (str, Mapping)) or not isinstance(value, Sequence):
            raise self.error(name, value, "a list")
        return list(value)

    def nonnegative(self, name: str) -> float:
        """Return a number of at least 0; 0 if it is missing."""
        value = self.number(name)
        if value < 0.0:
            raise self.error(name, value, "a number of at least 0")
        return value

    def _number(self, name: str, value: Any) -> float:
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not -MAX_MAGNITUDE <= number <= MAX_MAGNITUDE:
            raise self.error(name, value, "a finite number")
        return number


def _is_empty(value: Any) -> bool:
    """Return whether a value is the default of its type, so that ignoring it loses nothing."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif not (part is None or part in ("", "false", "False", 0) or _is_zero(part)):
            return False
    return True


def _is_zero(value: Any) -> bool:
    try:
        return float(value) == 0.0
    except (TypeError, ValueError):
        return False
