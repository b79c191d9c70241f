"""One law, run on SO(3) and SE(3), on every batch shape, near angle 0, at angle pi and beyond."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from kinodyn import spatial
from kinodyn.arrays import Array
from kinodyn.errors import InputError, SingularError

BATCHES = [(), (1,), (5,), (2, 3), (0,), (2, 0, 3)]
# Small ones, both sides of the switches from series to closed forms, and both sides of a half turn.
SHORT = [0.0, 1e-160, 1e-12, 1e-8, 1e-4, 9e-4, 1.1e-3, 0.3, 1 - 1e-12, 1 + 1e-12, 2.5, np.pi - 1e-4, np.pi - 1e-8]
LONG = [np.pi + 1e-4, 4.0, 2 * np.pi - 0.1, 2 * np.pi, 7.0, 20.0]
HALF_TURNS = [np.pi - 1e-10, np.pi - 1e-15, np.pi]


@dataclass(frozen=True)
class Group:
    """A group with its functions, and the matrix of which its exponential is the matrix exponential."""

    size: int
    exp: Callable[[Array], Array]
    log: Callable[[Array], Array]
    hat: Callable[[Array], Array]
    ad: Callable[[Array], Array]
    adjoint: Callable[[Array], Array]

    def vectors(self, batch: tuple[int, ...], angle: float, seed: int = 0) -> Array:
        """Draw rotation vectors or twists whose rotation has this angle."""
        x = np.random.default_rng(seed).normal(size=(*batch, self.size))
        x[..., -3:] *= angle / np.linalg.norm(x[..., -3:], axis=-1, keepdims=True)
        return x


def skew(v: Array) -> Array:
    """The matrix of the cross product, column by column from NumPy's own."""
    return np.stack([np.cross(v, axis) for axis in np.eye(3)], axis=-1)


def hat6(x: Array) -> Array:
    return np.block([[skew(x[3:]), x[:3, None]], [np.zeros((1, 4))]])


def ad6(x: Array) -> Array:
    return np.block([[skew(x[3:]), skew(x[:3])], [np.zeros((3, 3)), skew(x[3:])]])


SO3 = Group(3, spatial.exp3, spatial.log3, skew, skew, lambda R: R)
SE3 = Group(6, spatial.exp, spatial.log, hat6, ad6, spatial.adjoint)
on_every_group = pytest.mark.parametrize("group", [SO3, SE3], ids=["SO3", "SE3"])
in_every_batch = pytest.mark.parametrize("batch", BATCHES, ids=str)


@on_every_group
@in_every_batch
@pytest.mark.parametrize("angle", SHORT)
def test_log_undoes_exp_below_a_half_turn(group: Group, batch: tuple[int, ...], angle: float) -> None:
    x = group.vectors(batch, angle)
    back = group.log(group.exp(x))
    assert back.shape == x.shape and back.dtype == np.float64
    np.testing.assert_allclose(back, x, rtol=0, atol=1e-13)


@on_every_group
@in_every_batch
@pytest.mark.parametrize("angle", SHORT + HALF_TURNS + LONG)
def test_exp_undoes_log_everywhere(group: Group, batch: tuple[int, ...], angle: float) -> None:
    X = group.exp(group.vectors(batch, angle))
    x = group.log(X)
    assert (np.linalg.norm(x[..., -3:], axis=-1) <= np.pi + 1e-15).all()
    np.testing.assert_allclose(group.exp(x), X, rtol=0, atol=1e-13)


@on_every_group
@pytest.mark.parametrize("angle", SHORT + HALF_TURNS + LONG)
def test_exp_is_the_matrix_exponential(group: Group, angle: float) -> None:
    x = group.vectors((), angle)
    np.testing.assert_allclose(group.exp(x), expm(group.hat(x)), rtol=0, atol=1e-13)


@on_every_group
@pytest.mark.parametrize("angle", SHORT + HALF_TURNS + LONG)
def test_exp_of_the_parts_multiplies_to_the_whole(group: Group, angle: float) -> None:
    x = group.vectors((4,), angle)
    np.testing.assert_allclose(group.exp(0.3 * x) @ group.exp(0.7 * x), group.exp(x), rtol=0, atol=1e-13)
    np.testing.assert_allclose(group.exp(-x), np.linalg.inv(group.exp(x)), rtol=0, atol=1e-13)


@on_every_group
def test_adjoint_moves_through_the_exponential(group: Group) -> None:
    X, y = group.exp(group.vectors((5,), 2.0)), group.vectors((5,), 0.7, seed=1)
    moved = (group.adjoint(X) @ y[..., None])[..., 0]
    np.testing.assert_allclose(X @ group.exp(y), group.exp(moved) @ X, rtol=0, atol=1e-13)


AXES = [a / np.linalg.norm(a) for a in np.ndindex(3, 3, 3) if any(a)]
AXES += [sign * a for sign in (-1.0, 1.0) for a in np.eye(3)] + [a * (1, -1, 1) for a in AXES]


@pytest.mark.parametrize("axis", [np.asarray(a) for a in AXES], ids=lambda a: str(a.round(2)))
def test_log_of_an_exact_half_turn_is_pi_along_the_axis(axis: Array) -> None:
    R = 2 * np.outer(axis, axis) - np.eye(3)
    phi = spatial.log3(R)
    assert min(np.abs(phi - np.pi * axis).max(), np.abs(phi + np.pi * axis).max()) < 1e-14
    T = spatial.pose([1.0, -2.0, 3.0], R)
    np.testing.assert_allclose(spatial.exp(spatial.log(T)), T, rtol=0, atol=1e-14)


