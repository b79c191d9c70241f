"""kinodyn: the kinematics and dynamics of robots, humanoids above all.

>>> import kinodyn as kd
>>> robot = kd.load("humanoid")
>>> q = robot.random(1000)
>>> kd.kinematics.pose(robot, q, "left_hand").shape
(1000, 4, 4)
"""

from importlib.metadata import version as _version

from kinodyn import (
    _core,
    actuation,
    balance,
    centroidal,
    contact,
    control,
    convert,
    derivation,
    dynamics,
    identification,
    ik,
    kinematics,
    qp,
    sim,
    spatial,
    trajectory,
    validation,
    viewer,
    walking,
)
from kinodyn.description.catalogue import robots
from kinodyn.description.dh import DH
from kinodyn.description.write_urdf import write_urdf
from kinodyn.errors import (
    DescriptionError,
    DescriptionWarning,
    InputError,
    KinodynError,
    SingularError,
    UnknownNameError,
)
from kinodyn.loading import from_dh, load
from kinodyn.recording import Recording
from kinodyn.robot import Limits, Robot
from kinodyn.state import State
from kinodyn.threads import get_threads, set_threads
from kinodyn.viewer.door import view

__version__ = _version("kinodyn")
__build__ = f"{_core.instruction_set()}, {_core.lanes()} lanes"

__all__ = [
    "DH",
    "DescriptionError",
    "DescriptionWarning",
    "InputError",
    "KinodynError",
    "Limits",
    "Recording",
    "Robot",
    "SingularError",
    "State",
    "UnknownNameError",
    "actuation",
    "balance",
    "centroidal",
    "contact",
    "control",
    "convert",
    "derivation",
    "dynamics",
    "from_dh",
    "get_threads",
    "identification",
    "ik",
    "kinematics",
    "load",
    "qp",
    "robots",
    "set_threads",
    "sim",
    "spatial",
    "trajectory",
    "validation",
    "view",
    "viewer",
    "walking",
    "write_urdf",
]
