"""Public names are what tab completion shows, and their docstrings follow numpydoc: parameters and what is returned."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

import kinodyn

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def public_modules() -> list[str]:
    """Find the modules that `kinodyn` offers, and those that these offer."""
    found, waiting = {"kinodyn"}, [kinodyn]
    while waiting:
        for member in members(waiting.pop()):
            if inspect.ismodule(member) and member.__name__ not in found:
                found.add(member.__name__)
                waiting.append(member)
    return sorted(found)


def members(module: ModuleType) -> list[Any]:
    """List what a module offers."""
    return [getattr(module, name) for name in getattr(module, "__all__", ())]


def sections(thing: Any) -> dict[str, str]:
    """Split a docstring into its sections."""
    _, *parts = SECTION.split(inspect.getdoc(thing) or "")
    return dict(zip(parts[::2], parts[1::2], strict=True))


def documented(body: str) -> list[str]:
    """List the names that a section describes: `q, v : array` gives q and v."""
    lines = [line for line in body.splitlines() if line and not line.startswith(" ")]
    return [name.strip().lstrip("*") for line in lines for name in line.partition(" : ")[0].split(",")]


def parameters(function: Callable[..., Any]) -> list[str]:
    """List the parameters of a function, without self."""
    names = inspect.signature(function).parameters
    return [name for name in names if name not in ("self", "cls") and not name.startswith("_")]


def callable_faults(label: str, function: Callable[..., Any]) -> Iterator[str]:
    """Compare the docstring of a function or method with its signature."""
    expected, found = parameters(function), sections(function)
    summary = (inspect.getdoc(function) or "").partition("\n\n")[0]
    if not summary.endswith("."):
        yield f"{label} has no sentence that says what it does, got {summary!r}"
    elif expected and documented(found.get("Parameters", "")) != expected:
        yield f"{label} describes the parameters {documented(found.get('Parameters', ''))}, not {expected}"
    elif expected and not {"Returns", "Yields"} & set(found) and _returns(function):
        yield f"{label} has no section Returns"


def _returns(function: Callable[..., Any]) -> bool:
    return inspect.signature(function).return_annotation not in (None, "None")


def class_faults(label: str, cls: type) -> Iterator[str]:
    """Check a class: what builds it is described as parameters or attributes, and its public methods comply."""
    found = sections(cls)
    described = {name for part in ("Parameters", "Attributes") for name in documented(found.get(part, ""))}
    missing = [name for name in _constructor(cls) if name not in described]
    if not cls.__doc__ or missing:
        yield f"{label} does not describe {', '.join(missing) or 'itself'}"
    if unknown := set(documented(found.get("Parameters", ""))) - set(_constructor(cls)):
        yield f"{label} describes parameters that it does not have: {sorted(unknown)}"
    for name, method in vars(cls).items():
        function = method.__func__ if isinstance(method, classmethod | staticmethod) else method
        if inspect.isfunction(function) and not name.startswith("_") and function.__module__.startswith("kinodyn"):
            yield from callable_faults(f"{label}.{name}", getattr(cls, name))


def _constructor(cls: type) -> list[str]:
    """List what a class is built from; protocols, enumerations and types made by the core are not called."""
    if issubclass(cls, Enum) or getattr(cls, "_is_protocol", False):
        return []
    if dataclasses.is_dataclass(cls):
        return [field.name for field in dataclasses.fields(cls) if field.init and not field.name.startswith("_")]
    if hasattr(cls, "_fields"):
        return list(cls._fields)
    return parameters(cls.__init__) if inspect.isfunction(cls.__init__) else []  # type: ignore[misc]


def faults(module: ModuleType) -> Iterator[str]:
    """List what is wrong with a module's public names: tab completion shows others, or docstrings lack something."""
    public = {name for name in getattr(module, "__all__", ()) if not name.startswith("__")}
    if shown := {name for name in dir(module) if not name.startswith("__")} ^ public:
        yield f"__all__ and __dir__ of {module.__name__} differ by {sorted(shown)}"
    for name in sorted(public):
        member = getattr(module, name)
        label = f"{module.__name__}.{name}"
        if inspect.isclass(member) and member.__module__.startswith("kinodyn"):
            yield from class_faults(label, member)
        elif inspect.isfunction(member):
            yield from callable_faults(label, member)


@pytest.mark.parametrize("name", public_modules())
def test_public_names_are_listed_and_documented(name: str) -> None:
    found = list(faults(import_module(name)))
    assert not found, "\n".join(found)
