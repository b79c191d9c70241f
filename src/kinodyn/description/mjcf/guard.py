"""Check MJCF before MuJoCo reads it: how much memory it would need, and which files it would open.

MuJoCo copies, tessellates and allocates whatever a file requests: `<replicate count="100000000">` never ends. It also
opens any file that is named.
"""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kinodyn.description.packages import is_file
from kinodyn.description.roots import Roots
from kinodyn.description.xml_tree import Node, read_xml
from kinodyn.errors import DescriptionError

MAX_ELEMENTS = 200_000  # copies counted
MAX_COPIES = 20_000  # elements made by copying: the time that MuJoCo takes grows with the square of them, or faster
MAX_ATTRIBUTES = 500  # of one element: MuJoCo compares each with all others
MAX_NUMBERS = 25_000_000  # points of a height field, pixels of a texture, entries of other tables
MAX_BYTES = 200_000_000  # of one file
MAX_MEMORY = 2**34  # bytes that a simulation may reserve
MAX_FILES = 1000
MAX_RESOLUTION = 1000  # of a built-in mesh

_COPIES = {"replicate": "count", "composite": "count", "flexcomp": "count"}
_VERTEX_ELEMENTS = 6.0  # made of each vertex of a flexcomp: a body with three joints, edges and triangles
_TABLES = {"hfield": ("nrow", "ncol"), "texture": ("width", "height"), "numeric": ("size",)}
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_MEMORY = re.compile(r"\s*([0-9.eE+]+)\s*([KMGTPE]?)\s*")
_PNG = b"\x89PNG\r\n\x1a\n"


def check_mjcf(root: Node, folder: Path, roots: Roots) -> None:
    """Raise a `DescriptionError` if a document is too large, or names a file outside of the folders of the model.

    Parameters
    ----------
    root
        The element <mujoco>.
    folder
        The folder of the document.
    roots
        The folders from which it may read.
    """
    model = _Model(folder, roots)
    model.read(root, ())
    if model.elements > MAX_ELEMENTS:
        raise root.error(
            f"makes {model.elements:.3g} elements, copies by replicate, composite, flexcomp and attach counted; "
            f"at most {MAX_ELEMENTS} are read"
        )
    if model.elements - model.written > MAX_COPIES:
        raise root.error(
            f"copies {model.elements - model.written:.3g} elements by replicate, composite, flexcomp and attach; "
            f"at most {MAX_COPIES} are read"
        )


@dataclass
class _Model:
    """What the documents read so far would make."""

    folder: Path
    roots: Roots
    elements: float = 0.0
    written: int = 0  # elements without copies
    files: int = 0
    folders: list[str] = field(default_factory=lambda: [""])  # of meshes and textures, as written
    attached: float = 0.0  # elements of the largest model that can be attached

    def read(self, root: Node, opened: tuple[Path, ...]) -> None:
        """Check one document and those that it includes; `opened` are the files that lead to it."""
        for node in root.walk():
            if node.tag == "compiler":
                self.folders += [node.attributes[name] for name in _FOLDERS if name in node.attributes]
        self.elements += self._count(root)
        for node in root.walk():
            _check_tables(node)
            for name, value in node.attributes.items():
                if name.startswith("file") and value.strip():
                    self._check_file(node, value, opened)

    def _count(self, root: Node) -> float:
        """Count elements with their copies, children before parents."""
        counts: dict[int, float] = {}
        nodes = list(root.walk())
        self.written += len(nodes)
        for node in reversed(nodes):
            own = 1.0 + (self.attached if node.tag == "attach" else 0.0)
            below = sum(counts.pop(id(child)) for child in node.children)
            counts[id(node)] = (own + below) * _copies(node)
        return counts[id(root)]

    def _check_file(self, node: Node, name: str, opened: tuple[Path, ...]) -> None:
        for path in self._places(node, name):
            if not is_file(path):
                _reject_special_file(node, path, name)
                continue
            if not self.roots.contains(path):
                raise node.error(
                    f"the file {name!r} is outside of the folders of the model; move it there, pass its folder in "
                    "packages=[...], or pass allow_outside=True if you trust the file"
                )
            _check_content(node, path, name)
            if node.tag in ("include", "model") and path.suffix.lower() in (".xml", ".mjcf", ".urdf"):
                self._read_file(node, path, opened)

    def _read_file(self, node: Node, path: Path, opened: tuple[Path, ...]) -> None:
        real = path.resolve()
        self.files += 1
        if real in opened or self.files > MAX_FILES:
            raise node.error(f"the file {path.name!r} is included by itself, or more than {MAX_FILES} files are")
        before = self.elements
        self.read(read_xml(path), (*opened, real))
        if node.tag == "model":
            self.attached = max(self.attached, self.elements - before)

    def _places(self, node: Node, name: str) -> Iterator[Path]:
        """Yield all places where MuJoCo may look for a file."""
        starts = [self.folder, *([] if node.file is None else [Path(os.path.abspath(node.file)).parent])]
        names = dict.fromkeys((name, re.split(r"[/\\]", name)[-1]))  # strippath
        yield from dict.fromkeys(
            start / below / written for start in starts for below in self.folders for written in names
        )


