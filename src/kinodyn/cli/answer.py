"""What every command gives back; how it is printed and kept is the same for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DONE, NO, WRONG_USE, BUG, INTERRUPTED = 0, 1, 2, 70, 130  # exit codes


@dataclass(frozen=True)
class Table:
    """A table for people: a title, names of columns, rows of numbers or texts, at most so many on the terminal.

    `total` is the number of rows of which `rows` are the first, where there are more.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    most: int = 20
    total: int = 0


@dataclass
class Answer:
    """The outcome of a command.

    Attributes
    ----------
    title : str
        One line that says what was computed.
    result : mapping
        Everything, by name: what `--json` prints. Arrays are lists there, numbers that are not finite null.
    inputs : mapping
        What it was computed from.
    tables : list of Table
        The same for people.
    samples : mapping of name -> (n, ...) array
        Rows that `--out` writes to a CSV, NPZ or Parquet file; `columns` names their entries where it can.
    pictures : mapping of title -> function
        Each makes a figure of matplotlib when it is called; `--plot` writes the first, `--report` all.
    text, notes : str, list of str
        What is no table: printed as it is, and in a line each.
    good : bool
        False: the answer is no, exit code 1.
    interrupted : bool
        Exit code 130; what is here was computed before.
    then : function or None
        Called when all is printed and written, such as a viewer; Ctrl-C ends it.
    savers : mapping of suffix -> function of a path
        Write `--out` in their own way, such as a Recording.
    """

    title: str
    result: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    samples: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pictures: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    text: str = ""
    notes: list[str] = field(default_factory=list)
    good: bool = True
    interrupted: bool = False
    then: Callable[[], object] | None = None
    savers: Mapping[str, Callable[[Path], object]] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """Give the exit code that tells programs how it went."""
        return INTERRUPTED if self.interrupted else DONE if self.good else NO
