"""One file per command; a new command is a new file and its name here. The order is that of `kinodyn --help`."""

# isort: off
from kinodyn.cli.commands import walk, push, envelope, retarget, motions, bag, simulate, view  # noqa: F401
from kinodyn.cli.commands import robots, info, check  # noqa: F401
from kinodyn.cli.commands import fk, ik, jacobian, workspace, trajectory, collide, plan  # noqa: F401
from kinodyn.cli.commands import dynamics, derive, identify, bench  # noqa: F401
