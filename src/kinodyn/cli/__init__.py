"""The command line: `kinodyn`. One file a command, in `commands/`; the rest is what they share."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `kinodyn` with arguments, those of the process unless given, and return the exit code."""
    try:
        from kinodyn.cli import entry  # takes half a second, in which Ctrl-C must not show a traceback
    except KeyboardInterrupt:
        return 130
    return entry.main(arguments)
