"""The page "Architecture" is true: it names every package in the order of imports, and no modules import in a cycle."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from .import_graph import MARKER, PACKAGE, cycles, imports

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# Packages and modules in the order of the data flow: each may import only those before it.
BASICS = (
    "_core",
    "errors",
    "arrays",
    "checks",
    "argument_types",
    "tables",
    "layouts",
    "threads",
    "progress",
    "garbage",
    "display",
)
ORDER = (
    *BASICS,
    "spatial",
    "description",
    "qp",
    "model",
    "kinematics",
    "dynamics",
    "collision",
    "derivation",
    "identification",
    "tasks",
    "limits",
    "ik",
    "trajectory",
    "control",
    "balance",
    "rosmsgs",
    "recording",
    "terrain",
    "sim",
    "planning",
    "estimation",
    "walking",
    "retarget",
    "jobs",
    "interop",
    "report",
    "viewer",
    "cli",
)
UNITS = sorted(
    {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
)
IMPORTS = list(imports())


def unit(module: str) -> str:
    """Return the package or top-level module to which a module belongs; "" for the root."""
    return module.partition(".")[2].partition(".")[0]


@pytest.mark.parametrize("name", UNITS)
def test_imports_only_go_left(name: str) -> None:
    assert name in ORDER, f"add {name} to ORDER and to the page"
    for edge in IMPORTS:
        other = unit(edge.imported)
        if unit(edge.importer) == name and other not in ("", name):
            assert ORDER.index(other) < ORDER.index(name), f"{edge.importer} imports {edge.imported} to its right"


def test_no_modules_import_each_other() -> None:
    """Imports in functions and under TYPE_CHECKING count, unless the line says why: `# import cycle: reason`."""
    assert cycles(edge for edge in IMPORTS if not edge.excused) == []


def test_a_marked_import_closes_a_cycle() -> None:
    """A marker on any other import would be wrong."""
    together = [set(group) for group in cycles(iter(IMPORTS))]
    for edge in IMPORTS:
        if MARKER in edge.line:
            assert edge.excused, f"{edge.importer}: the marker needs a reason"
            assert any({edge.importer, edge.imported} <= group for group in together), f"{edge.importer}: {edge.line}"


def test_the_page_lists_the_source_tree_in_the_order_of_imports() -> None:
    tree = PAGE.partition("src/kinodyn/\n")[2].partition("cpp/\n")[0]
    listed = re.findall(r"^  (\w+)(?:/|\.py) ", tree, re.MULTILINE)
    assert sorted(listed) == UNITS
    assert listed == [name for name in ORDER if name in listed]


def test_text_and_drawing_show_the_same_data_flow() -> None:
    columns = runpy.run_path(str(ROOT / "docs" / "images" / "architecture.py"))["COLUMNS"]
    assert [name for names in columns for name in names] == [name for name in ORDER if name not in BASICS]
    flow = PAGE.partition("```text\n")[2].partition("```")[0]
    assert [name for name in re.findall(r"\w+", flow) if name != "description"] == [
        name for name in ORDER if name in flow and name != "description"
    ]
