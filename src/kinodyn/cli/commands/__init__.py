"""One file a command; to add one, write its file and name it here. The order is that of `kinodyn --help`."""

from kinodyn.cli.commands import walk, robots, info  # noqa: F401, I001
