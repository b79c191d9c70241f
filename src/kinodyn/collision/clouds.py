"""Spheres that cover a point cloud attached to the robot."""

from __future__ import annotations

import math

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.shapes import PointCloud

MAX_SINGLE_POINTS = 1000  # points that get one sphere each


def cloud_spheres(cloud: PointCloud, resolution: float) -> Array:
    """Return spheres (n, 4) that contain the balls about the points of a cloud, and reach `resolution` beyond at most.

    Points in a common cube of a grid get one sphere: it reaches beyond their balls by its diameter at most.
    """
    points = cloud.points
    if len(points) <= MAX_SINGLE_POINTS:
        return np.hstack([points, np.full((len(points), 1), cloud.radius)])
    lowest = points.min(axis=0)
    side = max(resolution / math.sqrt(3.0), float(np.ptp(points, axis=0).max()) / 2.0**20)
    cube = ((points - lowest) / side).astype(np.int64)
    key = (cube[:, 0] << 42) + (cube[:, 1] << 21) + cube[:, 2]
    order = np.argsort(key, kind="stable")
    key, points = key[order], points[order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    centres = 0.5 * (np.minimum.reduceat(points, first) + np.maximum.reduceat(points, first))
    number = np.repeat(np.arange(len(first)), np.diff([*first, len(points)]))
    distances = np.linalg.norm(points - centres[number], axis=1)
    return np.column_stack([centres, np.maximum.reduceat(distances, first) + cloud.radius])
