"""Every Python block of the README and of the documentation runs, in order, one namespace per page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

import kinodyn

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^```python\n((?:(?!^```).*\n)*)^```\n\n^```text\n((?:(?!^```).*\n)*)^```$", re.MULTILINE)


def blocks(page: Path) -> Iterator[tuple[int, str]]:
    """Find the Python blocks of a page with the line on which each starts."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1)


def outputs(page: Path) -> dict[int, str]:
    """Find the printed output shown on the page "Start" directly below a block, by the line of the block."""
    text = page.read_text(encoding="utf-8")
    found = PRINTED.finditer(text) if page.name == "start.md" else ()
    return {text.count("\n", 0, match.start(1)) + 1: match.group(2) for match in found}


PAGES_WITH_CODE = [page for page in PAGES if list(blocks(page))]


def test_readme_and_main_pages_contain_code() -> None:
    names = {page.relative_to(ROOT).as_posix() for page in PAGES_WITH_CODE}
    assert {"README.md", "docs/index.md", "docs/conventions.md"} <= names


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_on_the_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = outputs(page)
    for line, code in blocks(page):
        # Leading blank lines make tracebacks show the line numbers of the page.
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
        if line in printed:
            assert capsys.readouterr().out == printed[line]


COVERAGE = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and "`tests/" in line
]


def test_the_coverage_page_lists_items() -> None:
    assert len(COVERAGE) >= 100


@pytest.mark.parametrize(("item", "names", "page", "tests"), COVERAGE, ids=[row[0] for row in COVERAGE])
def test_names_and_tests_on_the_coverage_page_exist(item: str, names: str, page: str, tests: str) -> None:
    for name in re.findall("`(.+?)`", names):
        attrgetter(name)(kinodyn)
    for place in re.findall("`(.+?)`", tests):
        file, function = place.split("::")
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), place
    assert (ROOT / "docs" / page.partition("(")[2].rstrip(")")).is_file()


def numbers(page: str) -> dict[str, set[str]]:
    """Return the numbers in the rows of a page's tables, by the name of the row."""
    rows: dict[str, set[str]] = {}
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            name, _, cells = line.strip("| ").partition("|")
            rows.setdefault(name.strip(), set()).update(re.findall(r"\d+(?:\.\d+)?", cells))
    return rows


def test_the_figures_of_the_readme_are_those_of_the_comparison() -> None:
    page, readme = numbers("docs/comparison.md"), numbers("README.md")
    figures = {name: values for name, values in readme.items() if values}
    assert len(figures) >= 5
    for name, values in figures.items():
        assert values <= page[name], f"{name!r}: {values - page[name]} is not in docs/comparison.md"
