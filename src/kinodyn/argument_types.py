"""A decorator for public functions and classes: arguments must have the types that the annotations say."""

from __future__ import annotations

import ast
import collections.abc
import functools
import importlib
import inspect
import os
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from kinodyn.errors import InputError

Target = TypeVar("Target", bound=Callable[..., object])

MAX_INTEGER = 2**63  # as NumPy and the core store them
SIMPLE = (bool, int, float, complex, str, bytes, type(None))  # values that an error shows as they are
MAX_ITEMS = 4  # of a list that an error shows
MAX_MEMBERS = 2  # of a protocol that an error lists; of others it gives the name


@dataclass(frozen=True, slots=True)
class Kind:
    """What an annotation allows: a test, the words for it in an error, and types whose values all pass the test."""

    fits: Callable[[Any], bool]
    described: str
    types: frozenset[type] = frozenset()


_EVALUATE: dict[Callable[..., Any], Callable[[], None]] = {}  # of each checked function
# Arrays are the usual arguments that are not checked.
ANYTHING = Kind(lambda value: True, "anything", frozenset((np.ndarray, type(None))))


def check_types(target: Target) -> Target:
    """Raise `InputError` if an argument of a function, or of a class, has another type than its annotation says.

    Checked are classes, protocols, strings, numbers, flags, functions, string literals, and lists, mappings and unions
    of these. Values, and everything that may be an array, are left to `kinodyn.checks`. Annotations are evaluated at
    the first call.

    Parameters
    ----------
    target
        A function, or a class; of a class `__init__` is checked.

    Returns
    -------
    target
        The function with the check, or the class itself.

    Examples
    --------
    >>> @check_types
    ... def repeated(text: str, times: int = 2) -> str:
    ...     return text * times
    >>> repeated("ab")
    'abab'
    >>> repeated(5)
    Traceback (most recent call last):
    kinodyn.errors.InputError: text must be a string, got 5
    """
    if isinstance(target, type):
        target.__init__ = _checked(target.__init__)  # type: ignore[misc]
        return target
    return typing.cast(Target, _checked(target))


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    tests: _Tests | None = None

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        nonlocal tests
        if tests is None:
            tests = _Tests(function)
        for value, kind in zip(args, tests.by_position):  # noqa: B905, as strict=False takes longer than the checks
            if type(value) not in kind.types and not kind.fits(value):
                tests.refuse(args, kwargs)
        for name, value in kwargs.items():
            kind = tests.by_keyword.get(name, ANYTHING)
            if type(value) not in kind.types and not kind.fits(value):
                tests.refuse(args, kwargs)
        return function(*args, **kwargs)

    def evaluate() -> None:
        nonlocal tests
        tests = tests or _Tests(function)

    _EVALUATE[checked] = evaluate
    return checked


def evaluate_annotations(*functions: Callable[..., Any]) -> None:
    """Evaluate the annotations of checked functions now: at the first call it takes a millisecond or two.

    Parameters
    ----------
    *functions
        Functions or methods; those without `check_types` have nothing to evaluate.
    """
    for function in functions:
        if function in _EVALUATE:
            _EVALUATE[function]()


class _Tests:
    """The tests of a function's arguments; `ANYTHING` for a position, nothing for a keyword, that is not checked."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.kinds = _kinds(function)
        self.by_position: list[Kind] = []
        self.by_keyword: dict[str, Kind] = {}
        self.positional: list[str] = []
        for parameter in inspect.signature(function).parameters.values():
            kind = self.kinds.get(parameter.name)
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                self.positional.append(parameter.name)
                self.by_position.append(kind or ANYTHING)
            if parameter.kind is not parameter.POSITIONAL_ONLY and kind is not None:
                self.by_keyword[parameter.name] = kind

    def refuse(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise for the first argument, in the order of the signature, that does not fit."""
        given = dict(zip(self.positional, args, strict=False))
        given |= {name: value for name, value in kwargs.items() if name in self.by_keyword}
        for name, kind in self.kinds.items():
            if name in given and not kind.fits(given[name]):
                raise InputError(f"{name} must be {kind.described}, got {_shown(given[name])}")


def _shown(value: object, depth: int = 0) -> str:
    """Return a value as an error shows it: of objects the class, of lists the first items."""
    if isinstance(value, int) and not -MAX_INTEGER <= value < MAX_INTEGER:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, SIMPLE):
        return repr(value)
    if not isinstance(value, list | tuple | dict) or depth > 1:
        return type(value).__name__
    items = [_shown(each, depth + 1) for each in list(value)[:MAX_ITEMS]]
    if isinstance(value, dict):
        items = [f"{key}: {_shown(value[name], depth + 1)}" for key, name in zip(items, value, strict=False)]
    more = ["..."] if len(value) > MAX_ITEMS else []
    text = ", ".join([*items, *more])
    return f"{{{text}}}" if isinstance(value, dict) else f"[{text}]"


