"""Interfaces to other software: MoveIt and ROS 2 without a ROS installation, gradients in PyTorch and JAX, Rerun.

>>> import kinodyn as kd
>>> scene, request = kd.interop.moveit.read("scene.yaml", "request.yaml", robot)  # doctest: +SKIP
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from kinodyn.interop import jax, moveit, rerun, ros, torch

__all__ = ["jax", "moveit", "rerun", "ros", "torch"]


def __getattr__(name: str) -> _Any:
    if name in __all__:  # imported on first use
        return _import_module(f"kinodyn.interop.{name}")
    raise AttributeError(f"module 'kinodyn.interop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
