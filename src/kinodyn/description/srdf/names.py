"""The names that an SRDF file may use, and those it used in vain.

One SRDF often serves several variants of a robot, so a name that this robot lacks is skipped, with one warning.
"""

from __future__ import annotations

from pathlib import Path

from kinodyn.description.base import ROOT_JOINT, floating_joint
from kinodyn.description.notices import counted, listed, warn
from kinodyn.description.types import Description, Joint
from kinodyn.description.xmlnode import Node


class Names:
    """Looks up joints and links of a robot, and remembers the names that it does not have."""

    def __init__(self, root: Node, description: Description) -> None:
        self._robot = description.name
        self._joints = {joint.name: joint for joint in description.joints}
        self._links = {link.name for link in description.links}
        self._above = {joint.child: joint for joint in description.joints}
        # The base joint is not in the URDF: SRDF declares it as virtual, or takes Pinocchio's name for granted.
        base = floating_joint(description) or Joint(ROOT_JOINT, "floating", "", "")
        self._bases = {ROOT_JOINT: base}
        for node in root.all("virtual_joint"):
            if node.word("type") == "floating":
                self._bases[node.word("name")] = base
        self._skipped: dict[str, None] = {}

    def joint(self, name: str) -> Joint | None:
        """Return a joint, or the floating base that goes by this name; None, and a note, when there is neither."""
        joint = self._joints.get(name) or self._bases.get(name)
        if joint is None:
            self.skip("joint", name)
        return joint

    def has_link(self, name: str) -> bool:
        """Tell whether there is a link of this name; note the name when there is not."""
        if name not in self._links:
            self.skip("link", name)
        return name in self._links

    def joint_above(self, link: str) -> Joint | None:
        """Return the joint that a link hangs on, None for the root."""
        return self._above.get(link)

    def skip(self, kind: str, name: str) -> None:
        """Note a name that is of no use here."""
        self._skipped[f"{kind} {name!r}"] = None

    def warn(self, file: Path) -> None:
        """Give one warning for all the names that were skipped."""
        if self._skipped:
            message = f"{counted(len(self._skipped), 'name')} of no use to robot {self._robot!r} skipped"
            warn(f"{message}: {listed(self._skipped, most=6)}", file)