def _kinds(function: Callable[..., Any]) -> dict[str, Kind]:
    """Return what each parameter allows whose annotation can be checked; `*args` and `**kwargs` are not."""
    names, found = _Names(function), {}
    for parameter in inspect.signature(function).parameters.values():
        kind = kind_of(names.evaluate(parameter.annotation))
        if kind is not None and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            found[parameter.name] = kind
    return found


class _Names(dict[str, Any]):
    """The names that annotations of a function use, also those imported for type checkers only."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self._module = inspect.unwrap(function).__globals__
        self._imports: dict[str, tuple[str, str]] | None = None

    def evaluate(self, annotation: Any) -> Any:
        """Return the type that an annotation means, `Any` if that cannot be found out."""
        if not isinstance(annotation, str):
            return annotation
        try:
            return eval(annotation, self._module, self)
        except (NameError, AttributeError, TypeError, ImportError, SyntaxError):
            return Any

    def __missing__(self, name: str) -> Any:
        if name in self._module:
            return self._module[name]
        if self._imports is None:
            self._imports = _typing_imports(self._module)
        if name not in self._imports:
            raise KeyError(name)
        module, member = self._imports[name]
        # other packages are not imported for this: of a class that nobody imported there are no objects
        if module.partition(".")[0] == "kinodyn":
            importlib.import_module(module)
        self[name] = getattr(sys.modules[module], member) if module in sys.modules else Any
        return self[name]


def _typing_imports(module: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return what a module imports below `if TYPE_CHECKING:`, name -> (module, member)."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module["__name__"]]))
    except (OSError, KeyError):  # no source is there
        return {}
    blocks = [node.body for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for body in blocks for node in body if isinstance(node, ast.ImportFrom)]
    return {each.asname or each.name: (node.module or "", each.name) for node in imports for each in node.names}


def kind_of(hint: Any) -> Kind | None:
    """Return what a type allows, None if everything is allowed or the type is not checked."""
    if hint is None or hint is type(None):
        return Kind(lambda value: value is None, "None", frozenset((type(None),)))
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments)
    if origin is typing.Literal:
        return _literal(arguments)
    if origin is collections.abc.Callable or hint is Callable:
        return Kind(callable, "a function")
    if origin is os.PathLike:
        return Kind(lambda value: isinstance(value, os.PathLike), "a path")
    if origin is tuple or inspect.isclass(origin) and issubclass(origin, Iterable):
        return _container(origin, arguments)
    if not inspect.isclass(hint) or hint in _NOT_CHECKED:
        return None
    return _protocol(hint) if getattr(hint, "_is_protocol", False) else _instance(hint)


def _is_number(value: object) -> bool:
    """Return whether a value is one real number; NaN counts, as the checks of values name it."""
    if type(value) is float:
        return True
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 2**1000
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return array.shape == () and array.dtype.kind in "iuf"


def _is_integer(value: object) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and -MAX_INTEGER <= int(typing.cast(int, value)) < MAX_INTEGER


_PLAIN = {
    str: Kind(lambda value: isinstance(value, str), "a string", frozenset((str,))),
    bytes: Kind(lambda value: isinstance(value, bytes), "bytes", frozenset((bytes,))),
    bool: Kind(lambda value: isinstance(value, bool | np.bool_), "True or False", frozenset((bool, np.bool_))),
    float: Kind(_is_number, "a number", frozenset((float, np.float64))),
    int: Kind(_is_integer, "an integer"),
}
_PATH = Kind(lambda value: isinstance(value, str | os.PathLike) and "\0" not in str(value), "a string or path")
_COLLECTIONS = frozenset((list, tuple, set, frozenset))
_NOT_CHECKED = (inspect.Parameter.empty, Any, object, np.ndarray, complex)


def _union(arguments: tuple[Any, ...]) -> Kind | None:
    paths = [_PATH] if str in arguments and os.PathLike[str] in arguments else []
    rest = [each for each in arguments if not paths or each not in (str, os.PathLike[str])]
    kinds = [*paths, *(kind_of(each) for argument in rest for each in _alternatives(argument))]
    known = [kind for kind in kinds if kind is not None]
    if len(known) < len(kinds):
        return None
    tests = tuple(kind.fits for kind in known)
    words = list(dict.fromkeys(kind.described for kind in known))
    types = frozenset().union(*(kind.types for kind in known))
    return Kind(lambda value: any(fits(value) for fits in tests), _either(words), types)


def _alternatives(hint: Any) -> list[Any]:
    """Return the single values of a literal, so that an error lists them as it does types."""
    return (
        [typing.Literal[each] for each in typing.get_args(hint)]
        if typing.get_origin(hint) is typing.Literal
        else [hint]
    )


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _literal(values: tuple[Any, ...]) -> Kind:
    shown = [f'"{value}"' if isinstance(value, str) else repr(value) for value in values]
    kinds = tuple(type(value) for value in values)
    return Kind(lambda value: isinstance(value, kinds) and value in values, _either(shown))


def _instance(kind: type) -> Kind:
    return Kind(lambda value: isinstance(value, kind), _with_article(_public_name(kind)), frozenset((kind,)))


def _protocol(protocol: type) -> Kind:
    """Return the kind of objects with the methods and attributes of a protocol."""
    bases = [base for base in protocol.__mro__ if getattr(base, "_is_protocol", False) and base is not typing.Protocol]
    listed = {name for base in bases for name in (*vars(base), *inspect.get_annotations(base))}
    wanted = tuple(sorted(name for name in listed if not name.startswith("_") or name == "__call__"))
    fits = lambda value: not isinstance(value, type) and all(hasattr(value, name) for name in wanted)  # noqa: E731
    few = f"an object with {' and '.join(wanted)}"
    return Kind(fits, few if len(wanted) <= MAX_MEMBERS else f"an object with the protocol {_public_name(protocol)}")


def _public_name(kind: type) -> str:
    """Return the name by which users import a class: that of the outermost package which lists it."""
    parts = kind.__module__.split(".")
    packages = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
    listed = [each for each in packages if kind.__name__ in getattr(sys.modules.get(each), "__all__", ())]
    return f"{listed[0]}.{kind.__name__}" if listed else kind.__name__


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIO' else 'a'} {name}"


def _container(origin: Any, arguments: tuple[Any, ...]) -> Kind | None:
    """Return the kind of a mapping, or of a list, tuple or set; arrays of numbers are not checked."""
    if issubclass(origin, Mapping):
        return _mapping(*arguments)
    if origin is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        return _fixed_tuple(arguments)
    if issubclass(origin, np.ndarray) or issubclass(origin, Iterator):
        return None
    item = kind_of(arguments[0])
    if item is None or arguments[0] in (float, int):
        return None
    one_pass = origin in (collections.abc.Iterable, collections.abc.Collection)

    def fits(value: object) -> bool:
        if type(value) in _COLLECTIONS:  # without the tests of abstract base classes, which are slow
            return _all_fit(item, typing.cast("Collection[object]", value))
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        if isinstance(value, Iterator):  # which a look would use up
            return one_pass
        return _all_fit(item, value)

    return Kind(fits, f"a list of {_plural(arguments[0], item)}")


def _plural(hint: Any, kind: Kind) -> str:
    if hint is str:
        return "strings"
    return f"{_public_name(hint)} objects" if inspect.isclass(hint) else f"items, each {kind.described}"


def _fixed_tuple(arguments: tuple[Any, ...]) -> Kind | None:
    """Return the kind of a tuple of a given length, for which lists and arrays are taken too."""
    tests = [kind.fits for each in arguments if (kind := kind_of(each)) is not None]
    if len(tests) < len(arguments):
        return None

    def fits(value: object) -> bool:
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if not isinstance(value, list | tuple) or len(value) != len(tests):
            return False
        return all(test(each) for test, each in zip(tests, value, strict=True))

    return Kind(fits, f"{len(tests)} numbers" if set(arguments) <= {float, int} else f"a tuple of {len(tests)}")


def _all_fit(kind: Kind, values: Iterable[object]) -> bool:
    for value in values:  # noqa: SIM110, as a generator takes twice the time
        if type(value) not in kind.types and not kind.fits(value):
            return False
    return True


def _mapping(key: Any, value: Any) -> Kind:
    keys, values = kind_of(key), kind_of(value)

    def fits(given: Any) -> bool:
        if type(given) is not dict and not isinstance(given, Mapping):
            return False
        return (keys is None or _all_fit(keys, given)) and (values is None or _all_fit(values, given.values()))

    described = " with strings as keys" if key is str else ""
    return Kind(fits, f"a mapping{described}" + (f", each value {values.described}" if values is not None else ""))
