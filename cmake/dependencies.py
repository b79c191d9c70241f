"""Prints the dependencies of kinodyn, one a line: `python cmake/dependencies.py EXTRA ...` adds those of extras."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
extras = project["optional-dependencies"]
print(*project["dependencies"], *(line for extra in sys.argv[1:] for line in extras[extra]), sep="\n")
