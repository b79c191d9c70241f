"""Gradients in JAX against finite differences, for every function on every robot of the zoo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.model.robot import Robot

from ..differentiable import CASES, CONTACTS, Case, NumpyFunctions, cut, draw

jax = pytest.importorskip("jax")
kj = kd.interop.jax


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


def test_values_are_those_over_numpy_arrays(robot: Robot, case: Case) -> None:
    function, kinds = case
    arrays = draw(robot, kinds, (3,))
    np.testing.assert_array_equal(function(kj, robot, *arrays), function(NumpyFunctions, robot, *arrays))


def test_gradients_along_the_tangent_space_are_those_of_finite_differences(robot: Robot, case: Case) -> None:
    """The rate along one random direction; q is moved by `integrate`, as an optimiser does."""
    function, kinds = case
    arrays, steps = draw(robot, kinds), draw(robot, kinds.replace("q", "v"), seed=1)
    weights = np.random.default_rng(2).normal(size=np.shape(function(NumpyFunctions, robot, *arrays)))

    def moved(module: Any, t: Any) -> Any:
        at = [
            module.integrate(robot, x, t * step) if kind == "q" else x + t * step
            for kind, x, step in zip(kinds, arrays, steps, strict=True)
        ]
        return (weights * function(module, robot, *at)).sum()

    h = 1e-3
    near = 8 * (moved(NumpyFunctions, h) - moved(NumpyFunctions, -h))
    far = moved(NumpyFunctions, 2 * h) - moved(NumpyFunctions, -2 * h)
    expected = (near - far) / (12 * h)
    found = jax.grad(lambda t: moved(kj, t))(0.0)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", CONTACTS)
def test_gradients_of_contact_dynamics_are_those_of_finite_differences(name: str, zoo: Any) -> None:
    robot = zoo[name]()
    function = (lambda m, r, q, v, tau: m.contact_dynamics(r, q, v, tau, CONTACTS[name])), "qvv"
    test_gradients_along_the_tangent_space_are_those_of_finite_differences(robot, function)


def test_gradients_are_summed_over_broadcast_axes(case: Case) -> None:
    function, kinds = case
    robot = kd.load("humanoid")
    arrays = draw(robot, kinds, (3, 2))
    shapes = [(2,), (3, 1), (1, 2), (), (2,)][: len(kinds)]
    small = [cut(x, shape) for x, shape in zip(arrays, shapes, strict=True)]
    full = [np.broadcast_to(x, (3, 2, x.shape[-1])) for x in small]
    weights = np.random.default_rng(2).normal(size=np.shape(function(NumpyFunctions, robot, *full)))

    def total(*given: Any) -> Any:
        return (weights * function(kj, robot, *given)).sum()

    places = tuple(range(len(kinds)))
    for a, x, b in zip(jax.grad(total, places)(*small), small, jax.grad(total, places)(*full), strict=True):
        axes = tuple(range(2 - x.ndim + 1))
        summed = np.asarray(b).sum(axis=axes)
        keep = tuple(k for k, n in enumerate(x.shape[:-1]) if n == 1)
        np.testing.assert_allclose(a, summed.sum(axis=keep, keepdims=True), atol=1e-8)
