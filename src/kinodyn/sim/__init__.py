"""Simulation: one function `simulate` for the native engine and for MuJoCo, and one type of recording."""

from kinodyn.sim.hard_contacts import HardContacts
from kinodyn.sim.imu import Imu
from kinodyn.sim.joint_resistance import JointStops
from kinodyn.sim.loads import Load
from kinodyn.sim.mujoco_build import FootContacts
from kinodyn.sim.mujoco_model import to_mjcf, to_mujoco
from kinodyn.sim.mujoco_settings import MujocoSettings
from kinodyn.sim.mujoco_simulator import MujocoSimulator
from kinodyn.sim.native import NativeSimulator
from kinodyn.sim.observation import Observation, ObservationController, observe
from kinodyn.sim.protocol import Diverged, Simulator
from kinodyn.sim.pushes import Push
from kinodyn.sim.rendering import render_images
from kinodyn.sim.simulate import simulate
from kinodyn.sim.video import render_video, require_video

__all__ = [
    "Diverged",
    "FootContacts",
    "HardContacts",
    "Imu",
    "JointStops",
    "Load",
    "MujocoSettings",
    "MujocoSimulator",
    "NativeSimulator",
    "Observation",
    "ObservationController",
    "Push",
    "Simulator",
    "observe",
    "render_images",
    "render_video",
    "require_video",
    "simulate",
    "to_mjcf",
    "to_mujoco",
]


def __dir__() -> list[str]:
    return list(__all__)
