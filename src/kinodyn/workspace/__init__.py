"""Where a frame can get: found by sampling, kept as a grid of voxels, saved, drawn."""

from kinodyn.workspace.grid import Workspace
from kinodyn.workspace.sampling import workspace

__all__ = ["Workspace", "workspace"]
