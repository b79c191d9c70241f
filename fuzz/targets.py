"""The targets: `file:<reader>` and `api:<module>`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fuzz import api, files


def targets() -> list[str]:
    """Return the names of all targets."""
    return [*(f"file:{name}" for name in files.READERS), *(f"api:{name}" for name in api.modules())]


def cases_of(target: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the cases of a target in order: a name, and a function that runs the case and says what was wrong."""
    kind, _, name = target.partition(":")
    return files.cases(name) if kind == "file" else api.cases(name)
