"""Wording of warnings about descriptions: one warning per subject, with the first few names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from kinodyn import errors
from kinodyn.errors import bounded


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: `1 link`, `2 links`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(items: Iterable[object], limit: int = 4) -> str:
    """Join the first `limit` items with commas and add how many more there are."""
    every = [str(item) for item in items]
    shown = ", ".join(every[:limit])
    return shown if len(every) <= limit else f"{shown} and {len(every) - limit} more"


_COLLECTED: ContextVar[list[str] | None] = ContextVar("collected", default=None)


def warn(message: str, file: Path | None) -> None:
    """Warn about a description, with the file it came from; within `one_warning` together with others."""
    text = bounded(message if file is None else f"{file}: {message}")
    collected = _COLLECTED.get()
    if collected is None:
        errors.warn(text)
    elif text not in collected:
        collected.append(text)


@contextmanager
def one_warning(source: object) -> Iterator[None]:
    """Join the warnings about a description to one."""
    token = _COLLECTED.set([])
    try:
        yield
        found = _COLLECTED.get() or []
    finally:
        _COLLECTED.reset(token)
    if len(found) == 1:
        errors.warn(found[0])
    elif found:
        shown = [f"({k}) {text.removeprefix(f'{source}: ')}" for k, text in enumerate(found, 1)]
        errors.warn(
            f"{source}: run 'kinodyn check {source}' for repairs of {len(found)} faults: {listed(shown)}", found
        )


def warn_missing_meshes(found: Mapping[str, Path | None], outside: Iterable[str], file: Path | None) -> None:
    """Warn once of all meshes that were not found, and once of those that are outside of the folders of a robot.

    Parameters
    ----------
    found
        The file of each URI; None if there is none.
    outside
        URIs of files that may not be read.
    file
        The description.
    """
    refused = list(dict.fromkeys(outside))
    if refused:
        message = f"{counted(len(refused), 'mesh file')} outside of the folders of the robot: {listed(refused)}"
        warn(f"pass their folders in packages=[...] or allow_outside=True; {message}; their shapes are empty", file)
    missing = [uri for uri, path in found.items() if path is None and uri not in refused]
    if missing:
        message = f"{len(missing)} of {counted(len(found), 'mesh file')} not found: {listed(missing)}"
        warn(f"pass the folders of the packages in packages=[...]; {message}; their shapes are empty", file)


def repair_hint(file: Path | None) -> str:
    """Return a hint on how to repair a file, to be appended to a message; empty if there is no file."""
    if file is None:
        return ""
    return f"; 'kinodyn check {file} --repair repaired{file.suffix}' proposes repairs"
