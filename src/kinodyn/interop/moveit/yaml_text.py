"""YAML as nested dictionaries, lists and strings, in bounded time and memory.

Values stay strings: the reader of a field knows its type, and YAML's rules make `1e-5` a string and `no` a boolean.
Nothing is recursive, because deep nesting overflows the stack of libyaml's recursive loader. An alias counts as often
as it is used, which stops files that expand to billions of nodes.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import yaml

from kinodyn.errors import InputError

Node: TypeAlias = dict[str, Any] | list[Any] | str | None

MAX_DEPTH = 50
MAX_NODES = 5_000_000
_NULLS = ("", "~", "null", "Null", "NULL")
_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map")}
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where PyYAML was built with libyaml


def parse_yaml(text: str, source: str) -> Node:
    """Parse the only document of a YAML text.

    Parameters
    ----------
    text
        The text.
    source
        What error messages call it.

    Returns
    -------
    node : dict, list, str or None

    Raises
    ------
    InputError
        If the text is not YAML, or has tags of objects, repeated keys, several documents, or too much in it.
    """
    try:
        return _Builder(source).build(_Loader(text))
    except yaml.YAMLError as cause:
        raise InputError(f"{source}: not a YAML file: {' '.join(str(cause).split())}") from cause


class _Builder:
    """Builds the tree from the parser's events."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._documents: list[Node] = []
        self._open: list[tuple[Any, str | None, int]] = []  # collections being filled, their anchors and first nodes
        self._keys: list[Any] = []  # the key that waits for its value in each open mapping
        self._anchors: dict[str, tuple[Node, int]] = {}  # complete nodes and the number of nodes in them
        self._count = 0

    def build(self, loader: Any) -> Node:
        """Return the first document, which must be the only one that is not empty."""
        try:
            while not isinstance(event := loader.get_event(), yaml.StreamEndEvent):
                self._take(event)
        finally:
            loader.dispose()
        first, *others = self._documents or [None]
        if any(other is not None for other in others):
            raise self._error("there are several documents; give one message per file")
        return first

    def _take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._check_tag(event)
            plain = event.style is None or event.style == ""
            node = None if plain and event.value in _NULLS and event.tag is None else event.value
            self._counted(1, event)
            self._complete(node, event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._check_tag(event)
            if len(self._open) >= MAX_DEPTH:
                raise self._error(f"more than {MAX_DEPTH} levels of nesting", event)
            self._counted(1, event)
            self._open.append(({} if isinstance(event, yaml.MappingStartEvent) else [], event.anchor, self._count))
            self._keys.append(None)
        elif isinstance(event, yaml.CollectionEndEvent):
            node, anchor, first = self._open.pop()
            self._keys.pop()
            self._complete(node, anchor, self._count - first + 1)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise self._error(f"the alias *{event.anchor} refers to itself, or is undefined", event)
            node, size = self._anchors[event.anchor]
            self._counted(size, event)
            self._complete(node, None, size)

    def _complete(self, node: Node, anchor: str | None, size: int) -> None:
        """Put a complete node where it belongs."""
        if anchor is not None:
            self._anchors[anchor] = node, size
        if not self._open:
            self._documents.append(node)
            return
        parent = self._open[-1][0]
        if isinstance(parent, list):
            parent.append(node)
        elif self._keys[-1] is None:
            if not isinstance(node, str) or node in parent or node == "<<":
                raise self._error(f"the key {node!r} is repeated, a merge key or not a string; keys must differ")
            self._keys[-1] = node
        else:
            parent[self._keys[-1]] = node
            self._keys[-1] = None

    def _counted(self, nodes: int, event: Any) -> None:
        self._count += nodes
        if self._count > MAX_NODES:
            raise self._error(f"more than {MAX_NODES} values, aliases included", event)

    def _check_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag not in _TAGS and event.tag != "!":
            raise self._error(f"the tag {event.tag} is not allowed; only plain values are read", event)

    def _error(self, message: str, event: Any = None) -> InputError:
        line = f" line {event.start_mark.line + 1}:" if event is not None and event.start_mark is not None else ""
        return InputError(f"{self._source}:{line} {message}")
