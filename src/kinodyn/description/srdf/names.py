"""The names that an SRDF file uses, and which of them the robot does not have.

One SRDF file often serves several variants of a robot, so unknown names are skipped, with one warning.
"""

from __future__ import annotations

from pathlib import Path

from kinodyn.description.base import ROOT_JOINT, floating_joint
from kinodyn.description.messages import counted, listed, warn
from kinodyn.description.types import Description, Joint
from kinodyn.description.xml_tree import Node


class Names:
    """Looks up joints and links of a robot, and collects unknown names."""

    def __init__(self, root: Node, description: Description) -> None:
        self._robot = description.name
        self._joints = {joint.name: joint for joint in description.joints}
        self.links = tuple(link.name for link in description.links)
        self._links = set(self.links)
        self._above = {joint.child: joint for joint in description.joints}
        # The base joint is not in the URDF: SRDF declares it as virtual, or assumes Pinocchio's name.
        base = floating_joint(description) or Joint(ROOT_JOINT, "floating", "", "")
        self._bases = {ROOT_JOINT: base}
        for node in root.all("virtual_joint"):
            if node.word("type") == "floating":
                self._bases[node.word("name")] = base
        self._skipped: dict[str, None] = {}

    def joint(self, name: str) -> Joint | None:
        """Return a joint, or the floating base, by name; None, and a note, if neither has this name."""
        joint = self._joints.get(name) or self._bases.get(name)
        if joint is None:
            self.skip("joint", name)
        return joint

    def is_link(self, name: str) -> bool:
        """Return whether there is a link of this name."""
        return name in self._links

    def has_link(self, name: str) -> bool:
        """Return whether there is a link of this name; note the name if not."""
        if name not in self._links:
            self.skip("link", name)
        return name in self._links

    def joint_above(self, link: str) -> Joint | None:
        """Return the joint whose child is this link, None for the root."""
        return self._above.get(link)

    def skip(self, kind: str, name: str) -> None:
        """Note a name that the robot does not have."""
        self._skipped[f"{kind} {name!r}"] = None

    def warn(self, file: Path) -> None:
        """Warn once of all names that were skipped."""
        if self._skipped:
            message = f"correct {counted(len(self._skipped), 'name')} unknown to robot {self._robot!r}, skipped"
            warn(f"{message}: {listed(self._skipped, limit=6)}", file)
