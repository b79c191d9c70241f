"""The targets: `file:<reader>`, `api:<module>`, and `derived:<module>` for functions that no example calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fuzz import api, files


def targets() -> list[str]:
    """Return the names of all targets."""
    derived = (f"derived:{name}" for name in api.modules_with_functions())
    return [*(f"file:{name}" for name in files.READERS), *(f"api:{name}" for name in api.modules()), *derived]


def cases_of(target: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the cases of a target in order: a name, and a function that runs the case and says what was wrong."""
    kind, _, name = target.partition(":")
    kinds = {"file": files.cases, "api": api.cases, "derived": api.derived_cases}
    return kinds[kind](name)
