"""Check robot files and repair them on request: every fault with its line, every repair with its reason.

`check` parses a file leniently, runs rules over its elements, each of which reports a fault and edits the document, and
reads the edited text as any other file.
"""

from kinodyn.description.repair.checking import check
from kinodyn.description.repair.findings import Finding, Report

__all__ = ["Finding", "Report", "check"]
