"""Read SDF (Gazebo, Drake): models with links, joints, frames, nested models and includes; worlds.

document -> includes -> scopes and frames -> links, joints -> Description
"""

from kinodyn.description.sdf.reader import parse_sdf, read_sdf

__all__ = ["parse_sdf", "read_sdf"]


def __dir__() -> list[str]:
    return list(__all__)
