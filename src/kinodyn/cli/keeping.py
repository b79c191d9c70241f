"""What becomes of an answer: printed, and written to the files that were asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kinodyn.cli import files, show
from kinodyn.cli.answer import Answer
from kinodyn.cli.plain import document
from kinodyn.errors import InputError

PICTURES = (".png", ".svg", ".pdf")
LONG = 120  # numbers of an input that a report still shows


@dataclass(frozen=True)
class Kept:
    """Where the answer of a command goes."""

    command: str
    out: Path | None
    plot: Path | None
    report: Path | None
    json: bool


def check_files(wanted: Kept, written: Sequence[str] = files.WRITTEN) -> None:
    """Refuse files that cannot be written before the work, not after it."""
    for file, suffixes in ((wanted.out, written), (wanted.plot, PICTURES), (wanted.report, (".html", ".htm"))):
        files.check_target(file, suffixes)


def keep(answer: Answer, wanted: Kept) -> None:
    """Print the answer and write the files that were asked for; a file that fails takes no other with it."""
    if wanted.json:
        print(document(full(answer, wanted.command)))
        sys.stdout.flush()
    else:
        show.answer(answer)
    failed: Exception | None = None
    for file, write in ((wanted.out, _write_numbers), (wanted.plot, _draw), (wanted.report, _report)):
        if file is None:
            continue
        try:
            write(answer, wanted, file)
            show.say(f"written: {file}", "dim")
        except Exception as cause:
            failed = failed or cause
    if failed is not None:
        raise failed


def full(answer: Answer, command: str) -> dict[str, Any]:
    """Give everything that `--json` prints."""
    import kinodyn as kd

    return {
        "command": command,
        "version": kd.__version__,
        "ok": answer.good and not answer.interrupted,
        "interrupted": answer.interrupted,
        "title": answer.title,
        "inputs": answer.inputs,
        "result": answer.result,
    }


def _write_numbers(answer: Answer, wanted: Kept, path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix in answer.savers:
        answer.savers[suffix](path)
    elif suffix == ".json":
        files.write_whole(path, (document(full(answer, wanted.command)) + "\n").encode())
    elif answer.samples:
        files.write_samples(path, answer.samples, answer.columns)
    else:
        raise InputError(f"{wanted.command} gives no rows of numbers; write them to a .json file, not to {path}")


def _draw(answer: Answer, wanted: Kept, path: Path) -> None:
    if not answer.pictures:
        raise InputError("there is nothing to draw in this answer")
    next(iter(answer.pictures.values()))().savefig(path, dpi=100)


def _short(value: Any) -> Any:
    """Write an input for people: lists between commas, of a long batch only its size."""
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_short(part)}" for name, part in value.items())
    if isinstance(value, np.ndarray) and value.size > LONG:
        return f"array of {' x '.join(map(str, value.shape))} numbers"
    if isinstance(value, np.ndarray | list | tuple):
        parts = [_short(part) for part in value]
        return ("; " if np.ndim(value) > 1 else ", ").join(map(str, parts))
    return show.cell(value, 6) if isinstance(value, float | np.floating) else value


def _calm(value: Any) -> Any:
    """Round to zero what is only rounding, as the terminal does."""
    return 0.0 if isinstance(value, float | np.floating) and abs(value) < show.ZERO else value


def _report(answer: Answer, wanted: Kept, path: Path) -> None:
    from kinodyn.report import Report

    report = Report(f"kinodyn {wanted.command}: {answer.title}")
    inputs = [(name, _short(value)) for name, value in answer.inputs.items()]
    given = [(name, value) for name, value in inputs if value not in (None, "")]
    if given:
        report.table("Inputs", ("input", "value"), given)
    for table in answer.tables:
        report.table(table.title or "Result", table.columns, [[_calm(value) for value in row] for row in table.rows])
        if table.total > len(table.rows):
            report.text(f"The first {len(table.rows)} rows of {table.total}; --out FILE keeps them all.")
    for title, picture in answer.pictures.items():
        try:
            report.figure(title, picture())
        except Exception as cause:
            if not answer.interrupted:  # of half a run not everything can be drawn
                raise
            report.text(f"could not be drawn: {cause}", heading=title)
    if answer.text:
        report.code(answer.text)
    for note in answer.notes:
        report.text(note)
    report.save(path)
