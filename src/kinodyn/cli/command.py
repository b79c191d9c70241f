"""The decorator that turns a function into a command: it adds the shared options and prints the result."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from rich.markup import escape

from kinodyn.cli import args, options
from kinodyn.cli.files import WRITTEN
from kinodyn.cli.output import Destinations, check_files, emit
from kinodyn.cli.result import CommandResult

Command = Callable[..., CommandResult]

app = typer.Typer(
    name="kinodyn",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
EXAMPLES: dict[str, tuple[str, ...]] = {}  # command name -> the command lines that its help shows

SHARED = {
    "packages": (options.Packages, None),
    "out": (options.Out, None),
    "plot": (options.Plot, None),
    "report": (options.ReportFile, None),
    "json": (options.Json, False),
    "debug": (options.Debug, False),
}


def command(
    name: str, *, examples: Sequence[str], without: Sequence[str] = (), out: Sequence[str] = WRITTEN
) -> Callable[[Command], Command]:
    """Register a function that returns a `CommandResult` as `kinodyn NAME`.

    Parameters
    ----------
    name : str
    examples : sequence of str
        Complete command lines, shown by `--help` and run by the tests.
    without : sequence of str
        Keys of `SHARED` that this command does not offer.
    out : sequence of str
        Suffixes of the files that `--out` can write.
    """
    EXAMPLES[name] = tuple(examples)

    def register(function: Command) -> Command:
        def run(**given: Any) -> None:
            _run(name, function, out, given)

        own = _own(function)
        parameters = [*own, *_shared(without, out, {parameter.name for parameter in own})]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(name, help=_help(function.__doc__ or "", examples))(run)
        return function

    return register


def _run(name: str, function: Command, out: Sequence[str], given: dict[str, Any]) -> None:
    """Check the output files, compute, print and write the result, and end with its exit code."""
    own = inspect.signature(function).parameters
    shared = {key: given.pop(key, None) for key in SHARED if key not in own}
    destinations = Destinations(name, shared["out"], shared["plot"], shared["report"], bool(shared["json"]))
    check_files(destinations, out)
    try:
        with args.packages_in(shared.get("packages") or ()):
            result = function(**given)
    except KeyboardInterrupt as stop:  # there is no result yet; typer would end without a message
        raise typer.Abort() from stop
    emit(result, destinations)
    if result.on_finish is not None:
        with suppress(KeyboardInterrupt):
            result.on_finish()
    raise typer.Exit(result.exit_code)


def _own(function: Command) -> list[inspect.Parameter]:
    hints = get_type_hints(function, include_extras=True)
    return [
        parameter.replace(annotation=hints[key], kind=inspect.Parameter.KEYWORD_ONLY)
        for key, parameter in inspect.signature(function).parameters.items()
    ]


def _shared(without: Sequence[str], out: Sequence[str], own: set[str]) -> list[inspect.Parameter]:
    """Return the shared options that a command has not got itself; --packages only if it loads a robot."""
    left_out = {*without, *own, *(() if "robot" in own else ("packages",))}
    annotations = {key: annotation for key, (annotation, _) in SHARED.items()}
    *others, last = out
    suffixes = f"{', '.join(others)} or {last}" if others else last
    annotations["out"] = Annotated[Path | None, options.option(f"write the numbers to a {suffixes} file")]
    return [
        inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotations[key])
        for key, (_, default) in SHARED.items()
        if key not in left_out
    ]


def _help(text: str, examples: Sequence[str]) -> str:
    """Append the examples to the text; typer does not join lines after a \\b."""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]
    lines = "\n".join(f"  {escape(example)}" for example in examples)
    heading = "Example" if len(examples) == 1 else "Examples"
    return escape("\n\n".join(paragraphs)) + f"\n\n\b\n[bold]{heading}[/]\n{lines}"
