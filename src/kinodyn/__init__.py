"""kinodyn: kinematics, dynamics and control of robots, with a focus on humanoids.

>>> import kinodyn as kd
>>> robot = kd.load("humanoid")
>>> q = robot.random(1000)
>>> kd.kinematics.pose(robot, q, "left_hand").shape
(1000, 4, 4)
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from kinodyn import _core

if _TYPE_CHECKING:
    from kinodyn import (
        balance,
        collision,
        control,
        derivation,
        description,
        dynamics,
        errors,
        estimation,
        identification,
        ik,
        interop,
        jobs,
        kinematics,
        limits,
        planning,
        qp,
        report,
        retarget,
        sim,
        spatial,
        tasks,
        terrain,
        trajectory,
        viewer,
        walking,
    )
    from kinodyn.description.catalogue import robots
    from kinodyn.description.dh import DH
    from kinodyn.description.repair import check
    from kinodyn.description.urdf_writer import write_urdf
    from kinodyn.dynamics import actuation, centroidal, contact
    from kinodyn.errors import (
        DescriptionError,
        DescriptionWarning,
        InputError,
        KinodynError,
        SingularError,
        UnknownNameError,
    )
    from kinodyn.kinematics import validation
    from kinodyn.model import convert
    from kinodyn.model.joint_values import Limits
    from kinodyn.model.loading import from_dh, load
    from kinodyn.model.robot import Robot
    from kinodyn.model.state import State
    from kinodyn.recording import Recording
    from kinodyn.threads import get_threads, set_threads
    from kinodyn.viewer import view

    __version__: str

# Public names are imported on first use: importing everything takes a second, and no program needs all of it.
# A name that is in neither table is the sub-module kinodyn.<name>.
_MODULES = {
    "actuation": "kinodyn.dynamics.actuation",
    "centroidal": "kinodyn.dynamics.centroidal",
    "contact": "kinodyn.dynamics.contact",
    "convert": "kinodyn.model.convert",
    "validation": "kinodyn.kinematics.validation",
}
_MEMBERS = {
    "DH": "kinodyn.description.dh",
    "DescriptionError": "kinodyn.errors",
    "DescriptionWarning": "kinodyn.errors",
    "InputError": "kinodyn.errors",
    "KinodynError": "kinodyn.errors",
    "Limits": "kinodyn.model.joint_values",
    "Recording": "kinodyn.recording",
    "Robot": "kinodyn.model.robot",
    "SingularError": "kinodyn.errors",
    "State": "kinodyn.model.state",
    "UnknownNameError": "kinodyn.errors",
    "check": "kinodyn.description.repair",
    "from_dh": "kinodyn.model.loading",
    "get_threads": "kinodyn.threads",
    "load": "kinodyn.model.loading",
    "robots": "kinodyn.description.catalogue",
    "set_threads": "kinodyn.threads",
    "view": "kinodyn.viewer",
    "write_urdf": "kinodyn.description.urdf_writer",
}

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
    "check",
    "collision",
    "contact",
    "control",
    "convert",
    "derivation",
    "description",
    "dynamics",
    "errors",
    "estimation",
    "from_dh",
    "get_threads",
    "identification",
    "ik",
    "interop",
    "jobs",
    "kinematics",
    "limits",
    "load",
    "planning",
    "qp",
    "report",
    "retarget",
    "robots",
    "set_threads",
    "sim",
    "spatial",
    "tasks",
    "terrain",
    "trajectory",
    "validation",
    "view",
    "viewer",
    "walking",
    "write_urdf",
]


def __getattr__(name: str) -> _Any:
    """Import a public name on first use."""
    if name == "__version__":  # the import of importlib.metadata takes as long as that of NumPy
        value = _import_module("importlib.metadata").version("kinodyn")
    elif name not in __all__:
        raise AttributeError(f"module 'kinodyn' has no attribute {name!r}")
    elif name in _MEMBERS:
        value = getattr(_import_module(_MEMBERS[name]), name)
    else:
        value = _import_module(_MODULES.get(name, f"kinodyn.{name}"))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__build__", "__version__"]
