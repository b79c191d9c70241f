"""Every public name of every public module is in the reference."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import kinodyn

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"
MODULE = re.compile(r"^\.\. automodule:: (\S+)\n((?:   :.*\n|      .*\n)*)", re.MULTILINE)
SINGLE = re.compile(r"^\.\. auto(?:function|class|exception|data):: (\S+)", re.MULTILINE)


def public_modules() -> list[ModuleType]:
    """Find the public modules of `kinodyn`, and those within them."""
    found: dict[str, ModuleType] = {"kinodyn": kinodyn}
    waiting = [kinodyn, import_module("kinodyn.tasks"), import_module("kinodyn.limits")]
    while waiting:
        module = waiting.pop()
        found[module.__name__] = module
        members = (getattr(module, name) for name in public_names(module))
        waiting += [member for member in members if inspect.ismodule(member) and member.__name__ not in found]
    return [found[name] for name in sorted(found)]


def public_names(module: ModuleType) -> list[str]:
    """List the public names of a module: `__all__`, or the functions and classes that it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    own = inspect.getmembers(module, lambda member: inspect.isfunction(member) or inspect.isclass(member))
    return [name for name, member in own if not name.startswith("_") and member.__module__ == module.__name__]


def resolve(place: str) -> Any:
    """Return the object of an autodoc directive; `kinodyn.ik.solve` is the function, not the module."""
    first, *parts = place.split(".")
    thing: Any = import_module(first)
    for part in parts:
        thing = getattr(thing, part) if hasattr(thing, part) else import_module(f"{thing.__name__}.{part}")
    return thing


def documented() -> list[Any]:
    """Return the objects that the pages document, individually or as members of a module."""
    shown: list[Any] = []
    for page in sorted(REFERENCE.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        shown += [resolve(place) for place in SINGLE.findall(text)]
        for name, options in MODULE.findall(text):
            if ":no-members:" not in options:
                left_out = re.findall(r"\w+", options.partition(":exclude-members:")[2])
                module = import_module(name)
                shown += [getattr(module, member) for member in public_names(module) if member not in left_out]
    return shown


SHOWN = documented()


def test_the_public_modules_are_found() -> None:
    names = {module.__name__ for module in public_modules()}
    assert {"kinodyn", "kinodyn.kinematics", "kinodyn.ik.velocity", "kinodyn.tasks", "kinodyn.walking"} <= names


@pytest.mark.parametrize("module", public_modules(), ids=lambda module: module.__name__)
def test_every_public_name_is_in_the_reference(module: ModuleType) -> None:
    missing = []
    for name in public_names(module):
        thing = getattr(module, name)
        if not inspect.ismodule(thing) and not any(thing is shown for shown in SHOWN):
            missing.append(name)
    assert not missing, f"{module.__name__}: no page of docs/reference shows {', '.join(missing)}"


def test_every_reference_page_is_in_the_table_of_contents() -> None:
    index = (REFERENCE.parent / "index.md").read_text(encoding="utf-8")
    missing = [page.stem for page in REFERENCE.glob("*.md") if f"reference/{page.stem}\n" not in index]
    assert not missing, f"docs/index.md does not list {missing}"
