"""How motors move a robot: which joints they drive, actuators between links, gears, and parallel ankles.

Every actuator has a rate that joint velocities give it, `B @ v`; by virtual work its effort u acts on the joints as
`tau = B^T u`. `matrix` stacks these rows for a whole robot.
"""

from kinodyn.dynamics.actuation.ankle import CrankAnkle, PistonAnkle, Positions, Singularity
from kinodyn.dynamics.actuation.between import BetweenLinks, Piston, TorqueMotor
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
