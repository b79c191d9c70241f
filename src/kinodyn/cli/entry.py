"""The way in: arguments, and what becomes of errors.

Exit codes: 0 done, 1 the answer is no, 2 wrong use, 70 a fault of kinodyn, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from kinodyn.cli import commands, show
from kinodyn.cli.answer import BUG, DONE, INTERRUPTED, NO, WRONG_USE
from kinodyn.cli.command import app
from kinodyn.cli.options import Debug, option
from kinodyn.cli.plain import document
from kinodyn.errors import DescriptionError, DescriptionWarning, InputError, KinodynError, UnknownNameError

BROKEN_PIPE = 141  # as the shell says of a program whose reader went away


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `kinodyn` with arguments, those of the process unless given, and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given:
        main(["--help"])
        return WRONG_USE
    program = typer.main.get_command(app)
    with warnings.catch_warnings():
        warnings.simplefilter("always", DescriptionWarning)
        warnings.showwarning = _once()
        try:
            code = program.main(args=given, prog_name="kinodyn", standalone_mode=False)
            return code if isinstance(code, int) else DONE
        except (KeyboardInterrupt, typer.Abort):
            return _told(given, "interrupted before there was anything to keep", INTERRUPTED)
        except SystemExit as end:  # completion of the shell ends like this
            return end.code if isinstance(end.code, int) else DONE
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return BROKEN_PIPE
        except Exception as error:
            if "--debug" in given:
                traceback.print_exc()
            return _told(given, *_said(error))


def _version(wanted: bool) -> None:
    if wanted:
        import kinodyn as kd

        print(f"kinodyn {kd.__version__} ({kd.__build__})")
        raise typer.Exit()


@app.callback()
def _kinodyn(
    version: Annotated[
        bool, option("print the version and stop", "--version", is_eager=True, callback=_version)
    ] = False,
    debug: Debug = False,
) -> None:
    """Kinematics and dynamics of robots, humanoids above all: one command a capability.

    A robot is a name (`kinodyn robots` lists them) or a file. Units are SI and radians.
    Every command has --json for programs and --report for people.
    """


def _said(error: Exception) -> tuple[str, int]:
    """Put an error into words, with its exit code."""
    if hasattr(error, "format_message"):  # the parser's own
        context = getattr(error, "ctx", None)
        more = f" `{context.command_path} --help` shows what is allowed." if context is not None else ""
        said = error.format_message().replace("Value error, ", "").rstrip(".")
        return f"{said}.{more}", WRONG_USE
    if isinstance(error, InputError | UnknownNameError | DescriptionError):
        return str(error), WRONG_USE
    if isinstance(error, KinodynError):
        return str(error), NO
    if isinstance(error, OSError):
        return str(error), WRONG_USE
    return f"{type(error).__name__}: {error}. This is a fault of kinodyn; --debug shows where it is.", BUG


def _told(given: Sequence[str], text: str, code: int) -> int:
    """Say it on stderr, and to programs that wait for JSON on stdout."""
    show.error(text)
    if "--json" in given:
        print(document({"ok": False, "interrupted": code == INTERRUPTED, "error": text, "exit_code": code}))
    return code


def _once() -> Callable[..., None]:
    """Show a warning as one line, and the same one only once."""
    seen: set[str] = set()

    def shown(message: Warning | str, *place: Any, **more: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            show.warning(str(message))

    return shown


__all__ = ["commands", "main"]
