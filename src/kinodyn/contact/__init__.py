"""Dynamics in touch with the world: contacts, loops, impacts, and the forces that they need."""

from kinodyn.contact.constraints import Constraint, Contact, Loop
from kinodyn.contact.dynamics import Projected, dynamics, impact, jacobian, projected
from kinodyn.contact.forces import Forces
from kinodyn.contact.projection import Projection, constraint_error, project, project_velocity

__all__ = [
    "Constraint",
    "Contact",
    "Forces",
    "Loop",
    "Projected",
    "Projection",
    "constraint_error",
    "dynamics",
    "impact",
    "jacobian",
    "project",
    "project_velocity",
    "projected",
]
