"""Turn xacro into URDF, only when asked: xacro evaluates expressions that the file brings along."""

from __future__ import annotations

import glob
import importlib
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from xml.sax.saxutils import escape

from kinodyn.description.packages import PackageDirs, PackageFinder
from kinodyn.description.xmlnode import Node, read_xml
from kinodyn.errors import DescriptionError

_HOW_TO_ASK = (
    "is xacro, which evaluates expressions inside the file and is not run unasked; if you trust the file, "
    "load it with kd.load(path, xacro=True)"
)

# xacro and xacrodoc keep their state in module variables.
_one_at_a_time = threading.Lock()


def expand_xacro(
    path: str | os.PathLike[str],
    *,
    arguments: Mapping[str, object] | None = None,
    package_dirs: PackageDirs = (),
) -> str:
    """Expand a xacro file into URDF text. Needs the `kinodyn[xacro]` extra.

    xacro evaluates Python expressions from the file: only expand files that you trust.

    Parameters
    ----------
    path
        The xacro file; names of included files are relative to it.
    arguments
        Values for its `<xacro:arg>` elements.
    package_dirs
        Folders in which `$(find package)` looks first, as for `read_urdf`.
    """
    xacrodoc = _import_xacrodoc()
    file = Path(os.path.abspath(path))
    name = escape(read_xml(file).attributes.get("name", file.name.split(".")[0]), {'"': "&quot;"})
    # Included rather than read as text: only then are the names of further includes relative to the file.
    include = escape(glob.escape(str(file)), {'"': "&quot;"})
    values = {key: str(value) for key, value in (arguments or {}).items()}
    finder = PackageFinder(file, package_dirs)
    with _one_at_a_time:
        xacrodoc.packages.reset()
        xacrodoc.packages.update_package_cache(finder.given_packages())
        try:
            return _expand(xacrodoc, file, include, name, values, finder)
        finally:
            xacrodoc.packages.reset()


def _expand(
    xacrodoc: ModuleType, file: Path, include: str, name: str, values: dict[str, str], finder: PackageFinder
) -> str:
    """Expand, and each time a package is missing tell xacrodoc where it is and start again."""
    told: set[str] = set()
    while True:
        try:
            document = xacrodoc.XacroDoc.from_includes([include], name=name, subargs=values, resolve_packages=False)
            return str(document.dom.toprettyxml(indent="  "))
        except Exception as fault:  # the expressions of a xacro file can raise anything
            package = _missing_package(xacrodoc, fault)
            folder = finder.package(package) if package and package not in told else None
            if package is None or folder is None:
                message = f"xacro could not be expanded: {fault}"
                hint = f"; say where package {package!r} is with package_dirs=[...]" if package else ""
                raise DescriptionError(message + hint, file=file) from fault
            told.add(package)
            xacrodoc.packages.update_package_cache({package: folder})


def xacro_refused(file: Path | None, node: Node | None = None) -> DescriptionError:
    """Make the error for xacro that was not asked for; it says how to ask."""
    line, element = (node.line, node.label) if node else (None, None)
    return DescriptionError(_HOW_TO_ASK, file=file, line=line, element=element)


def find_xacro(root: Node) -> Node | None:
    """Return the first element of the xacro language, None if there is none."""
    prefixes = {"xacro"}
    prefixes.update(key[6:] for key, uri in root.attributes.items() if key.startswith("xmlns:") and "xacro" in uri)
    for node in _every(root):
        if ":" in node.tag and node.tag.partition(":")[0] in prefixes:
            return node
    return None


def _every(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _missing_package(xacrodoc: ModuleType, fault: BaseException | None) -> str | None:
    """Return the package whose absence is behind an exception of xacro, None if it has another cause."""
    while fault is not None:
        if isinstance(fault, xacrodoc.packages.PackageNotFoundError):
            return str(fault.args[0])
        fault = fault.__cause__ or fault.__context__
    return None


def _import_xacrodoc() -> ModuleType:
    try:
        return importlib.import_module("xacrodoc")
    except ImportError as fault:
        message = "reading xacro needs the package xacrodoc; install it with: pip install 'kinodyn[xacro]'"
        raise DescriptionError(message) from fault
