"""The functions of `kd.interop.torch` as operators of PyTorch: dtypes, memory, `compile`, `torch.func`, errors."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import kinodyn as kd

from ..differentiable import CASES, draw

torch = pytest.importorskip("torch")
kt = kd.interop.torch
# torch.compile instantiates autograd functions, of which PyTorch itself warns
pytestmark = pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")

ROBOT = kd.load("humanoid")
HAND = "left_hand"


def configurations(*batch: int) -> Any:
    return torch.tensor(ROBOT.random(batch))


def test_single_precision_is_computed_in_double_precision() -> None:
    q = configurations(3)
    single = q.float().requires_grad_()
    p = kt.com(ROBOT, single)
    p.sum().backward()
    assert p.dtype == single.grad.dtype == torch.float32
    exact = kd.kinematics.com(ROBOT, single.detach().double().numpy())
    np.testing.assert_array_equal(p.detach().numpy(), exact.astype(np.float32))
    assert kt.velocity(ROBOT, q.float(), torch.zeros(ROBOT.nv, dtype=torch.float64), HAND).dtype == torch.float64


def test_memory_is_shared_with_numpy() -> None:
    from kinodyn.interop.torch import operators

    q = configurations(3)
    array = operators._array(q)
    array[0, 0] = 7.0
    assert q[0, 0] == 7.0


@pytest.mark.parametrize("name", CASES)
def test_compiled_functions_are_one_graph_with_the_same_gradients(name: str) -> None:
    function, kinds = CASES[name]
    arrays = [torch.tensor(each, requires_grad=True) for each in draw(ROBOT, kinds)]

    def loss(*given: Any) -> Any:
        return function(kt, ROBOT, *given).cos().sum()

    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    for a, b in zip(
        torch.autograd.grad(compiled(*arrays), arrays), torch.autograd.grad(loss(*arrays), arrays), strict=True
    ):
        torch.testing.assert_close(a, b, atol=0, rtol=0)
    torch._dynamo.reset()


# Dynamo itself looks at the gradients of tensors between two graphs.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
def test_compiled_contact_dynamics_has_the_same_gradient() -> None:
    q, v, tau = (torch.tensor(each, requires_grad=True) for each in draw(ROBOT, "qvv"))
    feet = [kd.contact.Contact("left_sole"), kd.contact.Contact("right_sole", kind="point")]

    def loss(tau: Any) -> Any:
        return kt.contact_dynamics(ROBOT, q, v, tau, feet).cos().sum()

    compiled = torch.compile(loss, backend="aot_eager")
    torch.testing.assert_close(torch.autograd.grad(compiled(tau), tau), torch.autograd.grad(loss(tau), tau))
    torch._dynamo.reset()


def test_a_compiled_function_notices_another_robot() -> None:
    heavy = ROBOT.with_payload(HAND, 20.0)
    compiled = torch.compile(lambda robot, q: kt.com(robot, q), backend="aot_eager", fullgraph=True)
    for q in (configurations(2), configurations(2).requires_grad_()):
        for robot in (ROBOT, heavy, ROBOT):
            found = compiled(robot, q).detach()
            np.testing.assert_array_equal(found, kd.kinematics.com(robot, q.detach().numpy()))
    torch._dynamo.reset()


@pytest.mark.parametrize("name", CASES)
def test_vmap_gives_a_batch(name: str) -> None:
    function, kinds = CASES[name]
    arrays = [torch.tensor(each) for each in draw(ROBOT, kinds, (3,))]
    mapped = torch.vmap(lambda *given: function(kt, ROBOT, *given))(*arrays)
    torch.testing.assert_close(mapped, function(kt, ROBOT, *arrays), atol=1e-10, rtol=0)


def test_vmap_keeps_other_axes_in_place() -> None:
    q, v = configurations(5), torch.randn(3, ROBOT.nv, dtype=torch.float64)
    found = torch.vmap(lambda each: kt.velocity(ROBOT, each, v, HAND))(q)
    expected = kt.velocity(ROBOT, q[:, None], v, HAND)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


def test_gradients_of_each_sample_come_from_vmap_of_grad() -> None:
    q, v = configurations(5), torch.randn(3, ROBOT.nv, dtype=torch.float64)

    def speed(q: Any, v: Any) -> Any:
        return kt.velocity(ROBOT, q, v, HAND).square().sum()

    by_q, by_v = torch.vmap(torch.func.grad(speed, argnums=(0, 1)), in_dims=(0, None))(q, v)
    for k in range(5):
        given = q[k].clone().requires_grad_(), v.clone().requires_grad_()
        one_q, one_v = torch.autograd.grad(speed(*given), given)
        torch.testing.assert_close(by_q[k], one_q, atol=1e-10, rtol=1e-10)
        torch.testing.assert_close(by_v[k], one_v, atol=1e-10, rtol=1e-10)


def test_the_jacobian_of_the_com_is_that_of_kinematics() -> None:
    q = configurations()
    J = torch.func.jacrev(lambda step: kt.com(ROBOT, kt.integrate(ROBOT, q, step)))(torch.zeros(ROBOT.nv).double())
    np.testing.assert_allclose(J, kd.kinematics.com_jacobian(ROBOT, q.numpy()), atol=1e-12)


def test_a_second_derivative_is_refused() -> None:
    q = configurations(2).requires_grad_()
    (gradient,) = torch.autograd.grad(kt.com(ROBOT, q).square().sum(), q, create_graph=True)
    with pytest.raises(kd.KinodynError, match="differentiated once only"):
        gradient.sum().backward()


def test_the_backward_pass_keeps_the_robot_alive() -> None:
    robot = kd.load("puma560")
    q = torch.tensor(robot.random(2), requires_grad=True)
    alive, total = weakref.ref(robot), kt.com(robot, q).sum()
    del robot
    gc.collect()
    total.backward()
    assert q.grad.abs().max() > 0
    del total
    gc.collect()
    assert alive() is None


def test_invalid_arguments_are_refused() -> None:
    q = configurations(2)
    with pytest.raises(kd.InputError, match=r"q must have shape \(..., 37\), got \(2, 3\)"):
        kt.com(ROBOT, q[:, :3])
    with pytest.raises(kd.InputError, match="must be dense"):
        kt.com(ROBOT, q.to_sparse())
    with pytest.raises(kd.InputError, match="unit quaternion"):
        kt.com(ROBOT, 2.0 * q)
    with pytest.raises(kd.InputError, match="q"):
        kt.com(ROBOT, q * torch.nan)
    with pytest.raises(kd.InputError, match="real and on the CPU"):
        kt.com(ROBOT, q + 1j)
    with pytest.raises(kd.UnknownNameError, match="did you mean 'left_hand'"):
        kt.pose(ROBOT, q, "left_hnad")
    with pytest.raises(kd.InputError, match="reference must be"):
        kt.velocity(ROBOT, q, torch.zeros(ROBOT.nv), HAND, reference="body")  # type: ignore[arg-type]
    with pytest.raises(kd.InputError, match="must be a kinodyn.Robot"):
        kt.com("humanoid", q)  # type: ignore[arg-type]
    with pytest.raises(kd.InputError, match="contacts must be a sequence of kd.contact.Contact, got Loop"):
        kt.contact_dynamics(ROBOT, q, *torch.zeros(2, ROBOT.nv), [kd.contact.Loop(HAND, "right_hand")])  # type: ignore[list-item]
    with pytest.raises(kd.InputError, match="must differ"):
        wrenches: Any = {HAND: torch.zeros(6), ROBOT.frame_index(HAND): torch.ones(6)}
        kt.inverse(ROBOT, q, *torch.zeros(2, ROBOT.nv), wrenches)
