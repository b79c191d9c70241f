"""The bundled humanoid: a robot with the proportions, masses and inertias of a human body."""

from kinodyn.description.human.build import HEIGHT, MASS, humanoid

__all__ = ["HEIGHT", "MASS", "humanoid"]
