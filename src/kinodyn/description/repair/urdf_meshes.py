"""Repairs of the mesh files that a URDF file names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kinodyn.description.messages import counted
from kinodyn.description.packages import PackageDirs, PackageFinder
from kinodyn.description.repair.findings import Findings
from kinodyn.description.repair.meshes import MeshSearch, package_of, relative
from kinodyn.description.xml_tree import Node


def repair_meshes(findings: Findings, file: Path, packages: PackageDirs, destination: Path) -> None:
    """Correct names of mesh files that are not found, and those that are not found from another folder."""
    finder = PackageFinder(file, packages)
    given = (packages,) if isinstance(packages, (str, os.PathLike)) else packages
    search = MeshSearch(file, tuple(Path(folder) for folder in given))
    for mesh in _meshes(findings.document.root):
        _repair_mesh(findings, mesh, finder, search, file)
    if Path(os.path.abspath(destination)).parent == Path(os.path.abspath(file)).parent:
        return
    _move_meshes(findings, finder, Path(os.path.abspath(destination)))


def _meshes(root: Node) -> Iterator[Node]:
    for link in root.all("link"):
        for shape in link.children:
            if shape.tag in ("visual", "collision"):
                yield from (mesh for geometry in shape.all("geometry") for mesh in geometry.all("mesh"))


def _repair_mesh(findings: Findings, mesh: Node, finder: PackageFinder, search: MeshSearch, file: Path) -> None:
    uri = mesh.attributes["filename"]
    if finder.find(uri) is not None:
        return
    found = search.find(uri)
    message = f"the mesh file {uri!r} is not found"
    if found is None:
        findings.add("warning", mesh, message)
        return
    new = _uri(found, uri, finder, file)
    findings.set("warning", mesh, message, f'filename="{new}", where a file of that name is', filename=new)


def _uri(found: Path, uri: str, finder: PackageFinder, file: Path) -> str:
    """Name a file in the manner of the URI that it replaces: in its package if it is there, else by a path."""
    package = package_of(uri)
    folder = None if package is None else finder.package(package)
    if folder is not None and found.is_relative_to(folder):
        return f"package://{package}/{relative(found, folder)}"
    return relative(found, Path(os.path.abspath(file)).parent)


def _move_meshes(findings: Findings, finder: PackageFinder, destination: Path) -> None:
    """Let relative paths start at another folder; URIs of packages stay, as they do not depend on it."""
    there = PackageFinder(destination)
    moved = []
    for mesh in _meshes(findings.document.root):
        uri = mesh.attributes["filename"]
        path, from_there = finder.find(uri), there.find(uri)
        if package_of(uri) is not None or path is None or (from_there is not None and from_there.samefile(path)):
            continue
        moved.append(mesh)
        findings.document.set(mesh, "filename", relative(path, destination.parent))
    if moved:
        message = (
            f"{counted(len(moved), 'relative mesh path')} would not be found from the folder of {destination.name}"
        )
        findings.add("note", moved[0], message, f'now start there: filename="{moved[0].attributes["filename"]}", ...')
