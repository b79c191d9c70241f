"""Every public function with one wrong argument at a time.

The right ones are those of the examples in docstrings, or follow from names and annotations (`fuzz.arguments`).
"""

from __future__ import annotations

import contextlib
import copy
import doctest
import functools
import importlib
import inspect
import io
import os
import pkgutil
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import kinodyn
from fuzz.arguments import valid_calls
from fuzz.values import wrong_values
from fuzz.verdict import outcome
from kinodyn.errors import KinodynError

# Calls that start servers, other processes or windows, or that only check the installation.
LEFT_OUT = ("kinodyn.cli", "kinodyn.viewer", "kinodyn.jobs", "kinodyn.__main__")


# Functions whose docstring says where the result has NaN: a walk too short for a speed, no pair that is near.
NAN_DOCUMENTED = ("kinodyn.walking.walk.walk", "kinodyn.collision.distance.distance")
CALLED_BY_CLASS = (classmethod, staticmethod)


@dataclass
class Call:
    """A call that an example made: the function and its arguments by name."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]


def modules() -> list[str]:
    """Return the names of the modules with examples."""
    return [name for name in modules_with_functions() if _tests(name)]


def modules_with_functions() -> list[str]:
    """Return the names of the modules with public functions."""
    names = ["kinodyn", *(module.name for module in pkgutil.walk_packages(kinodyn.__path__, "kinodyn."))]
    names = [name for name in sorted(names) if not name.startswith(LEFT_OUT) and _is_importable(name)]
    return [name for name in names if _public_functions(name)]


def cases(module: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the cases of a module: a name, and a function that runs the case and returns what was wrong."""
    yield from _cases(_calls(module))


def derived_cases(module: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the cases of the functions of a module that its examples do not call."""
    yield from _cases(_derived(module, {call.name for call in _calls(module)}))


def _cases(calls: Iterable[Call]) -> Iterator[tuple[str, Callable[[], str]]]:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for call in calls:
            for name, valid in call.arguments.items():
                if name == "self":
                    continue
                for k, make in enumerate(wrong_values(valid, seed=len(name))):
                    yield f"{call.name}({name}) {k}", functools.partial(_run, call, name, make)
        os.chdir("/")


def _run(call: Call, name: str, make: Callable[[], Any]) -> str:
    arguments = {key: _copied(value) for key, value in call.arguments.items() if key != name}
    return outcome(lambda: _called(call.function, {**arguments, name: make()}), finite=_is_finite(call))


def _is_finite(call: Call) -> bool:
    """Return whether NaN in the result is wrong; classes that only store values, such as results, may be given it."""
    stores = inspect.isclass(call.function) and not hasattr(call.function, "__post_init__")
    return not stores and call.name not in NAN_DOCUMENTED


def _called(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a function with arguments by name, also those that are positional only or variadic."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in arguments:
            continue
        value = arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += list(value) if isinstance(value, (list, tuple)) else [value]
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(value if isinstance(value, dict) and all(isinstance(key, str) for key in value) else {})
        elif parameter.kind is parameter.POSITIONAL_ONLY or not named and _takes_positional(parameter):
            positional.append(value)
        else:
            named[parameter.name] = value
    result = function(*positional, **named)
    return list(result) if isinstance(result, types.GeneratorType) else result


def _takes_positional(parameter: inspect.Parameter) -> bool:
    return parameter.kind is parameter.POSITIONAL_OR_KEYWORD


def _copied(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def _is_importable(module: str) -> bool:
    try:
        importlib.import_module(module)
    except (ImportError, KinodynError):  # of an extra that is not installed
        return False
    return True


def _tests(module: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module))
    return [test for test in found if test.examples]


def _calls(module: str) -> list[Call]:
    """Run the examples of a module and note the first call of each public function in them."""
    noted: dict[str, Call] = {}
    public = _public_functions(module)

    def note(frame: types.FrameType, event: str, _: Any) -> None:
        function = public.get(frame.f_code) if event == "call" else None
        if function is not None and function.__qualname__ not in noted:
            values = frame.f_locals
            arguments = {
                name: _copied(values[name]) for name in inspect.signature(function).parameters if name in values
            }
            noted[function.__qualname__] = Call(f"{function.__module__}.{function.__qualname__}", function, arguments)

    runner = doctest.DocTestRunner(verbose=False)
    for test in _tests(module):
        sys.setprofile(note)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                runner.run(test, clear_globs=False)
        finally:
            sys.setprofile(None)
    return list(noted.values())


def _derived(module: str, noted: set[str]) -> Iterator[Call]:
    """Yield calls of the public functions that the examples do not call."""
    for function in _public_functions(module).values():
        name = f"{function.__module__}.{function.__qualname__}"
        if name not in noted:
            arguments = _first_valid(function, _owner(module, function))
            if arguments is not None:
                yield Call(name, function, arguments)


def _first_valid(function: Callable[..., Any], owner: type | None) -> dict[str, Any] | None:
    """Return the first arguments that are accepted, otherwise the first that were tried, None if there are none."""
    tried = None
    for arguments in valid_calls(function, owner):
        tried = tried or arguments
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _called(function, {key: _copied(value) for key, value in arguments.items()})
        except Exception:  # invalid for this robot
            continue
        return arguments
    return tried


def _owner(module: str, function: Callable[..., Any]) -> type | None:
    """Return the class of a method that needs an object."""
    if "self" not in inspect.signature(function).parameters:
        return None
    owner = getattr(importlib.import_module(module), function.__qualname__.partition(".")[0], None)
    return owner if inspect.isclass(owner) else None


def _public_functions(module: str) -> dict[types.CodeType, Callable[..., Any]]:
    """Map code to the public functions and methods of a module."""
    shown = _public_objects()
    members = [each for each in vars(importlib.import_module(module)).values() if _module_of(each) == module]
    members = [each for each in members if id(each) in shown]
    functions = [each for member in members for each in _functions(member) if _module_of(each) == module]
    made = {function: member for member in members if inspect.isclass(member) for function in _functions(member)}
    # a class is called, as `__init__` must not run twice on an object
    called = {each: made[each] if each.__name__ == "__init__" else each for each in functions if _is_public(each)}
    return {inspect.unwrap(each).__code__: function for each, function in called.items()}


def _is_public(function: Any) -> bool:
    """Return whether callers use it: hooks that the library calls have no docstring of their own."""
    return function.__name__ == "__init__" or not function.__name__.startswith("_") and bool(function.__doc__)


@functools.cache
def _public_objects() -> set[int]:
    """Return the ids of all functions and classes that the public modules list."""
    found: set[int] = set()
    waiting, seen = [kinodyn], set[str]()
    while waiting:
        module = waiting.pop()
        seen.add(module.__name__)
        for name in getattr(module, "__all__", ()):
            member = getattr(module, name)
            if inspect.ismodule(member):
                waiting += [member] if member.__name__ not in seen else []
            else:
                found.add(id(member))
    return found


def _module_of(member: Any) -> str:
    return str(getattr(member, "__module__", ""))


def _functions(member: Any) -> list[Any]:
    if inspect.isfunction(member):
        return [member] if not member.__name__.startswith("_") else []
    if inspect.isclass(member) and not member.__name__.startswith("_") and not issubclass(member, Exception):
        methods = [getattr(member, name) for name, value in vars(member).items() if isinstance(value, CALLED_BY_CLASS)]
        return [*methods, *(function for function in vars(member).values() if inspect.isfunction(function))]
    return []
