"""Adapter to PyTorch: one operator that evaluates a `Call`, and one for its vector-Jacobian product.

They are registered with the shapes of their results, so that `torch.compile` treats them as any other operator. Their
arguments are therefore numbers, strings and tensors, and a robot is passed by its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError, KinodynError
from kinodyn.interop.differentiable import Call, of_one_rank
from kinodyn.model.robot import Robot

try:
    import torch
    from torch import Tensor
except ModuleNotFoundError as cause:
    raise KinodynError("kd.interop.torch needs PyTorch; install it with: pip install 'kinodyn[torch]'") from cause

_next_number = count()
_numbers: WeakKeyDictionary[Robot, int] = WeakKeyDictionary()
_robots: WeakValueDictionary[int, Robot] = WeakValueDictionary()


def evaluate(call: Call, tensors: Sequence[Tensor]) -> Tensor:
    """Evaluate a call on tensors, and record it for the backward pass."""
    given = [torch.as_tensor(each) for each in tensors]
    if any(each.is_sparse for each in given):
        raise InputError("tensors must be dense, got a sparse one; convert it with to_dense()")
    inputs = of_one_rank(given)
    constants = call.function, _number(call.robot), call.frames, call.option, call.points
    if torch.compiler.is_compiling() and not _needs_gradient(inputs):
        plain: Tensor = _value(*constants, inputs)  # torch.compile inlines functions that it need not differentiate
        return plain
    result: Tensor = _Function.apply(*constants, *inputs)
    return result


def _needs_gradient(inputs: Sequence[Tensor]) -> bool:
    return torch.is_grad_enabled() and any(each.requires_grad for each in inputs)


@torch.compiler.assume_constant_result
def _number(robot: Robot) -> int:
    """Return the number of a robot, valid as long as the robot exists."""
    if robot not in _numbers:
        _numbers[robot] = next(_next_number)
        _robots[_numbers[robot]] = robot
    return _numbers[robot]


def _call(function: str, robot: int, frames: Sequence[int], option: str, points: Sequence[float]) -> Call:
    if robot not in _robots:
        raise KinodynError("the robot of a compiled function must still exist, got one that was deleted")
    return Call(function, _robots[robot], tuple(frames), option, tuple(points))


def _array(tensor: Tensor) -> Array:
    """Return the numbers of a tensor, in place if it is contiguous and of float64."""
    if tensor.device.type != "cpu" or tensor.is_complex():
        raise InputError(f"tensors must be real and on the CPU, got {tensor.dtype} on {tensor.device}")
    return tensor.detach().to(torch.float64).numpy()


def _dtype(inputs: Sequence[Tensor]) -> torch.dtype:
    """Return the dtype of results: the widest of the inputs, at least float32."""
    dtype = torch.float32
    for each in inputs:
        dtype = torch.promote_types(dtype, each.dtype)
    return dtype


_CONSTANTS = 5  # arguments that are not tensors
_ARGUMENTS = "str function, int robot, int[] frames, str option, float[] points, Tensor[] inputs"


@torch.library.custom_op("kinodyn::value", mutates_args=(), schema=f"({_ARGUMENTS}) -> Tensor")
def _value(
    function: str,
    robot: int,
    frames: Sequence[int],
    option: str,
    points: Sequence[float],
    inputs: Sequence[Tensor],
) -> Tensor:
    result = _call(function, robot, frames, option, points).value([_array(each) for each in inputs])
    return torch.from_numpy(result).to(_dtype(inputs))


@_value.register_fake
def _(
    function: str,
    robot: int,
    frames: Sequence[int],
    option: str,
    points: Sequence[float],
    inputs: Sequence[Tensor],
) -> Tensor:
    batch = torch.broadcast_shapes(*(each.shape[:-1] for each in inputs))
    tail = _call(function, robot, frames, option, points).tail
    return inputs[0].new_empty((*batch, *tail), dtype=_dtype(inputs))


@torch.library.custom_op(
    "kinodyn::vjp", mutates_args=(), schema=f"({_ARGUMENTS}, Tensor result, Tensor gradient) -> Tensor[]"
)
def _vjp(
    function: str,
    robot: int,
    frames: Sequence[int],
    option: str,
    points: Sequence[float],
    inputs: Sequence[Tensor],
    result: Tensor,
    gradient: Tensor,
) -> list[Tensor]:
    call = _call(function, robot, frames, option, points)
    found = call.vjp([_array(each) for each in inputs], _array(result), _array(gradient))
    # copies where gradients are views of one array: results of an operator must not share memory
    return [torch.from_numpy(np.ascontiguousarray(g)).to(x.dtype) for g, x in zip(found, inputs, strict=True)]


@_vjp.register_fake
def _(
    function: str,
    robot: int,
    frames: Sequence[int],
    option: str,
    points: Sequence[float],
    inputs: Sequence[Tensor],
    result: Tensor,
    gradient: Tensor,
) -> list[Tensor]:
    return [torch.empty_like(each, memory_format=torch.contiguous_format) for each in inputs]


class _Product(torch.autograd.Function):
    """The vector-Jacobian product, which cannot be differentiated again."""

    @staticmethod
    def forward(*arguments: Any) -> tuple[Tensor, ...]:
        return tuple(_vjp(*arguments[:_CONSTANTS], arguments[_CONSTANTS:-2], *arguments[-2:]))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        raise KinodynError("functions of kd.interop.torch can be differentiated once only, got a second derivative")

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Any, Any]:
        # mapped axes on all arguments: gradients are not summed over them
        full = [
            each.expand(info.batch_size, *each.shape) if dim is None else each.movedim(dim, 0)
            for each, dim in zip(arguments[_CONSTANTS:], dims[_CONSTANTS:], strict=True)
        ]
        found = _Product.apply(*arguments[:_CONSTANTS], *full)
        return found, (0,) * len(found)


class _Function(torch.autograd.Function):
    """The function of a call: name, robot, frames, option and points, then the inputs, all of the same rank."""

    @staticmethod
    def forward(*arguments: Any) -> Tensor:
        result: Tensor = _value(*arguments[:_CONSTANTS], arguments[_CONSTANTS:])
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.constants = inputs[:_CONSTANTS]
        if not torch.compiler.is_compiling():
            ctx.robot = _robots[inputs[1]]  # the backward pass needs it, even if nobody else keeps it
        ctx.save_for_backward(*inputs[_CONSTANTS:], output)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        *inputs, result = ctx.saved_tensors
        if torch.compiler.is_compiling():  # where nothing is differentiated twice
            return *(None,) * _CONSTANTS, *_vjp(*ctx.constants, inputs, result, *gradients)
        return *(None,) * _CONSTANTS, *_Product.apply(*ctx.constants, *inputs, result, *gradients)

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], *arguments: Any) -> tuple[Tensor, int]:
        moved = [
            each.unsqueeze(0) if dim is None else each.movedim(dim, 0)
            for each, dim in zip(arguments[_CONSTANTS:], dims[_CONSTANTS:], strict=True)
        ]
        return _Function.apply(*arguments[:_CONSTANTS], *moved), 0
