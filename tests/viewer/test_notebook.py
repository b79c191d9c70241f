"""Notebooks run from start to end, and show tables and the viewer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")
pytest.importorskip("xarray")

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


def executed(file: Path, folder: Path) -> Any:
    notebook = nbformat.read(file, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's own packages
        nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def shown(notebook: Any, mime: str) -> list[str]:
    """List what the cells show, in a format."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return [output["data"][mime] for output in outputs if "data" in output and mime in output["data"]]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.name)
def test_a_notebook_runs_and_shows_tables_and_the_viewer(file: Path, tmp_path: Path) -> None:
    notebook = executed(file, tmp_path)
    pages = shown(notebook, "text/html")
    assert any("<caption>Robot(" in page for page in pages) and any("<caption>IKResult" in page for page in pages)
    assert any("<iframe" in page and "127.0.0.1" in page for page in pages)
    assert all(len(text) < 2000 for text in shown(notebook, "text/plain"))
    assert any(text.startswith("$") for text in shown(notebook, "text/latex"))


def test_there_are_notebooks_and_they_are_stored_without_outputs() -> None:
    assert NOTEBOOKS
    for file in NOTEBOOKS:
        cells = nbformat.read(file, as_version=4).cells
        assert all(not cell.outputs and cell.execution_count is None for cell in cells if cell.cell_type == "code")
