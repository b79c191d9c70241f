"""The workspace of a frame: computed by sampling, stored as a voxel grid, saved and plotted."""

from kinodyn.kinematics.workspaces.grid import Workspace
from kinodyn.kinematics.workspaces.sampling import workspace

__all__ = ["Workspace", "workspace"]


def __dir__() -> list[str]:
    return list(__all__)
