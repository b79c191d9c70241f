"""Dynamics in touch with the world: contacts, loops, impacts, and the forces that they need."""

from kinodyn.contact import friction
from kinodyn.contact.constraints import Contact, Loop
from kinodyn.contact.dynamics import Forces, dynamics, impact, jacobian, projected
from kinodyn.contact.ground import HeightField, Plane
from kinodyn.contact.inverse import Effort, inverse
from kinodyn.contact.points import sole_points
from kinodyn.contact.soft import SoftContacts

__all__ = [
    "Contact",
    "Effort",
    "Forces",
    "HeightField",
    "Loop",
    "Plane",
    "SoftContacts",
    "dynamics",
    "friction",
    "impact",
    "inverse",
    "jacobian",
    "projected",
    "sole_points",
]
