"""The one door to XML: a tree of elements that know their file and line, and nothing that can reach out of the file.

Built on the standard library's expat, which counts lines exactly in files of any length. A document type declaration
is refused where it starts, so no entity is ever defined, expanded or fetched.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from kinodyn.errors import DescriptionError, InputError

# Robot files are some ten elements deep and their text is a name at most; the bounds keep hostile files small.
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

    @property
    def label(self) -> str:
        """Name the element for a message, from its nearest named ancestor: `joint name="elbow"/limit`."""
        path, node = "", self
        while "name" not in node.attributes and node.parent is not None and node.parent.parent is not None:
            path, node = f"/{node.tag}{path}", node.parent
        name = node.attributes.get("name")
        return node.tag + (f' name="{name}"' if name else "") + path

    def error(self, message: str) -> DescriptionError:
        """Make the error that points at this element."""
        return DescriptionError(message, file=self.file, line=self.line, element=self.label)

    def all(self, tag: str) -> Iterator[Node]:
        """Iterate over the direct children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def child(self, tag: str) -> Node | None:
        """Return the only child with this tag, None if there is none; two are an error."""
        found = None
        for child in self.children:
            if child.tag == tag:
                if found is not None:
                    raise child.error(f"<{tag}> is given again (first on line {found.line}); keep one")
                found = child
        return found

    def need(self, tag: str) -> Node:
        """Return the only child with this tag; none is an error."""
        found = self.child(tag)
        if found is None:
            raise self.error(f"has no <{tag}>; add one")
        return found

    def word(self, attribute: str) -> str:
        """Return an attribute that must be there and not be blank."""
        value = self.attributes.get(attribute)
        if value is None:
            raise self.error(f"has no attribute {attribute!r}; add it")
        if not value.strip():
            raise self.error(f"attribute {attribute!r} is empty; give it a value")
        return value

    def number(self, attribute: str, default: float | None = None, *, finite: bool = True) -> float:
        """Return an attribute as one number; without it the default, or an error when that is None."""
        if default is not None and attribute not in self.attributes:
            return default
        return self.numbers(attribute, 1, finite=finite)[0]

    def numbers(
        self, attribute: str, count: int, default: tuple[float, ...] | None = None, *, finite: bool = True
    ) -> tuple[float, ...]:
        """Return an attribute as `count` numbers; without it the default, or an error when that is None."""
        if default is not None and attribute not in self.attributes:
            return default
        values = self.any_numbers(attribute, finite=finite)
        if len(values) != count:
            wanted = "1 number" if count == 1 else f"{count} numbers"
            raise self.error(f"{attribute}={self.attributes[attribute]!r} has {len(values)}; write {wanted}")
        return values

    def any_numbers(self, attribute: str, *, finite: bool = True) -> tuple[float, ...]:
        """Return an attribute as however many numbers it has, one at least."""
        text = self.word(attribute)
        try:
            # float() knows only the decimal point, in every locale; but it also takes digit groups (1_000) and digits
            # of other scripts, which no robot file means.
            if "_" in text or not text.isascii():
                raise ValueError(text)
            values = tuple(map(float, text.split()))
        except ValueError:
            raise self.error(f"{attribute}={text!r} is not made of numbers such as 0.5 or -1e-3") from None
        if not all(map(math.isfinite, values)) and (finite or any(map(math.isnan, values))):
            raise self.error(f"{attribute}={text!r} is not finite; write finite numbers")
        return values


def parse_xml(text: str | bytes, file: Path | None = None) -> Node:
    """Parse a whole XML document and return its root; anything that is not plain XML is a `DescriptionError`."""
    if not isinstance(text, (str, bytes)):
        raise InputError(f"text is {type(text).__name__}; give the XML document as str or bytes")
    if not text.strip():
        raise DescriptionError("is empty; a robot description was expected", file=file)
    builder = _Builder(file)
    try:
        # Text was decoded already, so whatever encoding it declares no longer holds.
        data, encoding = (text.encode("utf-8"), "utf-8") if isinstance(text, str) else (text, None)
        return builder.build(data, encoding)
    except DescriptionError:
        raise
    except expat.ExpatError as fault:
        said = f"{expat.ErrorString(fault.code)}, column {fault.offset + 1}"
        raise DescriptionError(f"is not XML ({said})", file=file, line=fault.lineno) from fault
    except (LookupError, ValueError) as fault:
        raise DescriptionError(f"is not XML: its characters cannot be decoded ({fault})", file=file) from fault


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
        # expat has refused a document with no root or with two
        root = self._top.children[0]
        root.parent = None
        return root

    def _doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        message = "has a document type declaration; entities and DTDs are not read: remove <!DOCTYPE ...>"
        raise DescriptionError(message, file=self._file, line=self._parser.CurrentLineNumber)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1]
        node = Node(tag, attributes, self._parser.CurrentLineNumber, self._file, parent)
        if len(self._open) > MAX_DEPTH:
            raise DescriptionError(f"has elements nested deeper than {MAX_DEPTH}", file=self._file, line=node.line)
        parent.children.append(node)
        self._open.append(node)

    def _end(self, tag: str) -> None:
        self._open.pop()

    def _characters(self, text: str) -> None:
        node = self._open[-1]
        if len(node.text) < MAX_TEXT:
            node.text += text
