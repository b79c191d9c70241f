"""Read the imports between kinodyn's modules: at the top, under TYPE_CHECKING and in functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parent.parent / "src" / "kinodyn"
MARKER = "# import cycle:"  # on an import that closes a cycle on purpose, followed by the reason


class Import(NamedTuple):
    """An import of one module of kinodyn by another; `line` is its source."""

    importer: str
    imported: str
    line: str

    @property
    def excused(self) -> bool:
        """Whether the line says why it closes a cycle."""
        return bool(self.line.partition(MARKER)[2].strip())


def modules(package: Path = PACKAGE) -> dict[str, Path]:
    """Map the name of every module to its file; a package has the name of its folder, the core that of its stub."""
    found = {}
    for path in sorted((*package.rglob("*.py"), *package.rglob("*.pyi"))):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(package: Path = PACKAGE) -> Iterator[Import]:
    """Find all imports of kinodyn's modules by each other.

    `from kinodyn.ik import solve` imports the module `kinodyn.ik.solve` if there is one, otherwise `kinodyn.ik`. The
    parent packages are not counted: every module would import its own package.
    """
    known = modules(package)
    for importer, path in known.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(ast.parse("\n".join(lines))):
            for name in _names(node):
                imported = name if name in known else name.rpartition(".")[0]
                if imported in known and imported != importer:
                    yield Import(importer, imported, lines[node.lineno - 1])


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def cycles(edges: Iterator[Import]) -> list[list[str]]:
    """Find the groups of modules that import each other, directly or through others (R. Tarjan, 1972)."""
    graph: dict[str, set[str]] = {}
    for edge in edges:
        graph.setdefault(edge.importer, set()).add(edge.imported)
        graph.setdefault(edge.imported, set())
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = low[module] = len(index)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in index:
                visit(other)
                low[module] = min(low[module], low[other])
            elif other in stack:
                low[module] = min(low[module], index[other])
        if low[module] == index[module]:
            start = stack.index(module)
            if len(stack) - start > 1:
                groups.append(sorted(stack[start:]))
            del stack[start:]

    for module in sorted(graph):
        if module not in index:
            visit(module)
    return groups