def _copies(node: Node) -> float:
    attribute = _COPIES.get(node.tag)
    each = _VERTEX_ELEMENTS if node.tag == "flexcomp" else 1.0
    return 1.0 if attribute is None else each * max(1.0, _product(node.attributes.get(attribute, "")))


def _check_tables(node: Node) -> None:
    """Raise if an element requests too large a table, or is one."""
    if len(node.attributes) > MAX_ATTRIBUTES:
        raise node.error(f"has {len(node.attributes)} attributes; at most {MAX_ATTRIBUTES} are read")
    params = node.attributes.get("params", "") if node.tag == "mesh" else ""
    if max(_numbers(params), default=0.0) > MAX_RESOLUTION:
        raise node.error(f"params={params!r} must be at most {MAX_RESOLUTION}")
    written = [node.attributes[name] for name in _TABLES.get(node.tag, ()) if name in node.attributes]
    if written and _product(" ".join(written)) > MAX_NUMBERS:
        raise node.error(f"requests {' x '.join(written)} numbers; at most {MAX_NUMBERS} are read")
    for name, value in node.attributes.items():
        counts = node.tag == "size" and name != "memory" or name == "nsample"
        if counts and max(_numbers(value), default=0.0) > MAX_NUMBERS:
            raise node.error(f"{name}={value!r} must be at most {MAX_NUMBERS}")
    if node.tag == "size" and _bytes(node.attributes.get("memory", "")) > MAX_MEMORY:
        raise node.error(f"memory={node.attributes['memory']!r} must be at most {MAX_MEMORY >> 30}G")


def _check_content(node: Node, path: Path, name: str) -> None:
    """Raise if a file is too large, or an image would unpack to too many pixels."""
    if path.stat().st_size > MAX_BYTES:
        raise node.error(f"the file {name!r} has {path.stat().st_size} bytes; at most {MAX_BYTES} are read")
    with open(path, "rb") as file:
        head = file.read(24)
    if head[:8] == _PNG:
        width, height = (int.from_bytes(head[k : k + 4], "big") for k in (16, 20))
        if width * height > MAX_NUMBERS:
            raise node.error(f"the image {name!r} has {width} x {height} pixels; at most {MAX_NUMBERS} are read")


def _reject_special_file(node: Node, path: Path, name: str) -> None:
    """Raise for a device or a pipe, which may be endless."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return
    if not stat.S_ISDIR(mode):
        raise node.error(f"the file {name!r} is not a regular file")


def _numbers(text: str) -> list[float]:
    """Return the numbers of an attribute; those that MuJoCo will reject count as none."""
    found = []
    for word in text.split()[:64]:
        try:
            found.append(abs(float(word)))
        except ValueError:
            continue
    return [math.inf if math.isnan(number) else number for number in found]


def _product(text: str) -> float:
    return math.prod(max(number, 1.0) for number in _numbers(text))


def _bytes(text: str) -> float:
    """Return a size such as 15M in bytes."""
    match = _MEMORY.fullmatch(text)
    if match is None:
        return 0.0
    return max(_numbers(match[1]), default=0.0) * 1024.0 ** " KMGTPE".index(match[2] or " ")


def check_file(path: Path, roots: Roots) -> None:
    """Raise if MuJoCo must not read a file; see `check_mjcf`."""
    check_root(root := read_xml(path), path)
    check_mjcf(root, Path(os.path.abspath(path)).parent, roots)


def check_root(root: Node, path: Path | None) -> None:
    """Reject other formats: MuJoCo would also read URDF here and ignore half of it."""
    if root.tag != "mujoco":
        hint = "; this looks like URDF, read it with read_urdf" if root.tag == "robot" else ""
        raise DescriptionError(f"the root element is <{root.tag}>; MJCF begins with <mujoco>{hint}", file=path)
