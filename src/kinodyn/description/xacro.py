"""Expand xacro to URDF, only on request: xacro evaluates expressions from the file."""

from __future__ import annotations

import glob
import importlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from xml.sax.saxutils import escape

from kinodyn.description.packages import PackageDirs, PackageFinder
from kinodyn.description.xml_tree import Node, read_xml
from kinodyn.errors import DescriptionError

_NOT_ALLOWED = (
    "is xacro, which evaluates expressions from the file and is not run by default; if you trust the file, "
    "load it with kd.load(path, xacro=True)"
)

# xacro and xacrodoc keep their state in module variables, so that only one expansion may run at a time.
_lock = threading.Lock()


def expand_xacro(
    path: str | os.PathLike[str],
    *,
    arguments: Mapping[str, object] | None = None,
    packages: PackageDirs = (),
) -> str:
    """Expand a xacro file to URDF text. Requires the `kinodyn[xacro]` extra.

    xacro evaluates Python expressions from the file: only expand files that you trust.

    Parameters
    ----------
    path
        The xacro file; included files are relative to it.
    arguments
        Values for its `<xacro:arg>` elements.
    packages
        Folders that `$(find package)` searches first, as for `read_urdf`.

    Returns
    -------
    text : str
    """
    xacrodoc = _import_xacrodoc()
    file = Path(os.path.abspath(path))
    name = escape(read_xml(file).attributes.get("name", file.name.split(".")[0]), {'"': "&quot;"})
    # Included rather than read as text, because only then are nested includes relative to the file.
    include = escape(glob.escape(str(file)), {'"': "&quot;"})
    values = {key: str(value) for key, value in (arguments or {}).items()}
    finder = PackageFinder(file, packages)
    with _lock:
        xacrodoc.packages.reset()
        xacrodoc.packages.update_package_cache(finder.given_packages())
        try:
            return _expand(xacrodoc, file, include, name, values, finder)
        finally:
            xacrodoc.packages.reset()


def _expand(
    xacrodoc: ModuleType, file: Path, include: str, name: str, values: dict[str, str], finder: PackageFinder
) -> str:
    """Expand; if a package is missing, pass its folder to xacrodoc and start again."""
    added: set[str] = set()
    while True:
        try:
            document = xacrodoc.XacroDoc.from_includes([include], name=name, subargs=values, resolve_packages=False)
            return str(document.dom.toprettyxml(indent="  "))
        except Exception as fault:  # expressions of a xacro file can raise anything
            package = _missing_package(xacrodoc, fault)
            folder = finder.package(package) if package and package not in added else None
            if package is None or folder is None:
                message = f"xacro could not be expanded: {fault}"
                hint = f"; pass the folder of package {package!r} in packages=[...]" if package else ""
                raise DescriptionError(message + hint, file=file) from fault
            added.add(package)
            xacrodoc.packages.update_package_cache({package: folder})


def xacro_not_allowed(file: Path | None, node: Node | None = None) -> DescriptionError:
    """Create the error for xacro without permission; it says how to allow it."""
    line, element = (node.line, node.label) if node else (None, None)
    return DescriptionError(_NOT_ALLOWED, file=file, line=line, element=element)


def find_xacro(root: Node) -> Node | None:
    """Return the first xacro element, None if there is none."""
    prefixes = {"xacro"}
    prefixes.update(key[6:] for key, uri in root.attributes.items() if key.startswith("xmlns:") and "xacro" in uri)
    for node in root.walk():
        if ":" in node.tag and node.tag.partition(":")[0] in prefixes:
            return node
    return None


def _missing_package(xacrodoc: ModuleType, fault: BaseException | None) -> str | None:
    """Return the missing package that caused an exception of xacro, None if it has another cause."""
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
