"""What can go wrong, as few types as possible: one root, four leaves."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class KinodynError(Exception):
    """Root of every error that kinodyn raises on purpose."""


class DescriptionError(KinodynError, ValueError):
    """A robot description that cannot be read, with the place in the file.

    Attributes
    ----------
    file, line, element
        Where the fault is; each is None when it is not known.
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
    """A part of a robot description that is left out or could not be found; the robot loads without it."""


class InputError(KinodynError, ValueError):
    """An argument of the wrong shape, type or value."""


class UnknownNameError(KinodynError, LookupError):
    """A robot, frame or joint name that does not exist; the message offers the nearest ones."""


class SingularError(KinodynError, ArithmeticError):
    """A computation that would divide by zero, such as the acceleration of a link without mass."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """Make the error for a name that is not known, with the nearest names that are."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=4, cutoff=0.4)
    if near:
        hint = "did you mean " + " or ".join(repr(n) for n in near) + "?"
    else:
        shown = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
        hint = f"known: {shown}" if names else "there are none"
    return UnknownNameError(f"unknown {kind} {name!r}; {hint}")
