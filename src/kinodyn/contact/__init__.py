"""Dynamics in touch with the world: contacts, loops, impacts, and the forces that they need."""

from kinodyn.contact import friction
from kinodyn.contact.constraints import Constraint, Contact, Loop
from kinodyn.contact.dynamics import Projected, dynamics, impact, jacobian, projected
from kinodyn.contact.forces import Forces
from kinodyn.contact.ground import HeightField, Plane
from kinodyn.contact.inverse import Effort, inverse
from kinodyn.contact.points import sole_points
from kinodyn.contact.projection import Projection, constraint_error, project, project_velocity
from kinodyn.contact.soft import SoftContacts

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
