"""Differentiable functions of a robot over arrays of JAX, on the CPU.

The functions are those of `kd.kinematics`, `kd.dynamics`, `kd.contact` and `Robot`: any leading axes, broadcast
against each other. They work under `jit`, `vmap` and `grad`; their reverse mode is vector-Jacobian products of the
core. Forward mode and second derivatives are not supported. Arrays are computed in float64 and returned in the dtype of
the inputs: float32 unless `jax_enable_x64` is set.

>>> import jax, kinodyn as kd  # doctest: +SKIP
>>> robot = kd.load("panda")  # doctest: +SKIP
>>> height = lambda q: kd.interop.jax.pose(robot, q, "panda_hand_tcp")[2, 3]  # doctest: +SKIP
>>> gradients = jax.jit(jax.vmap(jax.grad(height)))(jax.numpy.asarray(robot.random(1000)))  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinodyn.interop.differentiable import Call
from kinodyn.interop.functions import Functions

if TYPE_CHECKING:
    from jax import Array


def _evaluate(call: Call, arrays: Sequence[Array]) -> Array:
    from kinodyn.interop.jax.operators import evaluate  # imports jax: only where it is used

    return evaluate(call, arrays)


_functions: Functions[Array] = Functions(_evaluate)
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
