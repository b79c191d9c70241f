"""Differentiable functions of a robot over tensors of PyTorch, on the CPU.

The functions are those of `kd.kinematics`, `kd.dynamics`, `kd.contact` and `Robot`: any leading axes, broadcast
against each other. Their backward passes are vector-Jacobian products of the core. Double backward is not supported.
float32 tensors are computed in float64 and returned as float32.

>>> import kinodyn as kd, torch  # doctest: +SKIP
>>> robot = kd.load("panda")  # doctest: +SKIP
>>> q = torch.tensor(robot.random(1000), requires_grad=True)  # doctest: +SKIP
>>> kd.interop.torch.pose(robot, q, "panda_hand_tcp")[:, 2, 3].sum().backward()  # height of the hand  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinodyn.interop.differentiable import Call
from kinodyn.interop.functions import Functions

if TYPE_CHECKING:
    from torch import Tensor


def _evaluate(call: Call, tensors: Sequence[Tensor]) -> Tensor:
    from kinodyn.interop.torch.operators import evaluate  # imports torch: only where it is used

    return evaluate(call, tensors)


_functions: Functions[Tensor] = Functions(_evaluate)
com = _functions.com
contact_dynamics = _functions.contact_dynamics
difference = _functions.difference
forward = _functions.forward
integrate = _functions.integrate
inverse = _functions.inverse
pose = _functions.pose
poses = _functions.poses
velocity = _functions.velocity

__all__ = [name for name in vars(Functions) if not name.startswith("_")]


def __dir__() -> list[str]:
    return list(__all__)
