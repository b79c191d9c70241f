"""The page "Architecture" is true: it names every package, and imports only go left along the way of the data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "kinodyn"

# Each may import what stands above it, and its own neighbours in the line.
ORDER = (
    ("errors", "_core", "threads", "arrays", "checks", "layouts"),
    ("spatial",),
    ("description",),
    ("model", "qp"),
    ("kinematics", "dynamics"),
    ("derivation", "identification", "tasks", "limits"),
    ("ik", "trajectory", "balance", "recording"),
    ("control", "sim"),
    ("estimation",),
    ("walking",),
    ("report", "cli", "viewer"),
)
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}


def units() -> list[str]:
    """List the packages and modules of kinodyn."""
    files = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    return sorted(files | {path.parent.name for path in PACKAGE.glob("*/__init__.py")})


def imports(unit: str) -> Iterator[tuple[Path, str]]:
    """Find what the files of a unit import of kinodyn, inside functions too."""
    folder = PACKAGE / unit
    for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            if node.module == "kinodyn":
                yield from ((path, alias.name) for alias in node.names)
            elif node.module.startswith("kinodyn."):
                yield path, node.module.split(".")[1]


@pytest.mark.parametrize("unit", units())
def test_imports_only_go_left(unit: str) -> None:
    assert unit in LEVEL, f"give {unit} its place in ORDER, and on the page"
    for path, other in imports(unit):
        assert LEVEL[other] <= LEVEL[unit], f"{path.relative_to(PACKAGE)} imports {other}, which stands to its right"


@pytest.mark.parametrize("unit", units())
def test_the_page_names_every_package_and_module(unit: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert f"{unit}/" in page or f"{unit}.py" in page
