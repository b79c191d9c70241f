"""What a check finds in a file, and the repairs that it proposes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kinodyn.argument_types import check_types
from kinodyn.description.repair.document import Document
from kinodyn.description.types import Description
from kinodyn.description.xml_tree import Node
from kinodyn.display import displayed
from kinodyn.errors import DescriptionError, InputError
from kinodyn.tables.output import write_file

Level = Literal["error", "warning", "note"]


@displayed
@dataclass(frozen=True)
class Finding:
    """One fault of a file.

    Parameters
    ----------
    level
        "error": the file cannot be loaded; "warning": it loads, but something is missing or cannot be simulated;
        "note": worth knowing.
    message
        What is wrong.
    line
        Line in the file, None if unknown.
    element
        The XML element, as in `joint name="elbow"/limit`; empty if unknown.
    repair
        What `Report.repaired` does about it and why; empty if there is no repair.
    """

    level: Level
    message: str
    line: int | None = None
    element: str = ""
    repair: str = ""

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        what = f"<{self.element}>: " if self.element else ""
        return f"{place}{what}{self.message}" + (f"; repair: {self.repair}" if self.repair else "")


@displayed
@dataclass(frozen=True)
class Report:
    """The result of `check`.

    Parameters
    ----------
    file
        The file.
    findings
        In the order of their lines.
    repaired
        The text of the file with all proposed repairs, and no other change; None if the file is not XML.
    description
        What the repaired text describes; None if errors are left that have no repair.
    remaining
        Errors and warnings of the repaired text.
    encoded
        The repaired text in the encoding of the file.
    """

    file: Path
    findings: tuple[Finding, ...]
    repaired: str | None = None
    description: Description | None = None
    remaining: tuple[Finding, ...] = ()
    encoded: bytes = field(default=b"", repr=False)

    @property
    def valid(self) -> bool:
        """Whether the file loads as it is."""
        return all(finding.level != "error" for finding in self.findings)

    @property
    def repairs(self) -> tuple[Finding, ...]:
        """The findings that have a repair."""
        return tuple(finding for finding in self.findings if finding.repair)

    @property
    def repairable(self) -> bool:
        """Whether the repaired text loads."""
        return self.description is not None

    @check_types
    def write(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the repaired text to a file. The checked file itself is never changed unless it is named here.

        Parameters
        ----------
        path
            File to write. Meshes are found from there if it is in the folder of the checked file, or if `check` was
            given this path as `destination`.
        overwrite
            Whether the checked file itself may be replaced.

        Returns
        -------
        path : Path
        """
        target = Path(path)
        if self.repaired is None:
            raise DescriptionError("cannot be repaired: it is not XML", file=self.file)
        if target.exists() and target.samefile(self.file) and not overwrite:
            raise InputError(f"{target} is the checked file; give another name, or overwrite=True")
        write_file(target, lambda stream: stream.write(self.encoded))
        return target


class Findings:
    """Collects findings while rules edit a document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.found: list[Finding] = []

    def add(self, level: Level, node: Node, message: str, repair: str = "") -> None:
        """Add a finding about an element."""
        self.found.append(Finding(level, message, node.line, node.label, repair))

    def set(self, level: Level, node: Node, message: str, repair: str, **attributes: str | None) -> None:
        """Add a finding that is repaired by setting attributes, or removing those that are None."""
        self.add(level, node, message, repair)
        for name, value in attributes.items():
            self.document.set(node, name, value)

    def remove(self, level: Level, node: Node, message: str, repair: str) -> None:
        """Add a finding that is repaired by removing the element."""
        self.add(level, node, message, repair)
        self.document.remove(node)

    def in_order(self) -> tuple[Finding, ...]:
        """Return the findings by line."""
        return tuple(sorted(self.found, key=lambda finding: (finding.line is None, finding.line or 0)))
