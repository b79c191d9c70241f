"""The command line `kinodyn`: one file per command in `commands/`, the other modules are shared by them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows `kinodyn`; those of the process by default.

    Returns
    -------
    int
        The exit code: 0 success, 1 negative answer, 2 wrong usage, 70 internal error, 130 interrupted.
    """
    try:
        from kinodyn.cli import entry  # takes half a second, during which Ctrl-C must not show a traceback
    except KeyboardInterrupt:
        return 130
    return entry.main(arguments)


def __dir__() -> list[str]:
    return list(__all__)
