"""The functions of `kd.interop.jax` under the transformations of JAX: `jit`, `vmap`, dtypes, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd

from ..differentiable import CASES, draw

jax = pytest.importorskip("jax")
jnp = jax.numpy
kj = kd.interop.jax

ROBOT = kd.load("humanoid")
HAND = "left_hand"


@pytest.mark.parametrize("name", CASES)
def test_compiled_gradients_are_the_same(name: str) -> None:
    function, kinds = CASES[name]
    arrays = draw(ROBOT, kinds)
    places = tuple(range(len(kinds)))
    gradient = jax.grad(lambda *given: jnp.cos(function(kj, ROBOT, *given)).sum(), places)
    for a, b in zip(jax.jit(gradient)(*arrays), gradient(*arrays), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_vmap_gives_a_batch(name: str) -> None:
    function, kinds = CASES[name]
    arrays = draw(ROBOT, kinds, (3,))
    mapped = jax.vmap(lambda *given: function(kj, ROBOT, *given))(*arrays)
    np.testing.assert_allclose(mapped, function(kj, ROBOT, *arrays), atol=1e-10)


def test_vmap_keeps_other_axes_in_place() -> None:
    q, v = ROBOT.random(5), np.random.default_rng(0).normal(size=(3, ROBOT.nv))
    found = jax.vmap(lambda each: kj.velocity(ROBOT, each, v, HAND))(q)
    np.testing.assert_allclose(found, kd.kinematics.velocity(ROBOT, q[:, None], v, HAND), atol=1e-12)


def test_gradients_of_each_sample_come_from_vmap_of_grad() -> None:
    q, v = ROBOT.random(5), np.random.default_rng(0).normal(size=(3, ROBOT.nv))

    def speed(q: Any, v: Any) -> Any:
        return jnp.square(kj.velocity(ROBOT, q, v, HAND)).sum()

    by_q, by_v = jax.jit(jax.vmap(jax.grad(speed, argnums=(0, 1)), in_axes=(0, None)))(q, v)
    for k in range(5):
        one_q, one_v = jax.grad(speed, argnums=(0, 1))(q[k], v)
        np.testing.assert_allclose(by_q[k], one_q, atol=1e-9)
        np.testing.assert_allclose(by_v[k], one_v, atol=1e-9)


def test_the_jacobian_of_the_com_is_that_of_kinematics() -> None:
    q = ROBOT.random()
    J = jax.jacrev(lambda step: kj.com(ROBOT, kj.integrate(ROBOT, q, step)))(np.zeros(ROBOT.nv))
    np.testing.assert_allclose(J, kd.kinematics.com_jacobian(ROBOT, q), atol=1e-12)


def test_without_x64_results_are_single_precision() -> None:
    q = ROBOT.random(3)
    jax.config.update("jax_enable_x64", False)  # the fixture restores it
    p = kj.com(ROBOT, q)
    gradient = jax.grad(lambda q: kj.com(ROBOT, q).sum())(jnp.asarray(q))
    assert p.dtype == gradient.dtype == np.float32
    np.testing.assert_allclose(p, kd.kinematics.com(ROBOT, q), atol=1e-6)


def test_several_calls_in_one_program_do_not_block_each_other() -> None:
    q = ROBOT.random(20000)
    p = jax.jit(lambda q: kj.com(ROBOT, q) + kj.com(ROBOT, 1.0 * q))(q)
    np.testing.assert_allclose(p, 2 * kd.kinematics.com(ROBOT, q), atol=1e-12)


def test_a_second_derivative_is_refused() -> None:
    def height(q: Any) -> Any:
        return kj.com(ROBOT, q)[2]

    with pytest.raises(kd.KinodynError, match="differentiated once only"):
        jax.grad(lambda q: jax.grad(height)(q).sum())(ROBOT.random())


@pytest.mark.parametrize("name", CASES)
def test_wrong_shapes_are_refused_while_a_program_is_compiled(name: str) -> None:
    function, kinds = CASES[name]
    arrays = draw(ROBOT, kinds)
    for k in range(len(arrays)):
        wrong = [array[..., :-1] if j == k else array for j, array in enumerate(arrays)]
        with pytest.raises(kd.InputError, match="must have shape"):
            jax.jit(lambda *given: function(kj, ROBOT, *given))(*wrong)


def test_invalid_arguments_are_refused() -> None:
    q = ROBOT.random(2)
    with pytest.raises(kd.InputError, match="must be real"):
        kj.com(ROBOT, q + 1j)
    with pytest.raises(kd.UnknownNameError, match="did you mean 'left_hand'"):
        kj.pose(ROBOT, q, "left_hnad")
    # XLA passes the error on: by JAX's version as a JaxRuntimeError or as a ValueError
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError), match="unit quaternion"):
        kj.com(ROBOT, 2.0 * q)
