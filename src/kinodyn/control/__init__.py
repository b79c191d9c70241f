"""Controllers: torques from the state, each called as `controller(t, state) -> tau`.

All take constant references or trajectories `traj(t, order)`, respect torque limits, and report what they compute as
`controller.signals`, which `kinodyn.sim.simulate` records.
"""

from kinodyn.control.adaptive import AdaptiveControl
from kinodyn.control.cartesian_impedance import CartesianImpedance
from kinodyn.control.computed_torque import ComputedTorque
from kinodyn.control.contact_setpoint import ContactSetpoint
from kinodyn.control.controller import Controller
from kinodyn.control.gains import Gains
from kinodyn.control.hybrid import HybridForceMotion
from kinodyn.control.impedance import JointImpedance
from kinodyn.control.inverse_dynamics import InverseDynamicsQP
from kinodyn.control.operational_space import OperationalSpace, operational_space
from kinodyn.control.payload import Payload
from kinodyn.control.pd import PDGravity, joint_inertia
from kinodyn.control.result import ControlResult, Violation
from kinodyn.control.robust import RobustControl
from kinodyn.control.task_space import OperationalSpaceControl, TaskSpaceControl

__all__ = [
    "AdaptiveControl",
    "CartesianImpedance",
    "ComputedTorque",
    "ContactSetpoint",
    "ControlResult",
    "Controller",
    "Gains",
    "Violation",
    "HybridForceMotion",
    "InverseDynamicsQP",
    "JointImpedance",
    "OperationalSpace",
    "OperationalSpaceControl",
    "PDGravity",
    "Payload",
    "RobustControl",
    "TaskSpaceControl",
    "joint_inertia",
    "operational_space",
]


def __dir__() -> list[str]:
    return list(__all__)
