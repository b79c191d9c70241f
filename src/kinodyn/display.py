"""How objects are shown: a short `repr`, a table in notebooks, an array in LaTeX."""

from __future__ import annotations

import html
import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import Any, TypeVar

import numpy as np

MAX_TEXT = 400  # characters of a repr
MAX_VALUE = 60  # characters of a value in it
MAX_ENTRIES = 8  # of an array or a sequence whose entries are shown

Shown = TypeVar("Shown", bound=type)


def displayed(cls: Shown) -> Shown:
    """Give a class a short `__repr__`, and `_repr_html_` and `_repr_latex_` for notebooks.

    Use it as the outermost decorator. A `__repr__` that the class defines itself is kept.
    """
    if not _is_written(cls):
        setattr(cls, "__repr__", short_repr)  # noqa: B010
    for name, method in (("_repr_html_", table_html), ("_repr_latex_", table_latex)):
        if not hasattr(cls, name):
            setattr(cls, name, method)
    return cls


def _is_written(cls: type) -> bool:
    """Return whether the repr of a class was written, by itself or a base, not generated or that of `object`."""
    for base in cls.__mro__:
        if "__repr__" in vars(base):
            code = getattr(vars(base)["__repr__"], "__code__", None)
            return code is not None and code.co_filename == getattr(sys.modules[base.__module__], "__file__", None)
    return False


def short_repr(self: object) -> str:
    """Return the class and its attributes in a line; arrays and long values are summarised."""
    text, name = "", type(self).__name__
    for key, value in attributes(self):
        entry = f"{', ' if text else ''}{key}={short(value)}"
        if len(text) + len(entry) > MAX_TEXT:
            return f"{name}({text}, ...)"
        text += entry
    return f"{name}({text})"


def attributes(self: Any) -> Iterator[tuple[str, Any]]:
    """Iterate over the public attributes of an object, in the order of their definition."""
    names: Sequence[str]
    if is_dataclass(self):
        names = [field.name for field in dataclass_fields(self) if field.repr]
    elif isinstance(self, tuple) and hasattr(self, "_fields"):
        names = self._fields
    else:
        slots = [name for base in reversed(type(self).__mro__) for name in _slots(base)]
        names = [*slots, *getattr(self, "__dict__", {})]
    for name in names:
        if not name.startswith("_") and hasattr(self, name):
            yield name, getattr(self, name)


def _slots(cls: type) -> Sequence[str]:
    slots = vars(cls).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def short(value: Any) -> str:
    """Return a value in at most 60 characters."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        text = _array(value)
    elif isinstance(value, Mapping):
        text = f"{{{', '.join(_cut(f'{key!r}: ...') for key in list(value)[:MAX_ENTRIES])}}}"
        text = text if len(text) <= MAX_VALUE and len(value) <= MAX_ENTRIES else f"<{len(value)} entries>"
    elif isinstance(value, list | tuple | Set) and not hasattr(value, "_fields"):
        text = _sequence(value)
    elif callable(value) and hasattr(value, "__qualname__"):
        text = value.__qualname__
    else:
        text = repr(value)
    return _cut(text)


def _array(array: Any) -> str:
    """Return the entries of a small array, and type and shape of a large one."""
    if array.size <= MAX_ENTRIES and array.ndim <= 1:
        entries = array.tolist() if array.ndim else [array.item()]
        text = ", ".join(f"{each:.4g}" if isinstance(each, float) else repr(each) for each in entries)
        if len(text) < MAX_VALUE - 1:
            return f"[{text}]" if array.ndim else text
    return f"<{array.dtype} {array.shape}>"


def _sequence(value: Any) -> str:
    if len(value) > MAX_ENTRIES:
        return f"<{len(value)} entries>"
    text = ", ".join(short(each) for each in value)
    left, right = ("(", ",)" if len(value) == 1 else ")") if isinstance(value, tuple) else ("[", "]")
    return f"{left}{text}{right}" if len(text) < MAX_VALUE - 3 else f"<{len(value)} entries>"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_VALUE else f"{line[: MAX_VALUE - 3]}..."


def table_html(self: object) -> str:
    """Return the attributes as an HTML table."""
    rows = "".join(
        f"<tr><td style='text-align:left'>{html.escape(key)}</td>"
        f"<td style='text-align:left'>{html.escape(_with_range(value))}</td></tr>"
        for key, value in attributes(self)
    )
    return f"<table><caption>{html.escape(_title(self))}</caption>{rows}</table>"


def table_latex(self: object) -> str:
    """Return the attributes as an array in LaTeX, which MathJax shows too."""
    rows = r" \\ ".join(
        rf"\text{{{_latex(key)}}} & \text{{{_latex(_with_range(value))}}}" for key, value in attributes(self)
    )
    return rf"$\begin{{array}}{{ll}} \text{{{_latex(_title(self))}}} \\ {rows} \end{{array}}$"


def _title(self: object) -> str:
    """Return the class, or the repr if the class has one of its own."""
    return type(self).__name__ if type(self).__repr__ is short_repr else repr(self)


def _with_range(value: Any) -> str:
    """Return a value, and the range of a large array of real numbers."""
    text = short(value)
    if (
        not isinstance(value, np.ndarray)
        or not text.startswith("<")
        or value.size == 0
        or value.dtype.kind not in "fiu"
    ):
        return text
    finite = value[np.isfinite(value)]
    return f"{text} from {finite.min():.4g} to {finite.max():.4g}" if finite.size else text


def _latex(text: str) -> str:
    special = {"\\": r"\backslash ", "{": r"\{", "}": r"\}", "_": r"\_", "^": r"\^{}", "~": r"\~{}"}
    special |= {each: f"\\{each}" for each in "#$%&"}
    return "".join(special.get(letter, letter) for letter in text)
