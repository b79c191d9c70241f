"""What people see: results on stdout, everything else on stderr."""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from kinodyn.cli.answer import Answer, Table

ZERO = 1e-12  # on the terminal; files and JSON keep every digit
WIDE = 200  # columns of a page that is not a terminal
HEAD, TIGHT_HEAD = 13, 8  # letters in a line of a head; longer names go on below
TEXT = 16  # letters of a column of texts that must fit; the rest goes on below


def messages() -> Console:
    """Give the console for everything that is not the result."""
    return Console(stderr=True, highlight=False)


def results() -> Console:
    """Give the console for results: as wide as the terminal; wide where nobody looks at it, such as in a pipe."""
    console = Console(highlight=False)
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(highlight=False, width=WIDE)


def say(text: str, style: str = "") -> None:
    """Tell something on stderr."""
    messages().print(escape(text), style=style, soft_wrap=True)


def error(text: str) -> None:
    """Tell on stderr what went wrong, in one paragraph."""
    messages().print(f"[bold red]error:[/] {escape(' '.join(text.split()))}", soft_wrap=True)


def warning(text: str) -> None:
    """Tell on stderr, in one short line, what is doubtful; a file without its folders."""
    line = re.sub(r"^\S*[/\\](?=[^/\\\s]+: )", "", " ".join(text.split()))
    messages().print(f"[yellow]warning:[/] {escape(textwrap.shorten(line, 160, placeholder=' ...'))}", soft_wrap=True)


def answer(given: Answer) -> None:
    """Print an answer for people."""
    console = results()
    colour = "bold green" if given.good and not given.interrupted else "bold red"
    console.print(Text(given.title, style=colour))
    for table in given.tables:
        if table.title:
            console.print(Text(table.title, style="bold"), soft_wrap=True)
        console.print(rich_table(table, console.width))
    if given.text:
        console.print(Text(given.text), soft_wrap=True)
    for note in given.notes:
        console.print(escape(note), style="dim", soft_wrap=True)


def rich_table(table: Table, width: int) -> RichTable:
    """Lay out a table: of a long one the first rows, of one that is too wide fewer digits, then the first columns."""
    rows = table.rows[: table.most]
    numeric = [all(_is_number(row[k]) or row[k] is None for row in rows) for k in range(len(table.columns))]
    heads = [_broken(name, HEAD) for name in table.columns]
    digits, gap = 4, 3
    fits = _fitting(_widths(heads, numeric, rows, digits), gap, width)
    if fits < len(heads):
        digits, gap, heads = 3, 2, [_broken(name, TIGHT_HEAD) for name in table.columns]
        fits = _fitting(_widths(heads, numeric, rows, digits), gap, width)
    result = RichTable(box=box.SIMPLE_HEAD, collapse_padding=gap == 2, show_header=any(table.columns))
    for k in range(fits):
        justify: Literal["left", "right"] = "right" if numeric[k] else "left"
        result.add_column(escape(heads[k]), justify=justify, overflow="fold", no_wrap=k == 0 or numeric[k])
    for row in rows:
        result.add_row(*(escape(cell(value, digits)) for value in row[:fits]))
    more = _left_out(table, fits)
    if more:
        result.caption, result.caption_justify = escape(f"{more}; --out FILE keeps them all"), "left"
    return result


def _left_out(table: Table, fits: int) -> str:
    rows, names = max(table.total, len(table.rows)) - table.most, list(table.columns[fits:])
    said = [f"{rows} more rows"] if rows > 0 else []
    return ", ".join(said + ([f"more columns: {textwrap.shorten(', '.join(names), 60)}"] if names else []))


def _broken(name: str, most: int) -> str:
    """Break a long name into lines behind blanks and underscores."""
    lines = [""]
    for part in re.findall(r"[^_ .]+[_ .]*|[_ .]+", name):
        if lines[-1] and len(lines[-1] + part.rstrip()) > most:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _widths(heads: Sequence[str], numeric: Sequence[bool], rows: Sequence[Sequence[Any]], digits: int) -> list[int]:
    """Measure the columns; texts behind the first column may go on below."""
    found = []
    for k, head in enumerate(heads):
        longest = max((len(cell(row[k], digits)) for row in rows), default=0)
        entries = longest if numeric[k] or k == 0 else min(longest, TEXT)
        found.append(max(entries, *(len(line) for line in head.split("\n"))))
    return found


def _fitting(widths: Sequence[int], gap: int, width: int) -> int:
    """Count the columns that fit side by side; two at least."""
    ends = np.cumsum(np.asarray(widths) + gap) + 2
    return max(int((ends <= width).sum()), min(2, len(widths)))


def cell(value: Any, digits: int = 4) -> str:
    """Write one entry of a table: numbers with few digits, dashes for what is not known."""
    if value is None or (_is_number(value) and math.isnan(value)):
        return "-"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        if abs(value) < ZERO:
            return "0"
        return f"{value:.{digits}g}" if abs(value) < 10**digits or math.isinf(value) else f"{value:.6g}"
    return str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)
