"""kinodyn robots: list the known robots."""

from __future__ import annotations

from typing import Annotated

from kinodyn.cli.command import command
from kinodyn.cli.options import argument
from kinodyn.cli.result import CommandResult, Table


@command("robots", examples=["kinodyn robots", "kinodyn robots talos"], without=("plot", "report"))
def robots(part: Annotated[str, argument("only names that contain this")] = "") -> CommandResult:
    """List the robots that can be loaded by name.

    Robots marked "bundled" come with kinodyn, those of the "robots extra" with: pip install 'kinodyn[robots]'. Robots
    of the package robot_descriptions are listed if they are in its cache; python -m robot_descriptions pull NAME adds
    one.
    """
    import kinodyn as kd
    from kinodyn.description.catalogue import source_of

    names = [name for name in kd.robots() if part.lower() in name.lower()]
    rows = [(name, source_of(name)) for name in names]
    return CommandResult(
        f"{len(names)} robots" if names else f"no robot name contains {part!r}",
        {"robots": [{"name": name, "source": source} for name, source in rows]},
        {"part": part},
        [Table("", ("name", "source"), rows, max_rows=len(rows))] if rows else [],
        samples={"name": [row[0] for row in rows], "source": [row[1] for row in rows]},
        ok=bool(names),
    )
