"""Adapter to JAX: a `Call` as a function with a custom vector-Jacobian product, evaluated by the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from kinodyn.errors import InputError, KinodynError
from kinodyn.interop.differentiable import Call, of_one_rank

try:
    import jax
    from jax import Array
    from jax import numpy as jnp

    from kinodyn.interop.jax import xla_call
except ModuleNotFoundError as cause:
    raise KinodynError("kd.interop.jax needs JAX; install it with: pip install 'kinodyn[jax]'") from cause


def evaluate(call: Call, arrays: Sequence[Array]) -> Array:
    """Evaluate a call on arrays, in the dtype that JAX promotes them to: float32 or float64."""
    given = [jnp.asarray(each) for each in arrays]
    call.check_shapes(given)  # here: in compiled programs an error cannot have a type of its own
    inputs = of_one_rank(given)
    dtype = jnp.result_type(jnp.float32, *inputs)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        raise InputError(f"arrays must be real, got {dtype}")
    result: Array = _function(call)(*(each.astype(dtype) for each in inputs))
    return result


@cache
def _function(call: Call) -> Callable[..., Array]:
    """Return the differentiable function of a call; kept, because compiled programs may call it at any time."""
    number = xla_call.register(lambda given: [call.value(_doubles(given))])

    @jax.custom_vjp
    def function(*inputs: Array) -> Array:
        batch = jnp.broadcast_shapes(*(each.shape[:-1] for each in inputs))
        shape = jax.ShapeDtypeStruct((*batch, *call.tail), inputs[0].dtype)
        return xla_call.call(number, shape, inputs, "expand_dims")

    def forward(*inputs: Array) -> tuple[Array, Any]:
        result = function(*inputs)
        return result, (inputs, result)

    function.defvjp(forward, lambda saved, gradient: _vjp(call)(*saved, gradient))
    return function


@cache
def _vjp(call: Call) -> Callable[..., tuple[Array, ...]]:
    """Return the vector-Jacobian product of a call; it cannot be differentiated again."""

    def compute(given: Sequence[Any]) -> list[Any]:
        *arrays, value, gradient = _doubles(given)
        return call.vjp(arrays, value, gradient)

    number = xla_call.register(compute)

    @jax.custom_jvp
    def product(inputs: tuple[Array, ...], result: Array, gradient: Array) -> tuple[Array, ...]:
        shapes = tuple(jax.ShapeDtypeStruct(each.shape, each.dtype) for each in inputs)
        # all axes of vmap on all arguments: gradients are not summed over them
        return xla_call.call(number, shapes, [*inputs, result, gradient], "broadcast_all")

    @product.defjvp
    def reject_second_derivative(primals: Any, tangents: Any) -> Any:
        raise KinodynError("functions of kd.interop.jax can be differentiated once only, got a second derivative")

    return product


def _doubles(given: Sequence[Any]) -> list[Any]:
    """Return arrays as float64, in place where they are."""
    return [np.asarray(each, dtype=np.float64) for each in given]
