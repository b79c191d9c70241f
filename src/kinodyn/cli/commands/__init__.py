"""One file a command; to add one, write its file and name it here. The order is that of `kinodyn --help`."""

from kinodyn.cli.commands import walk, robots, info, check, fk, jacobian, dynamics  # noqa: F401, I001
