"""Dynamics in touch with the world: contacts, loops, impacts, and the forces that they need."""

from kinodyn.contact import friction
from kinodyn.contact.constraints import Contact, Loop
from kinodyn.contact.dynamics import Forces, dynamics, impact, jacobian, projected
from kinodyn.contact.inverse import Effort, inverse

__all__ = [
    "Contact",
    "Effort",
    "Forces",
    "Loop",
    "dynamics",
    "friction",
    "impact",
    "inverse",
    "jacobian",
    "projected",
]
