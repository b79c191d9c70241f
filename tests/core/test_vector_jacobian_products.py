"""Vector-Jacobian products of the core against dense Jacobians, Hessians and derivatives, on every robot of the zoo."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import _core
from kinodyn.arrays import Array, Reference
from kinodyn.model.robot import Robot

from ..laws import Close, Draw, N, Rate, frames, times, transposed

K, D = kd.kinematics, kd.dynamics
REFERENCES: tuple[Reference, ...] = ("local_world_aligned", "local", "world")


def on_tangent(robot: Robot, q: Array, gradient: Array) -> Array:
    """Map a gradient with respect to q to the tangent space, by the derivative of `integrate` at v = 0."""
    return _core.integrate_vjp(robot, q, np.zeros(robot.nv), gradient, None).v


def draw_like(array: Array, seed: int = 5) -> Array:
    """Draw a gradient for a result."""
    return np.random.default_rng(seed).normal(size=array.shape)


def along(gradient: Array, change: Array) -> Array:
    """Sum the products of a gradient and a change over all axes but the first."""
    return (gradient * change).reshape(len(change), -1).sum(axis=1)


def test_the_gradient_of_poses_is_their_rate_along_any_motion(
    robot: Robot, states: Draw, assert_close: Close, rate: Rate
) -> None:
    q, v, _, _ = states(robot, N)
    for names in (frames(robot), list(robot.frame_names)):
        gradient = draw_like(K.poses(robot, q, frames=names))
        found = _core.poses_vjp(robot, q, gradient.reshape(N, -1), names, None)
        change = rate(lambda t, f=names: K.poses(robot, robot.integrate(q, t * v), frames=f))
        assert_close((on_tangent(robot, q, found) * v).sum(-1), along(gradient, change), 1e-8)


def test_the_gradient_of_the_com_is_its_transposed_jacobian(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, _, _, _ = states(robot, N)
    gradient = draw_like(K.com(robot, q))
    found = on_tangent(robot, q, _core.com_vjp(robot, q, gradient, None))
    assert_close(found, times(transposed(K.com_jacobian(robot, q)), gradient), 1e-12)


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_gradient_of_a_velocity_is_its_jacobian_and_hessian(
    robot: Robot, states: Draw, assert_close: Close, reference: Reference
) -> None:
    q, v, _, _ = states(robot, N)
    for frame in frames(robot):
        gradient = draw_like(K.velocity(robot, q, v, frame))
        by_q, by_v = _core.velocity_vjp(robot, q, v, gradient, frame, reference, None)
        J = K.jacobian(robot, q, frame, reference=reference)
        H = K.hessian(robot, q, frame, reference=reference)
        assert_close(by_v, times(transposed(J), gradient), 1e-12)
        assert_close(on_tangent(robot, q, by_q), np.einsum("nijk,ni,nj->nk", H, gradient, v), 1e-11)


def test_gradients_of_inverse_dynamics_are_its_transposed_derivatives(
    robot: Robot, states: Draw, assert_close: Close
) -> None:
    q, v, a, gradient = states(robot, N)
    found = _core.rnea_vjp(robot, q, v, a, gradient, None, None)
    dq, dv, M = (times(transposed(matrix), gradient) for matrix in D.inverse_derivatives(robot, q, v, a))
    assert_close(on_tangent(robot, q, found.q), dq, 1e-10)
    assert_close(found.v, dv, 1e-10)
    assert_close(found.a, M, 1e-11)
    assert found.wrenches.shape == (N, 0, 6)


def test_gradients_of_forward_dynamics_are_its_transposed_derivatives(
    robot: Robot, states: Draw, assert_close: Close
) -> None:
    q, v, tau, gradient = states(robot, N)
    found = _core.aba_vjp(robot, q, v, D.forward(robot, q, v, tau), gradient, None, None)
    expected = [times(transposed(matrix), gradient) for matrix in D.forward_derivatives(robot, q, v, tau)]
    for given, matrix in zip((on_tangent(robot, q, found.q), found.v, found.tau), expected, strict=True):
        assert_close(given, matrix, 1e-9)


def test_external_wrenches_count_in_gradients_of_inverse_and_forward_dynamics(
    robot: Robot, states: Draw, assert_close: Close
) -> None:
    q, v, a, gradient = states(robot, N)
    rng = np.random.default_rng(3)
    wrenches = {name: rng.normal(size=(N, 6)) for name in dict.fromkeys(frames(robot))}
    J = {name: K.jacobian(robot, q, name) for name in wrenches}
    turned = sum(
        np.einsum("nijk,ni,nj->nk", K.hessian(robot, q, name), wrench, gradient) for name, wrench in wrenches.items()
    )
    plain = _core.rnea_vjp(robot, q, v, a, gradient, None, None)
    loaded = _core.rnea_vjp(robot, q, v, a, gradient, wrenches, None)
    assert_close(on_tangent(robot, q, loaded.q), on_tangent(robot, q, plain.q) - turned, 1e-10)
    for k, name in enumerate(wrenches):
        assert_close(loaded.wrenches[:, k], -times(J[name], gradient), 1e-11)

    x = D.factorize(robot, q).solve(gradient)
    inverse = _core.rnea_vjp(robot, q, v, a, x, wrenches, None)
    forward = _core.aba_vjp(robot, q, v, a, gradient, wrenches, None)
    for given, expected in ((forward.q, inverse.q), (forward.v, inverse.v), (forward.wrenches, inverse.wrenches)):
        assert_close(given, -expected, 1e-9)
    assert_close(forward.tau, x, 1e-10)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.3, 1.0])
def test_gradients_of_integrate_are_its_rates(
    robot: Robot, states: Draw, assert_close: Close, rate: Rate, size: float
) -> None:
    q, v, step, push = states(robot, N)
    v = size * v
    gradient = draw_like(q)
    by_q, by_v = _core.integrate_vjp(robot, q, v, gradient, None)
    change = rate(lambda t: robot.integrate(q, v + t * push))
    assert_close((by_v * push).sum(-1), along(gradient, change), 1e-9)
    moved = rate(lambda t: robot.integrate(robot.integrate(q, t * step), v))
    assert_close((on_tangent(robot, q, by_q) * step).sum(-1), along(gradient, moved), 1e-9)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.3, 1.0])
def test_gradients_of_difference_are_its_rates(
    robot: Robot, states: Draw, assert_close: Close, rate: Rate, size: float
) -> None:
    q0, v, step, gradient = states(robot, N)
    q1 = robot.integrate(q0, size * v)
    by_q0, by_q1 = _core.difference_vjp(robot, q0, q1, gradient, None)
    for q, by_q, f in (
        (q0, by_q0, lambda q: robot.difference(q, q1)),
        (q1, by_q1, lambda q: robot.difference(q0, q)),
    ):
        change = rate(lambda t, q=q, f=f: f(robot.integrate(q, t * step)))
        assert_close((on_tangent(robot, q, by_q) * step).sum(-1), along(gradient, change), 1e-8)


def quaternions(robot: Robot) -> list[slice]:
    return [
        slice(joint.q.stop - 4, joint.q.stop)
        for joint in robot.joints
        if joint.kind in ("ball", "floating") and joint.mimic is None
    ]


def test_a_gradient_is_orthogonal_to_the_quaternions(robot: Robot, states: Draw, assert_close: Close) -> None:
    """A function that normalises its quaternions does not change along them."""
    q, v, a, x = states(robot, N)
    for gradient in (_core.rnea_vjp(robot, q, v, a, x, None, None).q, _core.integrate_vjp(robot, q, v, q, None).q):
        for part in quaternions(robot):
            assert_close((gradient[:, part] * q[:, part]).sum(-1), np.zeros(N), 1e-11)


def test_the_gradient_is_the_smallest_one_with_its_tangent_part(
    robot: Robot, states: Draw, assert_close: Close
) -> None:
    """The map from the tangent space is the transposed pseudo-inverse of the derivative of `integrate` at v = 0."""
    q, _, _, _ = states(robot, None)
    step = np.eye(robot.nq)
    G = _core.integrate_vjp(robot, q, np.zeros(robot.nv), step, None).v  # (nq, nv): dq / dv
    c = np.random.default_rng(0).normal(size=3)
    gradient = K.com_jacobian(robot, q).T @ c
    assert_close(_core.com_vjp(robot, q, c, None), np.linalg.pinv(G).T @ gradient, 1e-11)


Product = Callable[[Robot, Array, Array], Array]
PRODUCTS: dict[str, Product] = {
    "poses": lambda r, q, v: _core.poses_vjp(r, q, np.ones(16 * len(r.frame_names)), None, None),
    "com": lambda r, q, v: _core.com_vjp(r, q, np.ones(3), None),
    "velocity": lambda r, q, v: _core.velocity_vjp(r, q, v, np.ones(6), r.frame_names[-1], "local", None).q,
    "rnea": lambda r, q, v: _core.rnea_vjp(r, q, v, v, v, {r.frame_names[-1]: np.ones(6)}, None).q,
    "aba": lambda r, q, v: _core.aba_vjp(r, q, v, v, v, {r.frame_names[-1]: np.ones(6)}, None).q,
    "hessian": lambda r, q, v: K.hessian(r, q, r.frame_names[-1]).reshape(*q.shape[:-1], -1),
}


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_a_batch_gives_the_products_of_its_states(
    robot: Robot, states: Draw, assert_close: Close, product: Product, instruction_set: str
) -> None:
    q, v, _, _ = states(robot, N)
    assert_close(product(robot, q, v), np.stack([product(robot, *each) for each in zip(q, v, strict=True)]), 1e-11)


def test_invalid_gradients_are_refused() -> None:
    robot = kd.load("puma560")
    q = robot.random(3)
    with pytest.raises(kd.InputError, match="gradient"):
        _core.com_vjp(robot, q, np.full(3, np.nan), None)
    with pytest.raises(kd.InputError, match="gradient"):
        _core.com_vjp(robot, q, np.zeros(4), None)
