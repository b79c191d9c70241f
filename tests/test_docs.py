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


def blocks(page: Path) -> Iterator[tuple[int, str]]:
    """Find the Python blocks of a page with the line on which each starts."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1)


PAGES_WITH_CODE = [page for page in PAGES if list(blocks(page))]


def test_readme_and_the_main_pages_show_code() -> None:
    names = {page.relative_to(ROOT).as_posix() for page in PAGES_WITH_CODE}
    assert {"README.md", "docs/index.md", "docs/conventions.md"} <= names


@pytest.mark.parametrize("page", PAGES_WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_on_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks(page):
        # Blank lines in front make a traceback show the page's own line numbers.
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)


COVERAGE = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| [A-K][0-9]", line)
]


def test_the_coverage_page_lists_items() -> None:
    assert len(COVERAGE) >= 10


@pytest.mark.parametrize(("item", "names", "tests", "page"), COVERAGE, ids=[row[0] for row in COVERAGE])
def test_what_the_coverage_page_names_exists(item: str, names: str, tests: str, page: str) -> None:
    for name in re.findall("`(.+?)`", names):
        attrgetter(name)(kinodyn)
    for place in re.findall("`(.+?)`", tests):
        file, function = place.split("::")
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), place
    assert (ROOT / "docs" / page.partition("(")[2].rstrip(")")).is_file()
