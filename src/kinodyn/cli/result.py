"""What every command returns; printing and writing it to files is the same for all commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Exit codes; 70 is EX_SOFTWARE of sysexits.h, 130 is 128 + SIGINT.
SUCCESS, NEGATIVE, USAGE_ERROR, INTERNAL_ERROR, INTERRUPTED = 0, 1, 2, 70, 130


@dataclass(frozen=True)
class Table:
    """A table to be read by people.

    Attributes
    ----------
    title : str
    columns : sequence of str
        Column headings, with units.
    rows : sequence of rows
        Numbers or strings, one per column.
    max_rows : int
        Rows shown on the terminal; a report shows all of `rows`.
    total : int
        Number of rows that exist, if `rows` holds only the first of them.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    max_rows: int = 20
    total: int = 0


@dataclass
class CommandResult:
    """The outcome of a command.

    Attributes
    ----------
    title : str
        One line that says what was computed.
    values : mapping of name -> value
        Everything that `--json` prints under "result"; arrays become lists, non-finite numbers null.
    inputs : mapping of name -> value
        What it was computed from.
    tables : list of Table
        The values as tables for the terminal and the report.
    samples : mapping of name -> (n, ...) array
        Rows that `--out` writes to a CSV, NPZ or Parquet file.
    columns : mapping of name -> sequence of str
        Labels of the entries of each array in `samples`, where they have names.
    figures : mapping of title -> function
        Each function draws a matplotlib figure; `--plot` writes the first, `--report` all of them.
    text : str
        Printed as it is, such as an equation.
    notes : list of str
        Printed below, one per line.
    ok : bool
        False: the answer is negative (did not converge, fell, not reachable); exit code 1.
    interrupted : bool
        Ctrl-C was pressed and the values are partial; exit code 130.
    on_finish : function or None
        Called after everything is printed and written, such as a viewer; Ctrl-C ends it.
    writers : mapping of suffix -> function of a path
        Replace the default writer of `--out` for these file types.
    """

    title: str
    values: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    samples: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    figures: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    text: str = ""
    notes: list[str] = field(default_factory=list)
    ok: bool = True
    interrupted: bool = False
    on_finish: Callable[[], object] | None = None
    writers: Mapping[str, Callable[[Path], object]] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """The exit code of the process."""
        return INTERRUPTED if self.interrupted else SUCCESS if self.ok else NEGATIVE
