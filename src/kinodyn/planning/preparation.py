"""Preprocessing, once per robot: spheres, allowed pairs, shapes for exact checks."""

from __future__ import annotations

import math
from weakref import WeakSet

from kinodyn.collision import exact
from kinodyn.collision.geometry import robot_geometry
from kinodyn.collision.padding import NO_PADDING, LinkPadding
from kinodyn.collision.query import sphere_form
from kinodyn.collision.refinement import robot_spheres
from kinodyn.collision.shapes import Mesh
from kinodyn.collision.sphere_forms import padded_covers
from kinodyn.description.types import Description
from kinodyn.model.robot import Robot, require_robot

MAX_TRIANGLES = 1_000_000  # of all links, some seconds; links of larger robots are prepared when they are needed

_PREPARED: WeakSet[Description] = WeakSet()


def prepare(robot: Robot, resolution: float | None = None, padding: LinkPadding = NO_PADDING) -> None:
    """Compute what does not depend on the problem, so that it is not part of the time budget of a plan."""
    require_robot(robot)
    if resolution is not None:
        robot_spheres(robot, resolution)
    if padding:
        padded_covers(robot, (), padding, resolution)
    if robot.description in _PREPARED:
        return
    sphere_form(robot)
    if exact.is_available():
        shapes = [part.shape for part in robot_geometry(robot)]
        if sum(len(shape.faces) for shape in shapes if isinstance(shape, Mesh)) <= MAX_TRIANGLES:
            exact.prepared(shapes, math.inf)
    _PREPARED.add(robot.description)
