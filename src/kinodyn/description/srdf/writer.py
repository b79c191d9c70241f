"""Write collision pairs as an SRDF document."""

from __future__ import annotations

import os
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kinodyn.tables.output import write_text


def write_collisions(
    robot: str, pairs: Iterable[tuple[str, str, str]], path: str | os.PathLike[str] | None = None
) -> str:
    """Write pairs of links that are not checked for collision, each with its reason.

    Parameters
    ----------
    robot
        Name of the robot.
    pairs
        Two links and the reason.
    path
        File to write to; none if not given.

    Returns
    -------
    text : str
        The SRDF document.
    """
    root = Element("robot", name=robot)
    for first, second, reason in pairs:
        SubElement(root, "disable_collisions", link1=first, link2=second, reason=reason)
    indent(root)
    text = '<?xml version="1.0"?>\n' + tostring(root, encoding="unicode") + "\n"
    if path is not None:
        write_text(path, text)
    return text
