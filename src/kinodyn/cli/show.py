"""What people see: results on stdout, everything else on stderr."""

from __future__ import annotations

import math
import re
import textwrap
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable
from rich.text import Text

from kinodyn.cli.answer import Answer, Table

ZERO = 1e-12  # on the terminal; files and JSON keep every digit


def messages() -> Console:
    """Give the console for everything that is not the result."""
    return Console(stderr=True, highlight=False)


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
    console = Console(highlight=False)
    colour = "bold green" if given.good and not given.interrupted else "bold red"
    console.print(Text(given.title, style=colour))
    for table in given.tables:
        console.print(rich_table(table))
    if given.text:
        console.print(Text(given.text), soft_wrap=True)
    for note in given.notes:
        console.print(escape(note), style="dim", soft_wrap=True)


def rich_table(table: Table) -> RichTable:
    """Lay out a table; of a long one the first rows."""
    result = RichTable(title=escape(table.title) or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for k, name in enumerate(table.columns):
        numeric = all(_is_number(row[k]) or row[k] is None for row in table.rows)
        result.add_column(escape(name), justify="right" if numeric else "left", overflow="fold", no_wrap=k == 0)
    for row in table.rows[: table.most]:
        result.add_row(*(cell(value) for value in row))
    more = max(table.total, len(table.rows)) - table.most
    if more > 0:
        result.caption = f"{more} more rows; --out FILE keeps them all"
        result.caption_justify = "left"
    return result


def cell(value: Any) -> str:
    """Write one entry of a table: numbers with few digits, dashes for what is not known."""
    if value is None or (_is_number(value) and math.isnan(value)):
        return "-"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        if abs(value) < ZERO:
            return "0"
        return f"{value:.4g}" if abs(value) < 1e4 or math.isinf(value) else f"{value:.6g}"
    return escape(str(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)
