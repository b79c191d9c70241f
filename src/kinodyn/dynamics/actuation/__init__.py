"""Actuation: which joints have motors, actuators between links, gears, and parallel ankles.

Every actuator has rates `B @ v` that are linear in the joint velocities; by virtual work its efforts u act on the
joints as `tau = B^T u`. `matrix` stacks these rows for a whole robot.
"""

from kinodyn.dynamics.actuation.ankle import CrankAnkle, PistonAnkle, Positions, Singularity
from kinodyn.dynamics.actuation.link_actuators import BetweenLinks, Piston, TorqueMotor
from kinodyn.dynamics.actuation.selection import Actuator, matrix, selection
from kinodyn.dynamics.actuation.transmission import Coupling, Transmission, differential, gears

__all__ = [
    "Actuator",
    "BetweenLinks",
    "Coupling",
    "CrankAnkle",
    "Piston",
    "PistonAnkle",
    "Positions",
    "Singularity",
    "TorqueMotor",
    "Transmission",
    "differential",
    "gears",
    "matrix",
    "selection",
]


def __dir__() -> list[str]:
    return list(__all__)
