"""Read MJCF, the model format of MuJoCo, through MuJoCo itself."""

from kinodyn.description.mjcf.reader import parse_mjcf, read_mjcf

__all__ = ["parse_mjcf", "read_mjcf"]
