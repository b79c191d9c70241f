"""An XML document that is edited in place: everything else stays as written, comments and whitespace included."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from kinodyn.description.xml_tree import Node, parse_xml
from kinodyn.errors import DescriptionError

_DECLARED = re.compile(rb"""^<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_START_TAG = re.compile(rb"""<[^\s/>]+(?:[^>"']|"[^"]*"|'[^']*')*>""")
_ATTRIBUTE = re.compile(rb"""\s+([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')""")

_END_OF_LINE = re.compile(rb"[ \t]*\r?\n")

Edit = tuple[int, int, bytes]  # first byte, byte after the last, what replaces them


class Document:
    """An XML document and the edits of it. `root` always shows the edited state; lines are those of the original.

    Parameters
    ----------
    data
        The document.
    file
        Its file, for messages.
    """

    def __init__(self, data: bytes, file: Path | None = None) -> None:
        self._encoding = _encoding(data)
        try:
            self._data = data.decode(self._encoding).encode()
        except (LookupError, UnicodeDecodeError) as cause:
            raise DescriptionError(f"is not XML: it cannot be decoded ({cause})", file=file) from cause
        self.root = parse_xml(self._data.decode(), file)
        self._changed: set[Node] = set()
        self._removed: set[Node] = set()
        self._added: dict[Node, list[Node]] = {}

    @property
    def edited(self) -> bool:
        """Whether there are edits."""
        return bool(self._changed or self._removed or self._added)

    def set(self, node: Node, attribute: str, value: str | None) -> None:
        """Set an attribute, or remove it if the value is None."""
        if value is None:
            node.attributes.pop(attribute, None)
        else:
            node.attributes[attribute] = value
        if node.start >= 0:
            self._changed.add(node)

    def remove(self, node: Node) -> None:
        """Remove an element with its content."""
        assert node.parent is not None, "the root cannot be removed"
        node.parent.children.remove(node)
        added = self._added.get(node.parent, [])
        if node in added:
            added.remove(node)
        else:
            self._removed.add(node)

    def add(self, parent: Node, tag: str, attributes: dict[str, str]) -> Node:
        """Add an element at the end of another one; return it."""
        node = Node(tag, attributes, parent.line, parent.file, parent)
        parent.children.append(node)
        if parent.start >= 0:
            self._added.setdefault(parent, []).append(node)
        return node

    def text(self) -> str:
        """Return the edited document."""
        parts, place = [], 0
        for start, stop, replacement in sorted(self._edits()):
            parts += [self._data[place:start], replacement]
            place = stop
        return b"".join([*parts, self._data[place:]]).decode()

    def encoded(self) -> bytes:
        """Return the edited document in the encoding of the original."""
        return self.text().encode(self._encoding)

    def _edits(self) -> Iterator[Edit]:
        gone = [(node.start, self._stop(node)) for node in self._removed]
        for node in self._removed:
            if not _inside(node, gone):
                yield self._removal(node)
        for node in self._changed | set(self._added):
            if not _inside(node, gone) and (node.start, self._stop(node)) not in gone:
                yield from self._changes(node)

    def _changes(self, node: Node) -> Iterator[Edit]:
        """Yield the edits of a start tag and of what is added inside the element."""
        tag = self._start_tag(node)
        head = _with_attributes(tag, node.attributes) if node in self._changed else tag
        added = self._added.get(node, [])
        if not added:
            yield node.start, node.start + len(tag), head
            return
        indent = self._indent(node)
        lines = b"".join(b"\n" + indent + b"  " + line for child in added for line in _lines(child))
        if tag.endswith(b"/>"):
            closing = b"\n" + indent + b"</" + node.tag.encode() + b">"
            yield node.start, node.start + len(tag), head[:-2].rstrip() + b">" + lines + closing
            return
        yield node.start, node.start + len(tag), head
        before = self._without_blanks(node.end, b" \t\r\n")
        rest = self._data[before : node.end]
        yield before, node.end, lines + (rest if b"\n" in rest else b"\n" + indent)

    def _removal(self, node: Node) -> Edit:
        """Remove an element and, if it has lines of its own, those lines."""
        start, stop = node.start, self._stop(node)
        before = self._without_blanks(start, b" \t")
        after = _END_OF_LINE.match(self._data, stop)
        if after is not None and self._data[before - 1 : before] == b"\n":
            return before, after.end(), b""
        return start, stop, b""

    def _without_blanks(self, place: int, blanks: bytes) -> int:
        """Return the position after the last non-blank byte before `place`."""
        while place > 0 and self._data[place - 1] in blanks:
            place -= 1
        return place

    def _start_tag(self, node: Node) -> bytes:
        match = _START_TAG.match(self._data, node.start)
        assert match is not None, "expat has accepted the document"
        return match[0]

    def _stop(self, node: Node) -> int:
        if self._start_tag(node).endswith(b"/>"):
            return node.start + len(self._start_tag(node))
        return self._data.index(b">", node.end) + 1

    def _indent(self, node: Node) -> bytes:
        line = self._data[self._data.rfind(b"\n", 0, node.start) + 1 : node.start]
        return line if not line.strip() else b""


def _encoding(data: bytes) -> str:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    match = _DECLARED.match(data)
    return "utf-8" if match is None else match[1].decode()


def _inside(node: Node, ranges: list[tuple[int, int]]) -> bool:
    return any(start < node.start < stop for start, stop in ranges)


def _with_attributes(tag: bytes, attributes: dict[str, str]) -> bytes:
    """Return a start tag with these attributes: values that are the same keep their place and their spelling."""
    written = set()

    def rewrite(match: re.Match[bytes]) -> bytes:
        name = match[1].decode()
        written.add(name)
        if name not in attributes:
            return b""
        value = _quoted(attributes[name])
        if _same(match[2], attributes[name]):
            return match[0]
        return match[0][: -len(match[2])] + value

    head = _ATTRIBUTE.sub(rewrite, tag)
    new = b"".join(
        b" " + name.encode() + b"=" + _quoted(attributes[name]) for name in attributes if name not in written
    )
    end = b"/>" if head.endswith(b"/>") else b">"
    return head if not new else head[: -len(end)].rstrip() + new + end


def _quoted(value: str) -> bytes:
    return quoteattr(value).encode()


def _same(quoted: bytes, value: str) -> bool:
    return quoted[1:-1] in (value.encode(), escape(value).encode(), _quoted(value)[1:-1])


def _lines(node: Node) -> Iterator[bytes]:
    """Write an element that is not in the document, one line for each element."""
    inside = "".join(f" {name}={quoteattr(value)}" for name, value in node.attributes.items())
    if not node.children:
        yield f"<{node.tag}{inside}/>".encode()
        return
    yield f"<{node.tag}{inside}>".encode()
    for child in node.children:
        yield from (b"  " + line for line in _lines(child))
    yield f"</{node.tag}>".encode()
