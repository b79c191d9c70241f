"""Read SRDF files: groups, end effectors, named configurations and collision pairs of a robot."""

from kinodyn.description.srdf.reader import read_srdf

__all__ = ["read_srdf"]
