"""Print a command's result and write the requested files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kinodyn import tables
from kinodyn.cli import files, terminal
from kinodyn.cli.json_document import dump_json
from kinodyn.cli.result import CommandResult
from kinodyn.errors import InputError

FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
MAX_INPUT_SIZE = 120  # a report prints arrays with up to this many entries, and the shape of larger ones


@dataclass(frozen=True)
class Destinations:
    """Where the result of a command goes."""

    command: str
    out: Path | None
    plot: Path | None
    report: Path | None
    json: bool


def check_files(to: Destinations, written: Sequence[str] = files.WRITTEN) -> None:
    """Raise an error for files that cannot be written, before the computation starts."""
    for file, suffixes in ((to.out, written), (to.plot, FIGURE_SUFFIXES), (to.report, (".html", ".htm"))):
        tables.check_writable(file, suffixes)


def emit(result: CommandResult, to: Destinations) -> None:
    """Print the result and write its files; if one file fails the others are still written."""
    if to.json:
        print(dump_json(as_document(result, to.command)))
        sys.stdout.flush()
    else:
        terminal.print_result(result)
    failed: Exception | None = None
    for file, write in ((to.out, _write_samples), (to.plot, _write_figure), (to.report, _write_report)):
        if file is None:
            continue
        try:
            write(result, to, file)
            terminal.say(f"written: {file}", "dim")
        except Exception as cause:
            failed = failed or cause
    if failed is not None:
        raise failed


def as_document(result: CommandResult, command: str) -> dict[str, Any]:
    """Return everything that `--json` prints."""
    import kinodyn as kd

    return {
        "command": command,
        "version": kd.__version__,
        "ok": result.ok and not result.interrupted,
        "interrupted": result.interrupted,
        "title": result.title,
        "inputs": result.inputs,
        "result": result.values,
    }


def _write_samples(result: CommandResult, to: Destinations, path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix in result.writers:
        result.writers[suffix](path)
    elif suffix == ".json":
        text = dump_json(as_document(result, to.command)) + "\n"
        tables.write_file(path, lambda stream: stream.write(text.encode()))
    elif result.samples:
        tables.write(path, result.samples, labels=result.columns)
    else:
        raise InputError(f"{to.command} has no rows of numbers to write to {path}; use a .json file")


def _write_figure(result: CommandResult, to: Destinations, path: Path) -> None:
    if not result.figures:
        raise InputError("this result has nothing to plot")
    next(iter(result.figures.values()))().savefig(path, dpi=100)


def _as_text(value: Any) -> Any:
    """Format an input for a report: lists separated by commas, large arrays by their shape only."""
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_as_text(part)}" for name, part in value.items())
    if isinstance(value, np.ndarray) and value.size > MAX_INPUT_SIZE:
        return f"array of {' x '.join(map(str, value.shape))} numbers"
    if isinstance(value, np.ndarray | list | tuple):
        parts = [_as_text(part) for part in value]
        return ("; " if np.ndim(value) > 1 else ", ").join(map(str, parts))
    return terminal.cell(value, 6) if isinstance(value, float | np.floating) else value


def _without_rounding_error(value: Any) -> Any:
    """Replace values that are zero up to rounding by zero, as the terminal does."""
    return 0.0 if isinstance(value, float | np.floating) and abs(value) < terminal.ZERO else value


def _write_report(result: CommandResult, to: Destinations, path: Path) -> None:
    from kinodyn.report import Report

    report = Report(f"kinodyn {to.command}: {result.title}")
    inputs = [(name, _as_text(value)) for name, value in result.inputs.items()]
    given = [(name, value) for name, value in inputs if value not in (None, "")]
    if given:
        report.table("Inputs", ("input", "value"), given)
    for table in result.tables:
        rows = [[_without_rounding_error(value) for value in row] for row in table.rows]
        report.table(table.title or "Result", table.columns, rows)
        if table.total > len(table.rows):
            report.text(f"The first {len(table.rows)} rows of {table.total}; --out FILE writes all of them.")
    for title, draw in result.figures.items():
        try:
            report.figure(title, draw())
        except Exception as cause:
            if not result.interrupted:  # an interrupted run may lack what a figure needs
                raise
            report.text(f"could not be drawn: {cause}", heading=title)
    if result.text:
        report.code(result.text)
    for note in result.notes:
        report.text(note)
    report.save(path)
