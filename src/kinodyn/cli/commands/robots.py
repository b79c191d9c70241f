"""kinodyn robots: list the known robots."""

from __future__ import annotations

from typing import Annotated

from kinodyn.cli.command import command
from kinodyn.cli.options import argument
from kinodyn.cli.result import CommandResult, Table


@command("robots", examples=["kinodyn robots", "kinodyn robots talos"], without=("plot", "report"))
def robots(part: Annotated[str, argument("only names that contain this")] = "") -> CommandResult:
    """List the robots that can be loaded by name.

    Those marked "bundled" come with kinodyn, the others with an extra: pip install 'kinodyn[robots]'.
    """
    import kinodyn as kd
    from kinodyn.description.catalogue import BUNDLED

    names = [name for name in kd.robots() if part.lower() in name.lower()]
    rows = [(name, "bundled" if name in BUNDLED else "robots extra") for name in names]
    return CommandResult(
        f"{len(names)} robots" if names else f"no robot name contains {part!r}",
        {"robots": [{"name": name, "source": source} for name, source in rows]},
        {"part": part},
        [Table("", ("name", "source"), rows, max_rows=len(rows))] if rows else [],
        samples={"name": [row[0] for row in rows], "source": [row[1] for row in rows]},
        ok=bool(names),
    )
