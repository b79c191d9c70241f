"""Every example has a page, a figure and its output, and no files of removed examples are left."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GALLERY = runpy.run_path(str(ROOT / "docs" / "examples" / "pages.py"))
PICTURES, OUTPUTS, CHAPTERS = GALLERY["PICTURES"], GALLERY["OUTPUTS"], GALLERY["CHAPTERS"]
EXAMPLES = GALLERY["examples"]()
NAMES = [example.name for example in EXAMPLES]
MAX_SIZE = 80_000  # of a figure [bytes]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    written = GALLERY["write"](tmp_path_factory.mktemp("pages"))
    return {page.stem: page.read_text(encoding="utf-8") for page in written}


def test_every_example_is_in_one_chapter_and_its_explanation_exists() -> None:
    listed = [number for numbers in CHAPTERS.values() for number in numbers]
    assert sorted(listed) == [example.number for example in EXAMPLES]
    for page in {page for numbers in CHAPTERS.values() for page in numbers.values()}:
        assert (ROOT / "docs" / f"{page}.md").is_file(), page


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_a_small_figure_and_its_output(name: str) -> None:
    picture = PICTURES / f"{name}.png"
    assert picture.is_file(), f"python docs/examples/make.py {name[:2]}"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < MAX_SIZE
    assert (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8").strip()


def test_no_files_of_removed_examples_are_left() -> None:
    assert {kept.stem for kept in (*PICTURES.iterdir(), *OUTPUTS.iterdir())} == set(NAMES)


def test_each_page_shows_figure_output_and_script(pages: dict[str, str]) -> None:
    assert set(pages) == {*NAMES, "index"}
    for name in NAMES:
        assert f"](../images/examples/{name}.png)" in pages[name]
        included = re.findall(r"\{literalinclude\} (\S+)", pages[name])
        assert included == [f"output/{name}.txt", f"../../examples/{name}.py"]
        assert f"]({name}.md)" in pages["index"]


def test_the_gallery_is_up_to_date(pages: dict[str, str]) -> None:
    kept = (ROOT / "docs" / "examples" / "index.md").read_text(encoding="utf-8")
    assert kept == pages["index"], "python docs/examples/make.py 00 updates it"


def test_the_page_of_a_removed_example_is_removed(tmp_path: Path) -> None:
    (tmp_path / "00_gone.md").write_text("# 0. Gone\n", encoding="utf-8")
    assert sorted(GALLERY["write"](tmp_path)) == sorted(tmp_path.iterdir())


def test_titles_are_short_and_options_are_code() -> None:
    assert all(0 < len(example.title) <= 60 for example in EXAMPLES)
    assert not any(re.search(r"(?<!`)--\w", example.text) for example in EXAMPLES)
