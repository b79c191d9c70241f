"""Read SRDF files: what people call the parts and postures of a robot."""

from kinodyn.description.srdf.reader import read_srdf

__all__ = ["read_srdf"]
