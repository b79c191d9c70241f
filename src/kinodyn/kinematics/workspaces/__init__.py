"""Where a frame can get: found by sampling, kept as a grid of voxels, saved, drawn."""

from kinodyn.kinematics.workspaces.grid import Workspace
from kinodyn.kinematics.workspaces.sampling import workspace

__all__ = ["Workspace", "workspace"]
