"""Identification of inertial parameters and friction from recordings of a moving robot.

    exciting_trajectory -> robot or simulate -> read, measurements -> prepare -> fit -> Identification.robot

>>> import kinodyn as kd
>>> robot = kd.load("planar2r")
>>> motion = kd.identification.exciting_trajectory(robot, starts=5, iterations=0)
>>> time = motion.times(50)
>>> data = kd.identification.simulate(robot, time, *motion(time), noise=0.01)
>>> result = kd.identification.fit(robot, data)
>>> result.status, result.is_physically_consistent
('converged', True)
"""

from kinodyn.identification.base import BaseParameters, base_parameters
from kinodyn.identification.excitation import exciting_trajectory
from kinodyn.identification.files import read
from kinodyn.identification.fitting import fit
from kinodyn.identification.inertias import is_physically_consistent, parameters_of, pseudo_inertia
from kinodyn.identification.measurements import Measurements, join, measurements
from kinodyn.identification.model import Model
from kinodyn.identification.payload import PayloadEstimate, payload
from kinodyn.identification.preparing import prepare
from kinodyn.identification.report import Identification
from kinodyn.identification.robots import sub_robot, with_parameters
from kinodyn.identification.simulating import simulate, torques
from kinodyn.identification.trajectory import ExcitingTrajectory

__all__ = [
    "BaseParameters",
    "ExcitingTrajectory",
    "Identification",
    "Measurements",
    "Model",
    "PayloadEstimate",
    "base_parameters",
    "exciting_trajectory",
    "fit",
    "is_physically_consistent",
    "join",
    "measurements",
    "parameters_of",
    "payload",
    "prepare",
    "pseudo_inertia",
    "read",
    "simulate",
    "sub_robot",
    "torques",
    "with_parameters",
]


def __dir__() -> list[str]:
    return list(__all__)
