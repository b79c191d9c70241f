"""Dynamics in touch with the world: contacts, loops, impacts, and the forces that they need."""

from kinodyn.contact.constraints import Contact, Loop
from kinodyn.contact.dynamics import Forces, dynamics, impact, jacobian, projected

__all__ = ["Contact", "Forces", "Loop", "dynamics", "impact", "jacobian", "projected"]
