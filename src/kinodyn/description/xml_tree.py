"""XML as a tree of elements with file and line; all readers of XML files use it.

Built on the standard library's expat, which counts lines exactly. A document type declaration is rejected where it
starts, so that no entity is ever defined, expanded or fetched.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from kinodyn.description.types import MAX_NUMBER
from kinodyn.errors import DescriptionError, InputError

# Robot files are some ten elements deep with hardly any text; the bounds protect against hostile files.
MAX_DEPTH = 256
MAX_TEXT = 4096


@dataclass(slots=True, eq=False)
class Node:
    """One XML element. Names keep their prefix as written: `xacro:if`."""

    tag: str
    attributes: dict[str, str]
    line: int
    file: Path | None
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    text: str = ""
    start: int = -1  # byte of its "<" in the document as UTF-8; -1 for an element that is not in the document
    end: int = -1  # byte of the "<" of its end tag; for an element without one, the byte after it

    @property
    def label(self) -> str:
        """Name the element for a message, from its nearest named ancestor: `joint name="elbow"/limit`."""
        path, node = "", self
        while "name" not in node.attributes and node.parent is not None and node.parent.parent is not None:
            path, node = f"/{node.tag}{path}", node.parent
        name = node.attributes.get("name")
        return node.tag + (f' name="{name}"' if name else "") + path

    def error(self, message: str) -> DescriptionError:
        """Create the error that points at this element."""
        return DescriptionError(message, file=self.file, line=self.line, element=self.label)

    def walk(self) -> Iterator[Node]:
        """Iterate over the element and all below it, in document order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def all(self, tag: str) -> Iterator[Node]:
        """Iterate over the direct children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def child(self, tag: str) -> Node | None:
        """Return the only child with this tag, None if there is none; several are an error."""
        found = None
        for child in self.children:
            if child.tag == tag:
                if found is not None:
                    raise child.error(f"<{tag}> is repeated (first on line {found.line}); keep one")
                found = child
        return found

    def need(self, tag: str) -> Node:
        """Return the only child with this tag; none or several are an error."""
        found = self.child(tag)
        if found is None:
            raise self.error(f"has no <{tag}>; add one")
        return found

    def word(self, attribute: str) -> str:
        """Return an attribute, which must exist and not be blank."""
        value = self.attributes.get(attribute)
        if value is None:
            raise self.error(f"has no attribute {attribute!r}; add it")
        if not value.strip():
            raise self.error(f"attribute {attribute!r} is empty; give it a value")
        return value

    def number(self, attribute: str, default: float | None = None, *, finite: bool = True) -> float:
        """Return an attribute as one number; if it is missing the default, or an error if that is None."""
        if default is not None and attribute not in self.attributes:
            return default
        return self.numbers(attribute, 1, finite=finite)[0]

    def numbers(
        self, attribute: str, count: int, default: tuple[float, ...] | None = None, *, finite: bool = True
    ) -> tuple[float, ...]:
        """Return an attribute as `count` numbers; if it is missing the default, or an error if that is None."""
        if default is not None and attribute not in self.attributes:
            return default
        values = self.any_numbers(attribute, finite=finite)
        if len(values) != count:
            expected = "1 number" if count == 1 else f"{count} numbers"
            raise self.error(f"{attribute}={self.attributes[attribute]!r} has {len(values)}; give {expected}")
        return values

    def any_numbers(self, attribute: str, *, finite: bool = True) -> tuple[float, ...]:
        """Return an attribute as a list of at least one number."""
        text = self.word(attribute)
        try:
            # float() is independent of the locale, but also accepts 1_000 and digits of other scripts.
            if "_" in text or not text.isascii():
                raise ValueError(text)
            values = tuple(map(float, text.split()))
        except ValueError:
            raise self.error(f"{attribute}={text!r} is not a list of numbers such as 0.5 or -1e-3") from None
        if not all(map(math.isfinite, values)) and (finite or any(map(math.isnan, values))):
            raise self.error(f"{attribute}={text!r} is not finite; give finite numbers")
        if finite and any(abs(value) > MAX_NUMBER for value in values):
            raise self.error(f"{attribute}={text!r} is above {MAX_NUMBER:g}, the largest number of a description")
        return values


def parse_xml(text: str | bytes, file: Path | None = None) -> Node:
    """Parse an XML document and return its root; raise a `DescriptionError` if it is not plain XML."""
    if not isinstance(text, (str, bytes)):
        raise InputError(f"text must be the XML document as str or bytes, got {type(text).__name__}")
    if not text.strip():
        raise DescriptionError("is empty; it must be a robot description", file=file)
    builder = _Builder(file)
    try:
        # A str was decoded already, so the encoding that it declares no longer applies.
        data, encoding = (text.encode("utf-8"), "utf-8") if isinstance(text, str) else (text, None)
        return builder.build(data, encoding)
    except DescriptionError:
        raise
    except expat.ExpatError as fault:
        said = f"{expat.ErrorString(fault.code)}, column {fault.offset + 1}"
        raise DescriptionError(f"is not XML ({said})", file=file, line=fault.lineno) from fault
    except (LookupError, ValueError) as fault:
        raise DescriptionError(f"is not XML: it cannot be decoded ({fault})", file=file) from fault


def read_xml(path: Path) -> Node:
    """Read and parse an XML file."""
    try:
        data = path.read_bytes()
    except OSError as fault:
        reason = "does not exist" if isinstance(fault, FileNotFoundError) else f"cannot be read ({fault.strerror})"
        raise DescriptionError(f"{reason}; check the path", file=path) from fault
    return parse_xml(data, path)


class _Builder:
    """Builds the tree from expat's events."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._top = Node("", {}, 0, file)
        self._open = [self._top]

    def build(self, data: bytes, encoding: str | None) -> Node:
        self._parser = expat.ParserCreate(encoding)
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.Parse(data, True)
        # expat has rejected documents without a root or with two
        root = self._top.children[0]
        root.parent = None
        return root

    def _doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        message = "has a document type declaration, which is not supported; remove <!DOCTYPE ...>"
        raise DescriptionError(message, file=self._file, line=self._parser.CurrentLineNumber)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1]
        node = Node(tag, attributes, self._parser.CurrentLineNumber, self._file, parent)
        node.start = self._parser.CurrentByteIndex
        if len(self._open) > MAX_DEPTH:
            raise DescriptionError(f"has elements nested deeper than {MAX_DEPTH}", file=self._file, line=node.line)
        parent.children.append(node)
        self._open.append(node)

    def _end(self, tag: str) -> None:
        self._open.pop().end = self._parser.CurrentByteIndex

    def _characters(self, text: str) -> None:
        node = self._open[-1]
        if len(node.text) < MAX_TEXT:
            node.text += text
