"""Dynamics under contacts and loops: accelerations, constraint forces, impacts, friction, soft ground."""

from kinodyn.dynamics.contact import friction
from kinodyn.dynamics.contact.constraints import Constraint, Contact, Loop
from kinodyn.dynamics.contact.dynamics import Projected, drift, dynamics, impact, jacobian, projected
from kinodyn.dynamics.contact.forces import Forces
from kinodyn.dynamics.contact.ground import HeightField, Plane
from kinodyn.dynamics.contact.inverse import Effort, inverse
from kinodyn.dynamics.contact.points import sole_points
from kinodyn.dynamics.contact.projection import Projection, constraint_error, project, project_velocity
from kinodyn.dynamics.contact.soft import SoftContacts

__all__ = [
    "Constraint",
    "Contact",
    "Effort",
    "Forces",
    "HeightField",
    "Loop",
    "Plane",
    "Projected",
    "Projection",
    "SoftContacts",
    "constraint_error",
    "drift",
    "dynamics",
    "friction",
    "impact",
    "inverse",
    "jacobian",
    "project",
    "project_velocity",
    "projected",
    "sole_points",
]


def __dir__() -> list[str]:
    return list(__all__)
