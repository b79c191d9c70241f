"""Text output: results on stdout, messages on stderr."""

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

from kinodyn.cli.result import CommandResult, Table

ZERO = 1e-12  # smaller values are printed as 0; files and JSON keep every digit
PIPE_WIDTH = 200  # characters per line where stdout is not a terminal
HEADING_WIDTH, NARROW_HEADING_WIDTH = 13, 8  # characters per line of a column heading
MIN_TEXT_WIDTH = 16  # a column of strings may be narrowed to this and wrapped


def messages() -> Console:
    """Return the console for everything except results."""
    return Console(stderr=True, highlight=False)


def results() -> Console:
    """Return the console for results: as wide as the terminal, `PIPE_WIDTH` in a pipe."""
    console = Console(highlight=False)
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(highlight=False, width=PIPE_WIDTH)


def say(text: str, style: str = "") -> None:
    """Print a message on stderr."""
    messages().print(escape(text), style=style, soft_wrap=True)


def error(text: str) -> None:
    """Print an error on stderr, as one paragraph."""
    messages().print(f"[bold red]error:[/] {escape(' '.join(text.split()))}", soft_wrap=True)


def warning(text: str) -> None:
    """Print a warning on stderr as one short line, with file names instead of whole paths."""
    line = re.sub(r"^\S*[/\\](?=[^/\\\s]+: )", "", " ".join(text.split()))
    messages().print(f"[yellow]warning:[/] {escape(textwrap.shorten(line, 160, placeholder=' ...'))}", soft_wrap=True)


def print_result(result: CommandResult) -> None:
    """Print a result as title, tables, text and notes."""
    console = results()
    colour = "bold green" if result.ok and not result.interrupted else "bold red"
    console.print(Text(result.title, style=colour))
    for table in result.tables:
        if table.title:
            console.print(Text(table.title, style="bold"), soft_wrap=True)
        console.print(rich_table(table, console.width))
    if result.text:
        console.print(Text(result.text), soft_wrap=True)
    for note in result.notes:
        console.print(escape(note), style="dim", soft_wrap=True)


def rich_table(table: Table, width: int) -> RichTable:
    """Lay out a table: the first rows of a long one; a wide one gets fewer digits, then fewer columns."""
    rows = table.rows[: table.max_rows]
    numeric = [all(_is_number(row[k]) or row[k] is None for row in rows) for k in range(len(table.columns))]
    headings = [_wrap(name, HEADING_WIDTH) for name in table.columns]
    digits, gap = 4, 3
    fits = _fitting(_widths(headings, numeric, rows, digits), gap, width)
    if fits < len(headings):
        digits, gap, headings = 3, 2, [_wrap(name, NARROW_HEADING_WIDTH) for name in table.columns]
        fits = _fitting(_widths(headings, numeric, rows, digits), gap, width)
    laid_out = RichTable(box=box.SIMPLE_HEAD, collapse_padding=gap == 2, show_header=any(table.columns))
    for k in range(fits):
        justify: Literal["left", "right"] = "right" if numeric[k] else "left"
        laid_out.add_column(escape(headings[k]), justify=justify, overflow="fold", no_wrap=k == 0 or numeric[k])
    for row in rows:
        laid_out.add_row(*(escape(cell(value, digits)) for value in row[:fits]))
    more = _omitted(table, fits)
    if more:
        laid_out.caption, laid_out.caption_justify = escape(f"{more}; --out FILE writes all of them"), "left"
    return laid_out


def _omitted(table: Table, fits: int) -> str:
    rows, names = max(table.total, len(table.rows)) - table.max_rows, list(table.columns[fits:])
    said = [f"{rows} more rows"] if rows > 0 else []
    return ", ".join(said + ([f"more columns: {textwrap.shorten(', '.join(names), 60)}"] if names else []))


def _wrap(name: str, width: int) -> str:
    """Wrap a long name after blanks, dots and underscores."""
    lines = [""]
    for part in re.findall(r"[^_ .]+[_ .]*|[_ .]+", name):
        if lines[-1] and len(lines[-1] + part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def _widths(headings: Sequence[str], numeric: Sequence[bool], rows: Sequence[Sequence[Any]], digits: int) -> list[int]:
    """Return the width of each column; strings after the first column may be wrapped."""
    found = []
    for k, heading in enumerate(headings):
        longest = max((len(cell(row[k], digits)) for row in rows), default=0)
        entries = longest if numeric[k] or k == 0 else min(longest, MIN_TEXT_WIDTH)
        found.append(max(entries, *(len(line) for line in heading.split("\n"))))
    return found


def _fitting(widths: Sequence[int], gap: int, width: int) -> int:
    """Count the columns that fit side by side, at least two."""
    ends = np.cumsum(np.asarray(widths) + gap) + 2
    return max(int((ends <= width).sum()), min(2, len(widths)))


def cell(value: Any, digits: int = 4) -> str:
    """Format one entry of a table: numbers with few digits, a dash for None and NaN."""
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
