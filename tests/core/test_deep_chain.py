"""A chain of 20,000 links: nothing recurses, and what is linear in the number of joints runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description.types import Description
from kinodyn.model.robot import Robot

N = 20_000
K, D = kd.kinematics, kd.dynamics


@pytest.fixture(scope="module")
def chain(deep_chain: Callable[[int], Description]) -> Robot:
    return Robot(deep_chain(N))


def test_the_tip_of_a_straight_chain_is_at_the_sum_of_the_lengths(chain: Robot) -> None:
    assert chain.nv == N
    T = K.pose(chain, chain.neutral(), f"l{N}")
    np.testing.assert_allclose(T[:3, 3], [0.0, 0.0, 0.02 * N], rtol=1e-11)
    np.testing.assert_allclose(
        K.com(chain, chain.neutral()), [0, 0.001, 0.02 * (N + 1) / 2 + 0.01], rtol=1e-11, atol=1e-12
    )


def test_a_curled_chain_closes_on_itself(chain: Robot) -> None:
    """Only every second joint turns about x; equal angles that add up to full turns make a closed polygon."""
    q = np.zeros(N)
    q[::2] = 2 * np.pi / 100
    T = K.pose(chain, q, f"l{N - 1}")
    np.testing.assert_allclose(T[:3, :3], np.eye(3), atol=1e-8)
    assert np.abs(K.poses(chain, q)[:, :3, 3]).max() < 2.0


def test_newton_euler_and_articulated_bodies_agree_on_a_chain(chain: Robot) -> None:
    rng = np.random.default_rng(1)
    q, v, a = 1e-2 * rng.normal(size=(3, N))
    tau = D.inverse(chain, q, v, a)
    assert np.isfinite(tau).all()
    found = D.forward(chain, q, v, tau)
    # The base carries the weight of 2000 kg over 400 m: a rounding error of its torque moves it as much as this.
    np.testing.assert_allclose(found, a, atol=1e-3)


def test_other_quantities_of_a_chain_are_consistent(chain: Robot) -> None:
    rng = np.random.default_rng(2)
    q, v = 1e-2 * rng.normal(size=(2, N))
    np.testing.assert_allclose(D.bias(chain, q, 0 * v), D.gravity(chain, q), rtol=1e-9, atol=1e-6)
    h = kd.centroidal.momentum(chain, q, v)
    np.testing.assert_allclose(h[:3] / chain.mass, K.com_velocity(chain, q, v))
    step = chain.integrate(q, v)
    np.testing.assert_allclose(chain.difference(q, step), v, atol=1e-15)
    J = K.jacobian(chain, q, f"l{N}")
    np.testing.assert_allclose(J @ v, K.velocity(chain, q, v, f"l{N}"), rtol=1e-8, atol=1e-8)
    weight = -chain.mass * K.com(chain, q) @ chain.gravity
    assert D.potential_energy(chain, q) == pytest.approx(weight, rel=1e-11)


def test_a_batch_of_chains_agrees_with_single_chains(chain: Robot) -> None:
    q = 1e-2 * np.random.default_rng(3).normal(size=(3, N))
    tau = D.inverse(chain, q, q, q)
    np.testing.assert_allclose(tau[1], D.inverse(chain, q[1], q[1], q[1]), rtol=1e-9, atol=1e-9)
