"""The entry point of the command line: parsing, and turning errors into messages and exit codes."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from kinodyn.cli import commands, terminal
from kinodyn.cli.command import app
from kinodyn.cli.json_document import dump_json
from kinodyn.cli.options import Debug, option
from kinodyn.cli.result import INTERNAL_ERROR, INTERRUPTED, NEGATIVE, SUCCESS, USAGE_ERROR
from kinodyn.errors import DescriptionError, DescriptionWarning, InputError, KinodynError, UnknownNameError

BROKEN_PIPE = 141  # 128 + SIGPIPE, as the shell reports it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `kinodyn` with arguments, by default those of the process, and return the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given:
        main(["--help"])
        return USAGE_ERROR
    program = typer.main.get_command(app)
    with warnings.catch_warnings():
        warnings.simplefilter("always", DescriptionWarning)
        warnings.showwarning = _show_each_warning_once()
        try:
            code = program.main(args=given, prog_name="kinodyn", standalone_mode=False)
            return code if isinstance(code, int) else SUCCESS
        except (KeyboardInterrupt, typer.Abort):
            return _fail(given, "interrupted before there was any result", INTERRUPTED)
        except SystemExit as end:  # shell completion ends like this
            return end.code if isinstance(end.code, int) else SUCCESS
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return BROKEN_PIPE
        except Exception as error:
            if "--debug" in given:
                traceback.print_exc()
            return _fail(given, *_describe(error))


def _version(requested: bool) -> None:
    if requested:
        import kinodyn as kd

        print(f"kinodyn {kd.__version__} ({kd.__build__})")
        raise typer.Exit()


@app.callback()
def _kinodyn(
    version: Annotated[
        bool, option("print the version and exit", "--version", is_eager=True, callback=_version)
    ] = False,
    debug: Debug = False,
) -> None:
    """Kinematics and dynamics of robots, with a focus on humanoids: one command per capability.

    ROBOT is a name (`kinodyn robots` lists them) or a URDF, MJCF or SDF file. Units are SI and radians.
    Most commands have --json for programs and --report for an HTML page.
    """


def _describe(error: Exception) -> tuple[str, int]:
    """Return the message and the exit code of an error."""
    if hasattr(error, "format_message"):  # an error of the argument parser
        context = getattr(error, "ctx", None)
        more = f" `{context.command_path} --help` shows what is allowed." if context is not None else ""
        message = error.format_message().replace("Value error, ", "").rstrip(".")
        return f"{message}.{more}", USAGE_ERROR
    if isinstance(error, InputError | UnknownNameError | DescriptionError | OSError):
        return str(error), USAGE_ERROR
    if isinstance(error, KinodynError):
        return str(error), NEGATIVE
    return f"{type(error).__name__}: {error}. This is a bug in kinodyn; --debug shows the traceback.", INTERNAL_ERROR


def _fail(given: Sequence[str], message: str, code: int) -> int:
    """Print an error message on stderr and, with `--json`, as a document on stdout."""
    terminal.error(message)
    if "--json" in given:
        print(dump_json({"ok": False, "interrupted": code == INTERRUPTED, "error": message, "exit_code": code}))
    return code


def _show_each_warning_once() -> Callable[..., None]:
    """Make a replacement for `warnings.showwarning` that prints each distinct warning as one line, once."""
    seen: set[str] = set()

    def show(message: Warning | str, *place: Any, **more: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            terminal.warning(str(message))

    return show


__all__ = ["commands", "main"]
