"""Terrain: ground of any shape, for simulators and planners.

>>> import kinodyn as kd
>>> terrain = kd.terrain.parse("stairs:0.185,0.24,10")
>>> float(terrain.height((0.6, 0.0)))
0.185
"""

from kinodyn.terrain.files import from_file, from_heights, from_image, from_mesh, from_mjcf
from kinodyn.terrain.footholds import FootholdRules, Footholds, SoleOutline, footholds
from kinodyn.terrain.generators import boxes, field, flat, slope, stairs, stones
from kinodyn.terrain.height_map import HeightMap
from kinodyn.terrain.shapes import Box, Mesh
from kinodyn.terrain.terrain import Terrain
from kinodyn.terrain.text import parse

__all__ = [
    "Box",
    "FootholdRules",
    "Footholds",
    "HeightMap",
    "Mesh",
    "SoleOutline",
    "Terrain",
    "boxes",
    "field",
    "flat",
    "footholds",
    "from_file",
    "from_heights",
    "from_image",
    "from_mesh",
    "from_mjcf",
    "parse",
    "slope",
    "stairs",
    "stones",
]


def __dir__() -> list[str]:
    return list(__all__)
