"""The robots bundled with kinodyn, one file each, every number with its source."""

from kinodyn.description.bundled.panda import panda
from kinodyn.description.bundled.planar import planar2r, planar3r
from kinodyn.description.bundled.puma560 import puma560
from kinodyn.description.bundled.scara import scara
from kinodyn.description.bundled.ur5 import ur5

__all__ = ["panda", "planar2r", "planar3r", "puma560", "scara", "ur5"]
