"""Laws of rigid-body and centroidal dynamics, on every robot of the zoo (tests/conftest.py), nine states of each.

Nine states fill packs of two, four and eight lanes and leave a remainder. Derivatives are compared with fourth-order
finite differences along `integrate`, whose curves have constant v.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

from ..laws import Close, Draw, N, Rate, frames, times, transposed

K, D, C = kd.kinematics, kd.dynamics, kd.centroidal


def test_forward_after_inverse_returns_the_acceleration(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, v, a, _ = states(robot, N)
    wrenches = {frames(robot)[0]: np.arange(6.0), frames(robot)[1]: np.ones((N, 6))}
    assert_close(D.forward(robot, q, v, D.inverse(robot, q, v, a)), a, 1e-10)
    assert_close(D.forward(robot, q, v, D.inverse(robot, q, v, a, wrenches), wrenches), a, 1e-10)


def test_columns_of_the_mass_matrix_are_the_efforts_of_unit_accelerations(
    robot: Robot, states: Draw, assert_close: Close
) -> None:
    q, v, _, _ = states(robot, N)
    efforts = D.inverse(robot, q[:, None], v[:, None], np.eye(robot.nv)) - D.bias(robot, q, v)[:, None]
    assert_close(D.mass_matrix(robot, q), transposed(efforts), 1e-12)


def test_the_mass_matrix_is_symmetric_and_positive(robot: Robot, states: Draw) -> None:
    M = D.mass_matrix(robot, states(robot, N)[0])
    np.testing.assert_array_equal(M, transposed(M))
    assert np.linalg.eigvalsh(M).min() > 0


def test_mdot_minus_2c_is_skew_symmetric(robot: Robot, states: Draw, assert_close: Close, rate: Rate) -> None:
    q, v, _, _ = states(robot, N)
    M_dot = rate(lambda t: D.mass_matrix(robot, robot.integrate(q, t * v)))
    coriolis = D.coriolis_matrix(robot, q, v)
    assert_close(M_dot, coriolis + transposed(coriolis), 1e-8)


def test_bias_is_coriolis_damping_and_gravity(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, v, _, _ = states(robot, N)
    parts = times(D.coriolis_matrix(robot, q, v), v) + robot.damping * v + D.gravity(robot, q)
    assert_close(D.bias(robot, q, v), parts)
    assert_close(D.inverse(robot, q, v, 0 * v), parts)


def test_gravity_is_the_gradient_of_potential_energy(
    robot: Robot, states: Draw, assert_close: Close, rate: Rate
) -> None:
    q, v, _, _ = states(robot, N)
    slope = rate(lambda t: D.potential_energy(robot, robot.integrate(q, t * v)))
    assert_close((D.gravity(robot, q) * v).sum(-1), slope, 1e-9)
    assert_close(D.potential_energy(robot, q), -robot.mass * K.com(robot, q) @ robot.gravity)


def test_kinetic_energy_is_half_of_v_m_v(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, v, _, _ = states(robot, N)
    assert_close(D.kinetic_energy(robot, q, v), 0.5 * (v * times(D.mass_matrix(robot, q), v)).sum(-1))


def test_the_energy_rate_is_the_power_of_efforts_minus_that_of_damping(
    robot: Robot, states: Draw, assert_close: Close, rate: Rate
) -> None:
    q, v, _, tau = states(robot, N)
    a = D.forward(robot, q, v, tau)

    def energy(t: float) -> Array:
        there, faster = robot.integrate(q, t * v), v + t * a
        return D.kinetic_energy(robot, there, faster) + D.potential_energy(robot, there)

    assert_close(rate(energy, 1e-4), ((tau - robot.damping * v) * v).sum(-1), 1e-7)


def test_the_factor_multiplies_back_to_the_mass_matrix(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, _, _, tau = states(robot, N)
    M, factor = D.mass_matrix(robot, q), D.factorize(robot, q)
    assert_close(transposed(factor.L) @ (factor.d[..., None] * factor.L), M, 1e-12)
    np.testing.assert_array_equal(np.triu(factor.L), np.broadcast_to(np.eye(robot.nv), M.shape))
    assert factor.d.min() > 0
    assert_close(factor.solve(tau), np.linalg.solve(M, tau[..., None])[..., 0], 1e-10)
    assert_close(factor.solve(np.eye(robot.nv)[:, None]), np.moveaxis(np.linalg.inv(M), -1, 0), 1e-9)
    assert_close(factor.log_determinant(), np.linalg.slogdet(M)[1])


def test_the_factor_has_the_zeros_of_the_tree() -> None:
    """Joints of the two legs of the humanoid are not on one path to the root."""
    robot = kd.load("humanoid")
    L = D.factorize(robot, robot.random()).L
    left, right = robot.joint("left_knee").v.start, robot.joint("right_knee").v.start
    assert L[max(left, right), min(left, right)] == 0
    assert np.count_nonzero(L) < 0.6 * robot.nv * (robot.nv + 1) / 2


def test_the_regressor_multiplies_parameters_to_efforts(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, v, a, _ = states(robot, N)
    efforts = D.regressor(robot, q, v, a) @ robot.inertial_parameters + robot.armature * a + robot.damping * v
    assert_close(efforts, D.inverse(robot, q, v, a))


def test_each_link_has_ten_inertial_parameters_and_the_masses_add_up(robot: Robot) -> None:
    assert robot.inertial_parameters.shape == (10 * len(robot.parameter_links),)
    assert robot.inertial_parameters[::10].sum() == pytest.approx(robot.mass, rel=1e-14)


def test_momentum_is_the_momentum_matrix_times_v(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, v, _, _ = states(robot, N)
    A = C.momentum_matrix(robot, q)
    assert_close(times(A, v), C.momentum(robot, q, v))
    assert_close(A[:, :3] / robot.mass, K.com_jacobian(robot, q))


def test_the_momentum_rate_is_the_derivative_of_momentum(
    robot: Robot, states: Draw, assert_close: Close, rate: Rate
) -> None:
    q, v, a, _ = states(robot, N)
    found = C.momentum_rate(robot, q, v, a)
    assert_close(found, rate(lambda t: C.momentum(robot, robot.integrate(q, t * v), v + t * a)), 1e-8)
    assert_close(found - C.momentum_rate(robot, q, v, 0 * a), times(C.momentum_matrix(robot, q), a))


@pytest.mark.parametrize("name", ["humanoid", "one free body", "mimics on a free base"])
def test_external_wrenches_and_gravity_change_the_momentum(
    zoo: dict[str, Callable[[], Robot]], states: Draw, assert_close: Close, name: str
) -> None:
    robot = zoo[name]()
    q, v, a, _ = states(robot, N)
    T = K.pose(robot, q, robot.joints[0].child)
    tau = D.inverse(robot, q, v, a)[:, :6]
    force, moment = times(T[:, :3, :3], tau[:, :3]), times(T[:, :3, :3], tau[:, 3:])
    arm = T[:, :3, 3] - K.com(robot, q)
    expected = np.hstack([force + robot.mass * robot.gravity, moment + np.cross(arm, force)])
    assert_close(C.momentum_rate(robot, q, v, a), expected)


def numerical_gradient(f: Callable[[Array, Array], Array], robot: Robot, q: Array, v: Array) -> tuple[Array, Array]:
    """Differentiate f(q, v) along each coordinate: columns, in q and in v."""
    unit, h = np.eye(robot.nv), 1e-3
    steps, weights = np.array([-2, -1, 1, 2]) * h, np.array([1, -8, 8, -1]) / (12 * h)
    along_q = [f(robot.integrate(q, s * unit), v) for s in steps]
    along_v = [f(q, v + s * unit) for s in steps]
    return np.tensordot(weights, along_q, 1).T, np.tensordot(weights, along_v, 1).T


def test_derivatives_of_inverse_dynamics_agree_with_finite_differences(
    robot: Robot, states: Draw, assert_close: Close
) -> None:
    q, v, a, _ = states(robot, N)
    dq, dv, M = D.inverse_derivatives(robot, q, v, a)
    assert_close(M, D.mass_matrix(robot, q), 1e-12)
    for i in range(0, N, 4):
        slopes = numerical_gradient(lambda x, y, i=i: D.inverse(robot, x, y, a[i]), robot, q[i], v[i])
        assert_close(dq[i], slopes[0], 1e-8)
        assert_close(dv[i], slopes[1], 1e-8)


def test_derivatives_of_forward_dynamics_agree_with_finite_differences(
    robot: Robot, states: Draw, assert_close: Close
) -> None:
    q, v, _, tau = states(robot, N)
    dq, dv, M_inverse = D.forward_derivatives(robot, q, v, tau)
    assert_close(M_inverse, np.linalg.inv(D.mass_matrix(robot, q)), 1e-9)
    for i in range(0, N, 4):
        slopes = numerical_gradient(lambda x, y, i=i: D.forward(robot, x, y, tau[i]), robot, q[i], v[i])
        assert_close(dq[i], slopes[0], 1e-6)
        assert_close(dv[i], slopes[1], 1e-6)


def test_wrenches_act_through_transposed_jacobians(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, v, a, tau = states(robot, N)
    wrench = np.random.default_rng(5).normal(size=(3, N, 6))
    wrenches = dict(zip(frames(robot), wrench, strict=True))
    effect = sum(times(transposed(K.jacobian(robot, q, frame)), w) for frame, w in wrenches.items())
    assert_close(D.inverse(robot, q, v, a, wrenches), D.inverse(robot, q, v, a) - effect)
    assert_close(D.bias(robot, q, v, wrenches), D.bias(robot, q, v) - effect)
    assert_close(D.forward(robot, q, v, tau, wrenches), D.forward(robot, q, v, tau + effect), 1e-10)


def test_armature_and_damping_can_be_switched_off(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, v, a, _ = states(robot, N)
    bare = robot.replace(armature=0.0, damping=0.0)
    assert_close(D.mass_matrix(robot, q), D.mass_matrix(bare, q) + np.diag(robot.armature), 1e-13)
    assert_close(D.inverse(robot, q, v, a), D.inverse(bare, q, v, a) + robot.armature * a + robot.damping * v, 1e-13)


def test_the_deep_chain_satisfies_the_same_laws(deep_chain: Callable, assert_close: Close) -> None:
    robot = Robot(deep_chain(300))
    q, v, a = 0.2 * robot.random(3), *(0.1 * np.random.default_rng(2).normal(size=(2, 3, 300)))
    tau = D.inverse(robot, q, v, a)
    M = D.mass_matrix(robot, q)
    np.testing.assert_array_equal(M, transposed(M))
    assert_close(times(M, a) + D.bias(robot, q, v), tau, 1e-12)
    assert_close(times(D.coriolis_matrix(robot, q, v), v) + D.gravity(robot, q), D.bias(robot, q, v), 1e-12)
    assert_close(D.forward(robot, q, v, tau), a, 1e-8)
    assert_close(times(M, D.factorize(robot, q).solve(tau)), tau, 1e-11)
    assert_close(times(C.momentum_matrix(robot, q), v), C.momentum(robot, q, v), 1e-12)
    assert_close(D.inverse_derivatives(robot, q, v, a)[2], M, 1e-13)
