"""What becomes of an answer: printed, and written to the files that were asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinodyn.cli import files, show
from kinodyn.cli.answer import Answer
from kinodyn.cli.plain import document
from kinodyn.errors import InputError

PICTURES = (".png", ".svg", ".pdf")


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


def _report(answer: Answer, wanted: Kept, path: Path) -> None:
    from kinodyn.report import Report

    report = Report(f"kinodyn {wanted.command}: {answer.title}")
    if answer.inputs:
        rows = [
            (name, document(value) if isinstance(value, dict | list) else value)
            for name, value in answer.inputs.items()
        ]
        report.table("Inputs", ("input", "value"), rows)
    for table in answer.tables:
        report.table(table.title or "Result", table.columns, table.rows)
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
