"""Exceptions: one root, `KinodynError`, and four kinds; and one warning."""

from __future__ import annotations

import contextlib
import difflib
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "DescriptionError",
    "DescriptionWarning",
    "InputError",
    "KinodynError",
    "SingularError",
    "UnknownNameError",
]

# frames that are not the caller's: this package, and the context managers that it uses
INSIDE = (os.path.dirname(os.path.abspath(__file__)) + os.sep, contextlib.__file__)


MAX_MESSAGE = 1500  # characters; messages quote what they were given


class KinodynError(Exception):
    """Root of all errors that kinodyn raises; long messages are cut in the middle."""

    def __str__(self) -> str:
        return bounded(super().__str__())


def bounded(text: str) -> str:
    """Cut a long message in the middle: it begins with what is wrong and ends with what to do."""
    if len(text) <= MAX_MESSAGE:
        return text
    return f"{text[: 2 * MAX_MESSAGE // 3]} ... ({len(text)} characters) ... {text[-MAX_MESSAGE // 4 :]}"


class DescriptionError(KinodynError, ValueError):
    """A robot description that cannot be read, with the location in the file.

    Parameters
    ----------
    message : str
    file : path-like, optional
    line : int, optional
    element : str, optional
        Name of the XML element.

    Attributes
    ----------
    message, file, line, element
        As given; None where the location is not known.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        element: str | None = None,
    ) -> None:
        self.message, self.file, self.line, self.element = message, file, line, element
        place = ":".join(str(part) for part in (file, line) if part is not None)
        what = f"<{element}>" if element else ""
        super().__init__(": ".join(part for part in (place, what, message) if part))

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_description_error, (self.message, self.file, self.line, self.element))


def _rebuild_description_error(
    message: str, file: str | Path | None, line: int | None, element: str | None
) -> DescriptionError:
    return DescriptionError(message, file=file, line=line, element=element)


class DescriptionWarning(UserWarning):
    """A part of a robot description that is ignored or missing; the robot loads without it.

    Parameters
    ----------
    message : str
    parts : sequence of str, optional
        The messages that this one joins.

    Attributes
    ----------
    parts : tuple of str
        As given; the message itself by default.
    """

    def __init__(self, message: str, parts: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.parts = tuple(parts) or (message,)


def warn(message: str, parts: Iterable[str] = ()) -> None:
    """Raise a `DescriptionWarning` at the line outside of kinodyn that led to it."""
    warnings.warn(DescriptionWarning(message, parts), stacklevel=outside())


def outside() -> int:
    """Return the `stacklevel` with which a function warns at the line outside of kinodyn that led to it."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    return level


class InputError(KinodynError, ValueError):
    """An argument with a wrong shape, type or value."""


class UnknownNameError(KinodynError, LookupError):
    """A robot, frame or joint name that does not exist; the message suggests similar ones."""


class SingularError(KinodynError, ArithmeticError):
    """A computation that would divide by zero, such as the acceleration of a link without mass."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """Return the error for an unknown name, which suggests similar names."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=4, cutoff=0.4)
    if near:
        hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
    else:
        shown = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
        hint = f"known: {shown}" if names else "there are none"
    return UnknownNameError(f"unknown {kind} {name!r}; {hint}")


def __dir__() -> list[str]:
    return list(__all__)