@on_every_group
@pytest.mark.parametrize("angle", SHORT + HALF_TURNS + LONG)
def test_left_jacobian_is_the_integral_of_the_adjoint(group: Group, angle: float) -> None:
    x = group.vectors((), angle)
    n = group.size
    # The exponential of [[A, I], [0, 0]] has the integral of exp(s A) over s from 0 to 1 in its corner.
    block = np.block([[group.ad(x), np.eye(n)], [np.zeros((n, 2 * n))]])
    np.testing.assert_allclose(spatial.left_jacobian(x), expm(block)[:n, n:], rtol=0, atol=2e-13)


@on_every_group
@in_every_batch
@pytest.mark.parametrize("angle", [a for a in SHORT + HALF_TURNS + LONG if a != 2 * np.pi])
def test_inverse_jacobians_are_inverse_and_left_is_the_adjoint_of_right(
    group: Group, batch: tuple[int, ...], angle: float
) -> None:
    x = group.vectors(batch, angle)
    left, right = spatial.left_jacobian(x), spatial.right_jacobian(x)
    identity = np.broadcast_to(np.eye(group.size), (*batch, group.size, group.size))
    np.testing.assert_allclose(spatial.left_jacobian_inverse(x) @ left, identity, rtol=0, atol=1e-12)
    np.testing.assert_allclose(spatial.right_jacobian_inverse(x) @ right, identity, rtol=0, atol=1e-12)
    np.testing.assert_allclose(group.adjoint(group.exp(x)) @ right, left, rtol=0, atol=1e-12)


@on_every_group
@pytest.mark.parametrize("angle", [0.0, 1e-4, 0.3, 2.5, np.pi, 4.0])
def test_jacobians_are_derivatives_of_the_exponential(group: Group, angle: float) -> None:
    x, step = group.vectors((), angle), 1e-6
    X_inverse = np.linalg.inv(group.exp(x))
    ahead, behind = (group.exp(x + sign * step * np.eye(group.size)) for sign in (1, -1))
    left = (group.log(ahead @ X_inverse) - group.log(behind @ X_inverse)).T / (2 * step)
    right = (group.log(X_inverse @ ahead) - group.log(X_inverse @ behind)).T / (2 * step)
    np.testing.assert_allclose(spatial.left_jacobian(x), left, rtol=0, atol=1e-8)
    np.testing.assert_allclose(spatial.right_jacobian(x), right, rtol=0, atol=1e-8)


@on_every_group
def test_the_inverse_jacobian_at_a_full_turn_raises(group: Group) -> None:
    for turns in (1, 2, 3):
        x = group.vectors((), 2 * np.pi * turns)
        with pytest.raises(SingularError, match="full turn"):
            spatial.left_jacobian_inverse(x)
        with pytest.raises(SingularError, match="full turn"):
            spatial.right_jacobian_inverse(np.stack([0 * x, x]))


def test_the_inverse_jacobian_near_a_full_turn_is_inverse_up_to_the_limit_of_its_rounding() -> None:
    for side in (-1.0, 1.0):
        x = SO3.vectors((3,), 2 * np.pi + side * 1.5e-6)
        product = spatial.left_jacobian_inverse(x) @ spatial.left_jacobian(x)
        np.testing.assert_allclose(product, np.broadcast_to(np.eye(3), (3, 3, 3)), rtol=0, atol=1e-8)
        with pytest.raises(SingularError, match="full turn"):
            spatial.left_jacobian_inverse(SO3.vectors((3,), 2 * np.pi + side * 1.3e-6))


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.3, 1.5, 3.0])
def test_exp_log_and_jacobians_agree_with_pinocchio(angle: float) -> None:
    for seed in range(5):
        x = SE3.vectors((), angle, seed)
        T = pinocchio.exp6(x)
        np.testing.assert_allclose(spatial.exp(x), T.homogeneous, rtol=0, atol=1e-12)
        np.testing.assert_allclose(spatial.log(T.homogeneous), pinocchio.log6(T).vector, rtol=0, atol=1e-12)
        np.testing.assert_allclose(spatial.right_jacobian(x), pinocchio.Jexp6(pinocchio.Motion(x)), rtol=0, atol=1e-9)
        np.testing.assert_allclose(spatial.right_jacobian_inverse(x), pinocchio.Jlog6(T), rtol=0, atol=1e-9)
        np.testing.assert_allclose(spatial.right_jacobian(x[3:]), pinocchio.Jexp3(x[3:]), rtol=0, atol=1e-9)


@given(st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6))
def test_exp_of_any_twist_is_a_pose_whose_log_leads_back_to_it(values: list[float]) -> None:
    x = np.array(values)
    T = spatial.as_pose(spatial.exp(x))
    scale = 1 + np.abs(x).max()
    np.testing.assert_allclose(spatial.exp(spatial.log(T)), T, rtol=0, atol=1e-12 * scale)


def test_skew_is_the_cross_product_and_unskew_its_inverse() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 4, 5, 3))
    np.testing.assert_allclose((spatial.skew(a) @ b[..., None])[..., 0], np.cross(a, b), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(spatial.unskew(spatial.skew(a)), a)
    with pytest.raises(InputError, match="not skew-symmetric"):
        spatial.unskew(np.eye(3))


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_unskew_accepts_rounding_of_the_largest_element(size: float) -> None:
    S, rounding = size * spatial.skew([0.5, -1.0, 0.25]), 1e-6 * max(size, 1.0)
    np.testing.assert_allclose(spatial.unskew(S + 0.45 * rounding * np.eye(3)), size * np.array([0.5, -1.0, 0.25]))
    with pytest.raises(InputError, match="not skew-symmetric"):
        spatial.unskew(S + 0.55 * rounding * np.eye(3))
