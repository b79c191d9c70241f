"""Terrains from one line of text, as on the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinodyn.argument_types import check_types
from kinodyn.errors import InputError
from kinodyn.terrain import generators
from kinodyn.terrain.files import from_file
from kinodyn.terrain.terrain import Terrain

KINDS: dict[str, Callable[..., Terrain]] = {
    "flat": generators.flat,
    "slope": generators.slope,
    "stairs": generators.stairs,
    "stones": generators.stones,
    "boxes": generators.boxes,
    "field": generators.field,
}


@check_types
def parse(text: str) -> Terrain:
    """Read a terrain from text.

    Parameters
    ----------
    text
        "KIND:VALUE,VALUE,NAME=VALUE" with the arguments of the function of that name in `kinodyn.terrain`, in order or
        by name: "stairs:0.185,0.24,10", "slope:10", "slope:10,across", "stones:0.3,0.1", "boxes:0.08,seed=3",
        "field:0.05". Or a file: "map.png:CELL,HEIGHT" (a grey image), "world.xml" (height fields of MJCF),
        "hills.stl:SCALE" (a mesh).

    Returns
    -------
    Terrain

    Examples
    --------
    >>> import kinodyn as kd
    >>> kd.terrain.parse("slope:10")
    Terrain('slope of 10 degrees along', 1 shapes)
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"a terrain must be text such as {_usage()}, got {text!r}")
    kind, _, rest = text.strip().partition(":")
    values = [part.strip() for part in rest.split(",")] if rest else []
    make = KINDS.get(kind)
    if make is None:
        if not Path(kind).suffix:
            raise InputError(f"unknown terrain {kind!r}; allowed: {_usage()}")
        if not Path(kind).is_file():
            raise InputError(f"there is no file {kind!r}; a terrain may also be {_usage()}")
        return from_file(kind, *(float(_value(text, value, float)) for value in values))
    return make(**_arguments(text, make, values))


def _arguments(text: str, make: Callable[..., Terrain], values: list[str]) -> dict[str, Any]:
    parameters = list(inspect.signature(make, eval_str=True).parameters.values())
    names = [parameter.name for parameter in parameters]
    found: dict[str, Any] = {}
    for place, value in enumerate(values):
        name, equals, after = value.partition("=")
        if not equals:
            if place >= len(names):
                raise InputError(f"{text!r} has too many values; allowed: {_signature(make)}")
            name, after = names[place], value
        if name not in names or name in found:
            raise InputError(f"{text!r}: {name!r} is unknown or given twice; allowed: {_signature(make)}")
        found[name] = _value(text, after, parameters[names.index(name)].annotation)
    missing = [p.name for p in parameters if p.default is inspect.Parameter.empty and p.name not in found]
    if missing:
        raise InputError(f"{text!r} lacks {', '.join(missing)}; allowed: {_signature(make)}")
    return found


def _value(text: str, value: str, kind: Any) -> Any:
    if kind not in (int, float):
        return value
    try:
        return kind(value)
    except ValueError as cause:
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"{text!r}: {value!r} must be {what}") from cause


def _signature(make: Callable[..., Terrain]) -> str:
    parts = []
    for parameter in inspect.signature(make).parameters.values():
        default = "" if parameter.default is inspect.Parameter.empty else f"={parameter.default}"
        parts.append(f"{parameter.name}{default}")
    return f"{make.__name__}:{','.join(parts)}" if parts else make.__name__


def _usage() -> str:
    return "; ".join(map(_signature, KINDS.values())) + "; or a file .png, .xml, .stl, .obj, .dae, .ply, .glb"
