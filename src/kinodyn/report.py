"""Reports: text, tables and figures in one self-contained HTML file."""

from __future__ import annotations

import base64
import io
import math
import os
from collections.abc import Sequence, Sized
from datetime import datetime, timezone
from html import escape
from importlib.metadata import version
from typing import Any

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.checks import list_of, reals
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.tables.output import write_text

__all__ = ["Report"]

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1d2330; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; } p.about { color: #68707f; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
div.wide { overflow-x: auto; }
th, td { padding: .2rem .8rem; border-bottom: 1px solid #dde1e8; text-align: left; }
td.number, th.number { text-align: right; }
img { max-width: 100%; } pre { background: #f4f5f8; padding: .6rem; overflow-x: auto; }
@media (prefers-color-scheme: dark) {
  body { background: #14171d; color: #e2e6ee; } th, td { border-color: #39404d; } pre { background: #1f242d; }
  img { background: #fff; }
}
"""
CONTENT_SECURITY_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@displayed
class Report:
    """A page of text, tables and figures.

    All text is escaped, figures are embedded, and the page loads nothing from elsewhere.

    Parameters
    ----------
    title : str
        Heading of the page.

    Examples
    --------
    >>> import kinodyn as kd
    >>> report = kd.report.Report("Two links")
    >>> report.table("Figures", ("figure", "value"), [("mass [kg]", kd.load("planar2r").mass)])
    >>> "<h1>Two links</h1>" in report.html()
    True
    """

    @check_types
    def __init__(self, title: str) -> None:
        self.title = title
        self._parts: list[str] = []

    @check_types
    def text(self, text: str, *, heading: str = "") -> None:
        """Add paragraphs.

        Parameters
        ----------
        text : str
            Blank lines separate paragraphs.
        heading : str
            Heading above them, if not empty.
        """
        self._heading(heading)
        self._parts += [f"<p>{escape(part)}</p>" for part in text.split("\n\n")]

    @check_types
    def code(self, text: str, *, heading: str = "") -> None:
        """Add preformatted text.

        Parameters
        ----------
        text : str
        heading : str
            Heading above it, if not empty.
        """
        self._heading(heading)
        self._parts.append(f"<pre>{escape(text)}</pre>")

    @check_types
    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add a table; numbers have five significant digits, None and NaN are a dash.

        Parameters
        ----------
        title : str
        columns : sequence of str
            Column headings.
        rows : sequence of sequences
            Numbers, strings or None, one per column.
        """
        columns = list_of("columns", columns, str, "column names")
        if not isinstance(rows, Sized) or not all(isinstance(row, Sized) for row in rows):
            raise InputError(f"rows must be a list of rows, got {rows!r}")
        for row in rows:
            if len(row) != len(columns):
                raise InputError(f"a row of the table {title!r} has {len(row)} entries for {len(columns)} columns")
        self._heading(title)
        kinds = [' class="number"' if _numeric([row[k] for row in rows]) else "" for k in range(len(columns))]
        head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, columns, strict=True))
        lines = (
            "".join(f"<td{kind}>{_entry(value)}</td>" for kind, value in zip(kinds, row, strict=True)) for row in rows
        )
        body = "".join(f"<tr>{line}</tr>\n" for line in lines)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"
        self._parts.append(f'<div class="wide">{table}</div>')

    @check_types
    def figure(self, title: str, figure: Any) -> None:
        """Add a figure.

        Parameters
        ----------
        title : str
        figure : matplotlib Figure or (h, w, 3) array
            An array has RGB values from 0 to 255.
        """
        self._heading(title)
        data = base64.b64encode(_png(figure)).decode("ascii")
        self._parts.append(f'<img alt="{escape(title)}" src="data:image/png;base64,{data}">')

    def html(self) -> str:
        """Return the page as HTML."""
        created = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        title = escape(self.title)
        head = (
            f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">'
            f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{STYLE}</style>'
        )
        about = f'<p class="about">kinodyn {escape(version("kinodyn"))}, {created}</p>'
        body = "\n".join([f"<h1>{title}</h1>", about, *self._parts])
        return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'

    @check_types
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : path-like
        """
        write_text(path, self.html())

    def _heading(self, text: str) -> None:
        if text:
            self._parts.append(f"<h2>{escape(text)}</h2>")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _numeric(column: Sequence[Any]) -> bool:
    """Return whether a column has numbers and otherwise only None."""
    return any(map(_is_number, column)) and all(value is None or _is_number(value) for value in column)


def _entry(value: Any) -> str:
    if value is None or (_is_number(value) and math.isnan(value)):
        return "-"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:.5g}" if isinstance(value, float | np.floating) else escape(str(value))


def _png(figure: Any) -> bytes:
    stream = io.BytesIO()
    if hasattr(figure, "savefig"):
        figure.savefig(stream, format="png", dpi=110)
        return stream.getvalue()
    pixels = reals("figure", figure)
    if pixels.ndim != 3 or pixels.shape[2] != 3:
        raise InputError(f"a figure must be a matplotlib figure or an array (h, w, 3), got shape {pixels.shape}")
    from matplotlib.image import imsave

    imsave(stream, pixels.astype(np.uint8), format="png")
    return stream.getvalue()


def __dir__() -> list[str]:
    return list(__all__)
