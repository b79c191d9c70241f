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
        if file is None:
            continue
        if file.suffix.lower() not in suffixes:
            raise InputError(f"{file} ends in {file.suffix!r}; allowed are {', '.join(suffixes)}")
        if not file.absolute().parent.is_dir():
            raise InputError(f"{file} cannot be written: the folder {file.absolute().parent} does not exist")


def keep(answer: Answer, wanted: Kept) -> None:
    """Write the files that were asked for, then print the answer."""
    if wanted.out is not None:
        _write_numbers(answer, wanted)
    if wanted.plot is not None:
        _draw(answer, wanted.plot)
    if wanted.report is not None:
        _report(answer, wanted)
    if wanted.json:
        print(document(full(answer, wanted.command)))
        sys.stdout.flush()
    else:
        show.answer(answer)
    for file in (wanted.out, wanted.plot, wanted.report):
        if file is not None:
            show.say(f"written: {file}", "dim")


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


def _write_numbers(answer: Answer, wanted: Kept) -> None:
    assert wanted.out is not None
    suffix = wanted.out.suffix.lower()
    if suffix in answer.savers:
        answer.savers[suffix](wanted.out)
    elif suffix == ".json":
        files.write_whole(wanted.out, (document(full(answer, wanted.command)) + "\n").encode())
    elif answer.samples:
        files.write_samples(wanted.out, answer.samples, answer.columns)
    else:
        raise InputError(f"{wanted.command} gives no rows of numbers; write them to a .json file, not to {wanted.out}")


def _draw(answer: Answer, path: Path) -> None:
    if not answer.pictures:
        raise InputError("there is nothing to draw in this answer")
    next(iter(answer.pictures.values()))().savefig(path, dpi=100)


def _report(answer: Answer, wanted: Kept) -> None:
    from kinodyn.report import Report

    assert wanted.report is not None
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
    report.save(wanted.report)
