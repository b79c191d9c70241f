"""The command line: `kinodyn`. One file a command, in `commands/`; the rest is what they share."""

from kinodyn.cli.entry import main

__all__ = ["main"]
