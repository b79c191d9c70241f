"""kinodyn: the kinematics and dynamics of robots, humanoids above all.

>>> import kinodyn as kd
>>> robot = kd.load("humanoid")
>>> q = robot.random(1000)
>>> kd.kinematics.pose(robot, q, "left_hand").shape
(1000, 4, 4)
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from kinodyn import _core

if _TYPE_CHECKING:
    from kinodyn import (
        actuation,
        balance,
        centroidal,
        contact,
        control,
        convert,
        derivation,
        dynamics,
        estimation,
        identification,
        ik,
        kinematics,
        qp,
        report,
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
    from kinodyn.viewer import view

# Where each name is found when it is first asked for: importing everything takes a second, and no program needs it all.
_PLACES = {
    "DH": "kinodyn.description.dh",
    "DescriptionError": "kinodyn.errors",
    "DescriptionWarning": "kinodyn.errors",
    "InputError": "kinodyn.errors",
    "KinodynError": "kinodyn.errors",
    "Limits": "kinodyn.robot",
    "Recording": "kinodyn.recording",
    "Robot": "kinodyn.robot",
    "SingularError": "kinodyn.errors",
    "State": "kinodyn.state",
    "UnknownNameError": "kinodyn.errors",
    "from_dh": "kinodyn.loading",
    "get_threads": "kinodyn.threads",
    "load": "kinodyn.loading",
    "robots": "kinodyn.description.catalogue",
    "set_threads": "kinodyn.threads",
    "view": "kinodyn.viewer",
    "write_urdf": "kinodyn.description.write_urdf",
}

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
    "estimation",
    "from_dh",
    "get_threads",
    "identification",
    "ik",
    "kinematics",
    "load",
    "qp",
    "report",
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


def __getattr__(name: str) -> _Any:
    """Import a public name when it is first used."""
    if name in _PLACES:
        value = getattr(_import_module(_PLACES[name]), name)
    elif name in __all__:
        value = _import_module(f"kinodyn.{name}")
    else:
        raise AttributeError(f"module 'kinodyn' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
