"""Gradients in PyTorch against finite differences (`gradcheck`), for every function on every robot of the zoo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.model.robot import Robot

from ..differentiable import CASES, CONTACTS, Case, NumpyFunctions, cut, draw

torch = pytest.importorskip("torch")
kt = kd.interop.torch
TOLERANCE = {"atol": 1e-6, "rtol": 1e-6}


def tensors(arrays: list[Any], *, grad: bool = False) -> list[Any]:
    return [torch.tensor(each, requires_grad=grad) for each in arrays]


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


def normalised(robot: Robot, q: Any) -> Any:
    """Normalise the quaternions in q, in PyTorch."""
    parts, at = [], 0
    for joint in robot.joints:
        if joint.mimic is None and joint.kind in ("ball", "floating"):
            start = joint.q.stop - 4
            parts += [q[..., at:start], torch.nn.functional.normalize(q[..., start : start + 4], dim=-1)]
            at = start + 4
    return torch.cat([*parts, q[..., at:]], dim=-1)


def test_values_are_those_over_numpy_arrays(robot: Robot, case: Case) -> None:
    function, kinds = case
    arrays = draw(robot, kinds, (3,))
    np.testing.assert_array_equal(function(kt, robot, *tensors(arrays)), function(NumpyFunctions, robot, *arrays))


def test_gradients_along_the_tangent_space_are_those_of_finite_differences(robot: Robot, case: Case) -> None:
    """q is moved by `integrate`, as an optimiser does."""
    function, kinds = case
    arrays = tensors(draw(robot, kinds))
    zero = torch.zeros(2, robot.nv, dtype=torch.float64)
    steps = [zero.clone() if kind == "q" else x for kind, x in zip(kinds, arrays, strict=True)]

    def moved(*given: Any) -> Any:
        at = [
            kt.integrate(robot, x, step) if kind == "q" else step
            for kind, x, step in zip(kinds, arrays, given, strict=True)
        ]
        return function(kt, robot, *at)

    assert torch.autograd.gradcheck(moved, [each.requires_grad_() for each in steps], **TOLERANCE)


def test_gradients_of_coordinates_are_those_of_a_function_that_normalises_quaternions(robot: Robot, case: Case) -> None:
    function, kinds = case
    arrays = tensors(draw(robot, kinds), grad=True)

    def projected(*given: Any) -> Any:
        at = [normalised(robot, x) if kind == "q" else x for kind, x in zip(kinds, given, strict=True)]
        return function(kt, robot, *at)

    assert torch.autograd.gradcheck(projected, arrays, **TOLERANCE)
    # normalisation changes nothing: it is part of the functions
    weights = torch.randn(projected(*arrays).shape, dtype=torch.float64)
    with_it = torch.autograd.grad((weights * projected(*arrays)).sum(), arrays)
    without = torch.autograd.grad((weights * function(kt, robot, *arrays)).sum(), arrays)
    for a, b in zip(with_it, without, strict=True):
        torch.testing.assert_close(a, b, atol=1e-9, rtol=1e-9)


def test_gradients_are_summed_over_broadcast_axes(case: Case) -> None:
    function, kinds = case
    robot = kd.load("humanoid")
    arrays = draw(robot, kinds, (3, 2))
    shapes = [(2,), (3, 1), (1, 2), (), (2,)][: len(kinds)]
    given = [cut(x, shape) for x, shape in zip(arrays, shapes, strict=True)]
    small = tensors(given, grad=True)
    full = tensors([np.broadcast_to(x, (3, 2, x.shape[-1])).copy() for x in given], grad=True)
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in given))
    found = function(kt, robot, *small)
    assert found.shape[: len(batch)] == batch
    found.expand(3, 2, *found.shape[len(batch) :]).cos().sum().backward()
    function(kt, robot, *full).cos().sum().backward()
    for a, b in zip(small, full, strict=True):
        assert a.grad.shape == a.shape
        torch.testing.assert_close(a.grad, b.grad.sum_to_size(a.shape), atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("name", CONTACTS)
def test_gradients_of_contact_dynamics_are_those_of_finite_differences(name: str, zoo: Any) -> None:
    robot = zoo[name]()
    q, v, tau = tensors(draw(robot, "qvv"))
    step = torch.zeros_like(v)

    def acceleration(step: Any, v: Any, tau: Any) -> Any:
        return kt.contact_dynamics(robot, kt.integrate(robot, q, step), v, tau, CONTACTS[name])

    arrays = [each.requires_grad_() for each in (step, v, tau)]
    a, forces = kd.contact.dynamics(robot, q.numpy(), v.detach().numpy(), tau.detach().numpy(), CONTACTS[name])
    assert (forces.rank == forces.residual.shape[-1]).all()
    np.testing.assert_allclose(acceleration(*arrays).detach(), a, atol=1e-9)
    assert torch.autograd.gradcheck(acceleration, arrays, **TOLERANCE)


def test_gradients_flow_through_a_simulation() -> None:
    """Three steps of semi-implicit Euler, from the torques to the position of the hand."""
    robot = kd.load("humanoid")
    q0, v0, tau = tensors(draw(robot, "qvv", ()))

    def hand(v: Any, tau: Any) -> Any:
        q = q0
        for _ in range(3):
            v = v + 0.01 * kt.forward(robot, q, v, tau)
            q = kt.integrate(robot, q, 0.01 * v)
        return kt.pose(robot, q, "left_hand")[:3]

    assert torch.autograd.gradcheck(hand, [v0.requires_grad_(), tau.requires_grad_()], **TOLERANCE)
