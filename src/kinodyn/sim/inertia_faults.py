"""Why a simulator rejects the inertias of a robot, in the words of `kinodyn.check`."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.messages import repair_hint
from kinodyn.description.repair.inertias import why_inconsistent
from kinodyn.description.types import Inertia
from kinodyn.model.robot import Robot


def inertia_faults(robot: Robot) -> str:
    """Name the moving links whose inertia no distribution of mass has; "" if there are none."""
    lines = {link.name: link.line for link in robot.description.links}
    faults = []
    for link, parameters in zip(robot.parameter_links, robot.inertial_parameters.reshape(-1, 10), strict=True):
        found = why_inconsistent(about_com(parameters).matrix) if parameters[0] > 0.0 else None
        if found is not None:
            place = "" if lines.get(link) is None else f", line {lines[link]}"
            faults.append(f"link {link!r}{place}: {found[1]}")
    return "; ".join(faults[:3]) + repair_hint(robot.description.source) if faults else ""


def about_com(parameters: Array) -> Inertia:
    """Return the inertia of inertial parameters [m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] about the origin; m > 0."""
    mass, com = float(parameters[0]), parameters[1:4] / parameters[0]
    xx, xy, yy, xz, yz, zz = parameters[4:]
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertia(mass, com, about_origin - mass * (com @ com * np.eye(3) - np.outer(com, com)))
