"""Friction cones: distances, pyramids inside and outside, wrench cones against sums of corner forces, projections."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, nnls
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.dynamics.contact import friction
from kinodyn.errors import InputError

X, Y = 0.11, 0.06
CORNERS = np.array([[X, Y, 0.0], [X, -Y, 0.0], [-X, Y, 0.0], [-X, -Y, 0.0]])
NORMALS = [[0.0, 0.0, 1.0], [0.3, -0.2, 0.9], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [1e-9, 0.0, -1.0]]


def forces(n: int, seed: int = 0) -> Array:
    return 100 * np.random.default_rng(seed).normal(size=(n, 3))


@pytest.mark.parametrize("normal", NORMALS)
def test_axes_are_a_rotation_whose_last_column_is_the_normal(normal: list[float]) -> None:
    R = friction.axes(normal)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-15)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_allclose(R[:, 2], np.array(normal) / np.linalg.norm(normal), atol=1e-15)


@pytest.mark.parametrize("normal", NORMALS)
def test_the_sign_of_the_margin_distinguishes_inside_from_outside(normal: list[float]) -> None:
    f, mu, n = forces(500), 0.7, np.array(normal) / np.linalg.norm(normal)
    along = f @ n
    inside = np.linalg.norm(f - along[:, None] * n, axis=1) <= mu * along
    assert 20 < inside.sum() < 480
    np.testing.assert_array_equal(friction.margin(f, mu, normal) >= 0, inside)


def test_the_margin_is_the_distance_to_the_surface() -> None:
    f, mu = forces(40, 1), 0.5
    margins = friction.margin(f, mu)
    around = np.linspace(0, 2 * np.pi, 721)[:-1]
    rays = np.stack([mu * np.cos(around), mu * np.sin(around), np.ones(720)], axis=-1) / np.sqrt(1 + mu * mu)
    along = np.maximum(f @ rays.T, 0.0)  # the nearest point of each ray of the surface
    distance = np.linalg.norm(f[:, None] - along[..., None] * rays, axis=-1).min(axis=1)
    np.testing.assert_allclose(np.abs(margins), distance, rtol=0, atol=1e-2)  # rays are half a degree apart
    assert (np.abs(margins) <= distance + 1e-9).all()


def test_margins_broadcast_over_forces_frictions_and_normals() -> None:
    f, mu, n = forces(6).reshape(2, 3, 3), np.array([0.3, 0.6, 0.9]), np.array(NORMALS[:2])[:, None]
    together = friction.margin(f, mu, n)
    assert together.shape == (2, 3)
    assert together[1, 2] == friction.margin(f[1, 2], 0.9, NORMALS[1])


@pytest.mark.parametrize("normal", NORMALS)
def test_a_projection_is_in_the_cone_and_at_the_distance_that_the_margin_says(normal: list[float]) -> None:
    f, mu = forces(300, 2), 0.8
    nearest, margins = friction.project(f, mu, normal), friction.margin(f, mu, normal)
    assert (friction.margin(nearest, mu, normal) > -1e-10).all()
    np.testing.assert_allclose(np.linalg.norm(f - nearest, axis=1), np.maximum(-margins, 0.0), atol=1e-10)
    np.testing.assert_allclose(friction.project(nearest, mu, normal), nearest, atol=1e-10)
    # Moreau: what is taken off is at right angles to what is left, and pushes away from all of the cone
    taken = f - nearest
    np.testing.assert_allclose((taken * nearest).sum(axis=1), 0.0, atol=1e-8)
    others = friction.project(forces(50, 3), mu, normal)
    assert (taken @ others.T <= 1e-8).all()


@pytest.mark.parametrize("sides", [3, 4, 8, 16])
@pytest.mark.parametrize("normal", NORMALS)
def test_inner_pyramids_are_within_the_cone_and_outer_ones_around_it(sides: int, normal: list[float]) -> None:
    f, mu = forces(2000, 4), 0.6
    inner = friction.pyramid(mu, normal, sides=sides)
    outer = friction.pyramid(mu, normal, sides=sides, kind="outer")
    within_inner, within_outer = (f @ inner.T).max(axis=1) <= 0, (f @ outer.T).max(axis=1) <= 0
    within = friction.margin(f, mu, normal) >= 0
    assert within_inner.sum() > 50
    assert within[within_inner].all() and within_outer[within].all()
    np.testing.assert_allclose(np.linalg.norm(inner, axis=1), 1.0)
    edges = friction.edges(mu, normal, sides=sides)
    np.testing.assert_allclose(friction.margin(edges.T, mu, normal), 0.0, atol=1e-12)  # edges of the inner are on it
    n = friction.axes(normal)[:, 2]
    outwards = outer - (outer @ n)[:, None] * n
    touching = n + mu * outwards / np.linalg.norm(outwards, axis=1, keepdims=True)
    np.testing.assert_allclose(friction.margin(touching, mu, normal), 0.0, atol=1e-12)
    np.testing.assert_allclose((touching * outer).sum(axis=1), 0.0, atol=1e-12)  # faces of the outer touch it


@pytest.mark.parametrize("kind", ["inner", "outer"])
def test_edges_and_faces_are_the_same_pyramid(kind: str) -> None:
    C, E = friction.pyramid(0.4, NORMALS[1], sides=6, kind=kind), friction.edges(0.4, NORMALS[1], sides=6, kind=kind)
    gaps = np.sort(-C @ E, axis=0)
    np.testing.assert_allclose(gaps[:2], 0.0, atol=1e-14)  # each edge lies in two faces
    assert (gaps[2:] > 1e-3).all()


@pytest.mark.parametrize("kind", ["inner", "outer"])
def test_all_wrenches_of_corner_forces_and_only_those_are_in_the_wrench_cone(kind: str) -> None:
    mu = 0.55
    C, S = friction.wrench_cone(mu, X, Y, kind=kind), friction.span(mu, CORNERS, kind=kind)
    assert C.shape == (16, 6) and S.shape == (6, 16)
    np.testing.assert_allclose(np.linalg.norm(C[:, :3], axis=1), 1.0)
    rng = np.random.default_rng(5)
    made = rng.exponential(size=(500, 16)) ** 3 @ S.T
    assert (made @ C.T < 1e-10).all()
    assert (S.T @ C.T < 1e-14).all()
    # and back: a wrench just inside can be made, one just outside cannot
    w = np.column_stack([rng.normal(size=(60, 2)), np.full(60, 1.0), rng.normal(size=(60, 3)) * [Y, X, 0.1]])
    slack = -w @ C.T
    inward = np.array([0.0, 0, 1, 0, 0, 0])
    reach = -C @ inward
    w += np.outer(np.max(-slack / reach, axis=1), inward)  # moved along fz to the surface
    scale = np.array([1.0, 1, 1, 10, 10, 10])[:, None]
    for wrench in w:
        made_of, missed = nnls(S * scale, (wrench + 1e-6 * inward) * scale[:, 0])
        assert missed < 1e-9 and (made_of >= 0).all()
        assert nnls(S * scale, (wrench - 1e-3 * inward) * scale[:, 0])[1] > 1e-6


def test_no_row_of_the_wrench_cone_is_redundant() -> None:
    C = friction.wrench_cone(0.7, X, Y)
    for i in range(16):
        others = np.delete(C, i, axis=0)
        found = linprog(-C[i], A_ub=others, b_ub=np.zeros(15), bounds=(-1, 1))
        assert found.fun < -1e-3  # a wrench that only this row excludes


def test_the_closed_form_agrees_with_qhull() -> None:
    for normal in NORMALS:
        R = friction.axes(normal)
        corners = CORNERS @ R.T + [0.3, -0.1, 0.2]
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = R, [0.3, -0.1, 0.2]
        closed, found = friction.wrench_cone(0.6, X, Y, T=T), friction.patch_cone(0.6, corners, normal)
        assert_same_rows(closed, found)


def assert_same_rows(one: Array, other: Array) -> None:
    assert one.shape == other.shape
    apart = np.abs(one[:, None] - other[None]).max(axis=-1)
    assert (apart.min(axis=1) < 1e-9).all() and (apart.min(axis=0) < 1e-9).all()


def test_a_wrench_cone_moves_with_its_sole() -> None:
    rng = np.random.default_rng(6)
    T = np.tile(np.eye(4), (7, 1, 1))
    T[:, :3, :3] = Rotation.from_rotvec(2 * rng.normal(size=(7, 3))).as_matrix()
    T[:, :3, 3] = rng.normal(size=(7, 3))
    C, moved = friction.wrench_cone(0.5, X, Y), friction.wrench_cone(0.5, X, Y, T=T)
    local = rng.normal(size=(7, 6))
    force = np.einsum("kij,kj->ki", T[:, :3, :3], local[:, :3])
    moment = np.einsum("kij,kj->ki", T[:, :3, :3], local[:, 3:]) + np.cross(T[:, :3, 3], force)
    world = np.concatenate([force, moment], axis=1)
    unscaled = np.einsum("kij,kj->ki", moved, world)
    np.testing.assert_array_equal(unscaled > 0, local @ C.T > 0)
    shifted = np.eye(4)
    np.testing.assert_allclose(friction.wrench_cone(0.5, X, Y, T=shifted), C, atol=1e-15)


def test_a_patch_with_five_corners_agrees_with_its_corner_forces() -> None:
    around = 2 * np.pi * np.arange(5) / 5 + 0.2
    corners = np.column_stack([0.1 * np.cos(around), 0.07 * np.sin(around), np.zeros(5)])
    C, S = friction.patch_cone(0.5, corners, sides=6), friction.span(0.5, corners, sides=6)
    assert (C @ S < 1e-9).all()
    touched = (np.abs(C @ S) < 1e-9).sum(axis=1)
    assert (touched >= 5).all()  # a face of a cone in six dimensions holds five rays at least
    rng = np.random.default_rng(9)
    w = np.column_stack([0.3 * rng.normal(size=(40, 2)), np.ones(40), 0.03 * rng.normal(size=(40, 3))])
    inside = -(w @ C.T).max(axis=1)
    for wrench, least in zip(w, inside, strict=True):
        missed = nnls(S, wrench)[1]
        assert (missed < 1e-9) == (least >= 0)
    assert {True, False} == set(inside > 0)


def test_corners_on_a_line_have_a_span_but_no_rows() -> None:
    line = np.array([[0.1, 0.0, 0.0], [0.0, 0.0, 0.0], [-0.1, 0.0, 0.0]])
    assert friction.span(0.5, line).shape == (6, 12)
    with pytest.raises(InputError, match="line"):
        friction.patch_cone(0.5, line)


def test_projections_on_pyramids_and_wrench_cones_are_the_nearest_points() -> None:
    f = forces(20, 7)
    fine = friction.pyramid(0.5, NORMALS[1], sides=64)
    by_rows, exact = friction.project_rows(fine, f), friction.project(f, 0.5, NORMALS[1])
    further = np.linalg.norm(f - by_rows, axis=1) - np.linalg.norm(f - exact, axis=1)
    gap = (1 - np.cos(np.pi / 64)) * np.linalg.norm(f, axis=1)  # how far 64 sides are from the cone
    assert (further > -1e-9).all() and (further <= gap).all() and further.max() > 1e-3
    C, w = friction.wrench_cone(0.5, X, Y), np.column_stack([f, 5 * forces(20, 8) / 100])
    nearest = friction.project_rows(C, w)
    assert (nearest @ C.T < 1e-9).all()
    taken = w - nearest
    np.testing.assert_allclose((taken * nearest).sum(axis=1), 0.0, atol=1e-7)
    assert (taken @ friction.span(0.5, CORNERS) <= 1e-8).all()
    length = np.array([1, 1, 1, 100, 100, 100.0])
    weighted = friction.project_rows(C, w, weights=length)
    assert ((weighted - w) ** 2 @ length <= (taken**2) @ length + 1e-9).all()


def test_errors_name_the_invalid_input() -> None:
    wrong = [
        ("friction must be positive", lambda: friction.margin([0, 0, 1], 0.0)),
        (
            "normal must be a nonzero vector that points out of the ground",
            lambda: friction.project([0, 0, 1], 0.5, [0, 0, 0]),
        ),
        ("force must be finite numbers", lambda: friction.margin([0, np.nan, 1], 0.5)),
        (r"force must have shape \(..., 3\)", lambda: friction.margin([0, 1], 0.5)),
        ("sides", lambda: friction.pyramid(0.5, sides=2)),
        ("kind", lambda: friction.pyramid(0.5, kind="middle")),
        ("half_x must be positive", lambda: friction.wrench_cone(0.5, 0.0, 0.1)),
        ("corners must have shape", lambda: friction.span(0.5, [0.0, 0.0, 0.0])),
        ("one at a time", lambda: friction.patch_cone(0.5, np.zeros((2, 4, 3)))),
        ("rows must have shape", lambda: friction.project_rows(np.eye(3), np.zeros(6))),
        ("weights", lambda: friction.project_rows(np.eye(3), np.zeros(3), weights=[1.0, 0.0, 1.0])),
    ]
    for words, call in wrong:
        with pytest.raises(InputError, match=words):
            call()
