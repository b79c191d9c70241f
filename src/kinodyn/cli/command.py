"""The decorator that makes a function a command: it adds the options that all commands have and prints the answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, get_type_hints

import typer
from rich.markup import escape

from kinodyn.cli import options
from kinodyn.cli.answer import Answer
from kinodyn.cli.files import WRITTEN
from kinodyn.cli.keeping import Kept, check_files, keep

app = typer.Typer(
    name="kinodyn",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
EXAMPLES: dict[str, tuple[str, ...]] = {}  # of each command, as its help shows them

SHARED = {
    "out": (options.Out, None),
    "plot": (options.Plot, None),
    "report": (options.ReportFile, None),
    "json": (options.Json, False),
    "debug": (options.Debug, False),
}


def command(
    name: str, *, examples: Sequence[str], without: Sequence[str] = (), out: Sequence[str] = WRITTEN
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Register a function that returns an Answer as `kinodyn NAME`.

    `examples` are whole command lines, shown by --help; `without` are options of `SHARED` that make no sense for it;
    `out` are the suffixes of files that it can write.
    """
    added = {key: value for key, value in SHARED.items() if key not in without}
    EXAMPLES[name] = tuple(examples)

    def register(function: Callable[..., Answer]) -> Callable[..., Answer]:
        def run(**given: Any) -> None:
            shared = {key: given.pop(key, None) for key in SHARED}
            wanted = Kept(name, shared["out"], shared["plot"], shared["report"], bool(shared["json"]))
            check_files(wanted, out)
            try:
                answer = function(**given)
            except KeyboardInterrupt as stop:  # before there was anything to keep; typer would end without a word
                raise typer.Abort() from stop
            keep(answer, wanted)
            if answer.then is not None:
                with suppress(KeyboardInterrupt):
                    answer.then()
            raise typer.Exit(answer.exit_code)

        hints = get_type_hints(function, include_extras=True)
        own = [
            parameter.replace(annotation=hints[key], kind=inspect.Parameter.KEYWORD_ONLY)
            for key, parameter in inspect.signature(function).parameters.items()
        ]
        more = [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
            for key, (annotation, default) in added.items()
        ]
        run.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *more)}
        app.command(name, help=_help(function.__doc__ or "", examples))(run)
        return function

    return register


def _help(text: str, examples: Sequence[str]) -> str:
    """Put the examples below the text; lines after a \\b are not joined."""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]
    lines = "\n".join(f"  {escape(example)}" for example in examples)
    heading = "Example" if len(examples) == 1 else "Examples"
    return escape("\n\n".join(paragraphs)) + f"\n\n\b\n[bold]{heading}[/]\n{lines}"
