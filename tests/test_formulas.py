"""The formulas of the pages can be converted, also by GitHub."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="needs the dependency group docs")
pytest.importorskip("latex2mathml", reason="needs the dependency group docs")

DOCS = Path(__file__).parent.parent / "docs"
MATHML: Callable[..., str] = runpy.run_path(str(DOCS / "mathml.py"))["mathml"]
CODE = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.DOTALL)


def formulas(page: Path) -> list[tuple[str, bool]]:
    """Find the formulas of a page, and whether each is a block."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    return [(block or inline, bool(block)) for block, inline in FORMULA.findall(text)]


PAGES = [page for page in sorted(DOCS.glob("*.md")) if formulas(page)]


def test_the_chapters_have_formulas() -> None:
    assert {"walking", "control", "contacts", "dynamics", "kinematics"} <= {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_formulas_convert_and_survive_markdown(page: Path) -> None:
    for latex, block in formulas(page):
        assert MATHML(latex, block=block).startswith("<math")
        # GitHub parses formulas as Markdown first: it removes the backslash of \, \; \\ and breaks them at line ends
        assert not re.search(r"\\[^A-Za-z|]", latex), latex
        assert block or "\n" not in latex, latex


@pytest.mark.parametrize(
    "latex",
    [
        r"\nonsense x",
        r"\frac{a}{b",
        r"\frac{a}",
        r"\left( a",
        "a_b_c",
        "a & b",
        r"\begin{nonsense} a \end{nonsense}",
        "",
    ],
)
def test_an_invalid_formula_is_rejected(latex: str) -> None:
    with pytest.raises(ValueError):
        MATHML(latex)


def test_accents_and_unary_signs_are_marked() -> None:
    text = MATHML(r"\dot c = -\omega (c - \xi)")
    assert re.search(r"<mo[^>]*scriptlevel=\"\+0\"[^>]*>˙</mo>", text)
    assert text.count('form="prefix">−') == 1
