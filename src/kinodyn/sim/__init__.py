"""Simulation: one `simulate` for kinodyn's own dynamics and for MuJoCo, and one form of recording."""

from kinodyn.sim.hard import HardContacts
from kinodyn.sim.joints import Stops
from kinodyn.sim.mujoco_engine import Imu, MujocoSimulator
from kinodyn.sim.mujoco_model import MujocoSettings, to_mjcf, to_mujoco
from kinodyn.sim.native import NativeSimulator
from kinodyn.sim.protocol import Diverged, Simulator
from kinodyn.sim.pushes import Push
from kinodyn.sim.simulate import simulate
from kinodyn.sim.terrain import Block

__all__ = [
    "Block",
    "Diverged",
    "HardContacts",
    "Imu",
    "MujocoSettings",
    "MujocoSimulator",
    "NativeSimulator",
    "Push",
    "Simulator",
    "Stops",
    "simulate",
    "to_mjcf",
    "to_mujoco",
]
