"""Reports are one file; all text is escaped and nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import kinodyn as kd
from kinodyn.report import Report

UNSAFE = "<script>alert('x')</script> & \"q\""


class BalanceChecker(HTMLParser):
    """Checks that every element is closed."""

    VOID = ("meta", "img", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def full() -> Report:
    report = Report(UNSAFE)
    report.text(f"one\n\n{UNSAFE}", heading=UNSAFE)
    report.code(UNSAFE)
    report.table(UNSAFE, ("name", UNSAFE), [("a", 1.23456789), (UNSAFE, None), ("c", float("nan")), ("d", True)])
    figure = Figure()
    figure.add_subplot().plot([0, 1])
    report.figure(UNSAFE, figure)
    report.figure("pixels", np.zeros((4, 5, 3)))
    return report


def test_all_text_is_escaped_and_all_elements_are_closed() -> None:
    page = full().html()
    parser = BalanceChecker()
    parser.feed(page)
    assert not parser.open and "script" not in parser.seen and "<script" not in page
    assert {"table", "img", "pre"} <= parser.seen


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = full().html()
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert len(sources) == 2 and all(source.startswith("data:image/png;base64,") for source in sources)
    assert base64.b64decode(sources[0].partition(",")[2]).startswith(b"\x89PNG")
    assert "default-src 'none'" in page and "url(" not in page


def test_numbers_are_short_and_missing_ones_are_dashes() -> None:
    page = full().html()
    assert (
        "1.2346" in page
        and ">-</td>" in page
        and ">yes</td>" in page
        and "nan" not in page.partition("<body>")[2][:2000]
    )


def test_the_file_contains_the_version(tmp_path: Path) -> None:
    full().save(tmp_path / "report.html")
    assert f"kinodyn {kd.__version__}" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_invalid_parts_are_errors(tmp_path: Path) -> None:
    with pytest.raises(kd.InputError, match="2 columns"):
        Report("x").table("t", ("a", "b"), [(1,)])
    with pytest.raises(kd.InputError, match=r"\(h, w, 3\)"):
        Report("x").figure("t", np.zeros((4, 5)))
    with pytest.raises(kd.InputError, match="cannot be written"):
        Report("x").save(tmp_path / "nowhere" / "x.html")


def test_only_columns_of_numbers_are_right_aligned() -> None:
    report = Report("x")
    report.table("t", ("name", "mixed", "number"), [("a", 1.5, 1), ("b", "c", None)])
    page = report.html()
    assert (
        "<td>a</td><td>1.5</td>" in page and '<td class="number">1</td>' in page and '<td class="number">-</td>' in page
    )
