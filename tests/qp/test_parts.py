"""Parts of the solver of quadratic programs, each on programs whose answer is known."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from kinodyn import _core, qp
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.qp.adapter import ATTEMPTS, FAILURES, Point, minimise, minimise_perturbed, polish
from kinodyn.qp.certificates import best_point, descent_ray, farkas, least_violation
from kinodyn.qp.interior_point import interior_point
from kinodyn.qp.program import prepare

INF = np.inf
TOLERANCE = 1e-8
# The nearest point to (3, 1) with x0 + x1 <= 2 and x0 - x1 = 1: (1.5, 0.5); forces 1, and 0.5 along the equality.
TRIANGLE: dict[str, Any] = {
    "H": np.eye(2), "g": np.array([-3.0, -1.0]), "A": np.array([[1.0, 1.0], [1.0, -1.0]]),
    "lower": np.array([-INF, 1.0]), "upper": np.array([2.0, 1.0]),
}  # fmt: skip
CONTRADICTION: dict[str, Any] = {
    "H": np.eye(1), "g": np.zeros(1), "A": np.array([[1.0], [1.0]]),
    "lower": np.array([2.0, -INF]), "upper": np.array([INF, 1.0]),
}  # fmt: skip


def scaled(program: dict[str, Any]) -> _core.ScaledQp:
    p = {"lower": None, "upper": None, "x_lower": None, "x_upper": None, "A": None, **program}
    rows, bounds = (p["lower"], p["upper"]), (p["x_lower"], p["x_upper"])
    return prepare(p["H"], p["g"], p["A"], rows, bounds, None)[1]


def solution(program: _core.ScaledQp, point: Point) -> tuple[Array, Array]:
    x, _, multipliers = program.unscale(point.y, point.multipliers, True)
    return x, multipliers


@pytest.mark.parametrize("settings", ATTEMPTS)
def test_every_attempt_finds_the_minimum_and_its_forces(settings: dict[str, float]) -> None:
    program = scaled(TRIANGLE)
    for point in (minimise(program, settings), polish(program, minimise_perturbed(program, settings))):
        x, multipliers = solution(program, point)
        np.testing.assert_allclose(x, [1.5, 0.5], rtol=0, atol=1e-9)
        np.testing.assert_allclose(multipliers, [1.0, 0.5], rtol=0, atol=1e-9)
        assert point.failure == "" and point.iterations >= 1


@pytest.mark.parametrize("method", [minimise, minimise_perturbed])
def test_a_failure_has_a_reason_and_no_forces(method: Any) -> None:
    point = method(scaled(CONTRADICTION), ATTEMPTS[0])
    assert point.failure == FAILURES[-1] == "DAQP found no point that satisfies all constraints"
    assert not point.y.any() and not point.multipliers.any() and point.multipliers.shape == (3,)


def test_polishing_solves_the_equations_of_the_active_set() -> None:
    program = scaled(TRIANGLE)
    exact = minimise(program, ATTEMPTS[0])
    rough = exact._replace(y=exact.y + [1e-4, -2e-4], multipliers=exact.multipliers * 1.001)
    polished = polish(program, rough)
    np.testing.assert_allclose(polished.y, exact.y, rtol=0, atol=1e-14)
    np.testing.assert_allclose(polished.multipliers, exact.multipliers, rtol=0, atol=1e-14)
    # an active set that pulls: not that of the minimum
    pulls = exact._replace(multipliers=np.where(exact.multipliers != 0.0, exact.multipliers, 1e-3))
    assert polish(program, pulls) is pulls
    # a bound that is not there
    nowhere = exact._replace(multipliers=-exact.multipliers)
    assert polish(program, nowhere) is nowhere


def test_an_equality_may_change_the_sign_of_its_force_when_polished() -> None:
    program = scaled(TRIANGLE)
    exact = minimise(program, ATTEMPTS[0])
    signs = np.where(program.lower == program.upper, -1.0, 1.0)
    np.testing.assert_allclose(
        polish(program, exact._replace(multipliers=signs * exact.multipliers)).multipliers,
        exact.multipliers, rtol=0, atol=1e-14,
    )  # fmt: skip


def test_the_best_point_is_the_first_that_is_good_enough_and_else_the_least_bad(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = scaled(TRIANGLE)
    assert best_point(program, TOLERANCE).failure == ""
    good = minimise(program, ATTEMPTS[0])
    errors = iter([0.3, 0.1, 0.2] + [1.0] * 10)

    def rough(*_: Any) -> Point:
        return good._replace(y=good.y + next(errors), multipliers=0.0 * good.multipliers, failure="rough")

    for name in ("minimise", "minimise_perturbed", "interior_point"):
        monkeypatch.setattr(f"kinodyn.qp.certificates.{name}", rough)
    monkeypatch.setattr("kinodyn.qp.certificates.polish", lambda _, point: point)
    found = best_point(program, TOLERANCE)
    assert found.failure == "rough"
    worst = [max(program.residuals(good.y + e, 0.0 * good.multipliers, True)) for e in (0.3, 0.1, 0.2, 1.0)]
    assert max(program.residuals(found.y, found.multipliers, True)) == min(worst)


def test_contradictions_are_violated_equally_and_certified() -> None:
    program = scaled(CONTRADICTION)
    y, multipliers = least_violation(program, TOLERANCE)
    x, _, rows = program.unscale(y, multipliers, False)
    np.testing.assert_allclose(x, [1.5], rtol=0, atol=1e-9)
    assert rows[0] < 0 < rows[1]
    certificate = farkas(program, multipliers)
    assert certificate is not None
    np.testing.assert_allclose(np.vstack([np.eye(1), program.A]).T @ certificate, 0.0, atol=1e-12)
    bounds = np.where(certificate > 0, program.upper, program.lower)
    used = certificate != 0.0
    assert certificate[used] @ bounds[used] < -1e-3
    # rounding errors among the multipliers are left out
    np.testing.assert_array_equal(farkas(program, multipliers + [1e-12, 0.0, 0.0]) != 0.0, [False, True, True])


def test_a_certificate_is_freed_of_the_rounding_of_the_solver() -> None:
    program = scaled(CONTRADICTION)
    _, multipliers = least_violation(program, TOLERANCE)
    for error in (-1e-7, 1e-7):
        certificate = farkas(program, multipliers * [1.0, 1.0, 1.0 + error])
        assert certificate is not None and abs(float(program.A[:, 0] @ certificate[1:])) < 1e-14


def test_a_tolerance_below_rounding_fails_with_the_residual() -> None:
    rng = np.random.default_rng(3)
    B, A, inside = rng.normal(size=(9, 9)), rng.normal(size=(6, 9)), rng.normal(size=9)
    answer = qp.solve(B.T @ B, 5.0 * rng.normal(size=9), A, A @ inside, A @ inside + 0.1, tolerance=1e-30)
    assert answer.status == "failed" and not answer.solved and answer.primal < 1e-10
    assert re.fullmatch(r"the largest relative residual of the KKT conditions is [\d.]+e-\d+", answer.reason)


def test_no_certificate_excludes_points_that_exist() -> None:
    program = scaled(TRIANGLE)
    y, multipliers = least_violation(program, TOLERANCE)
    assert max(program.residuals(y, np.zeros(len(multipliers)), True)[:1]) < TOLERANCE
    assert farkas(program, multipliers) is None
    assert farkas(program, np.zeros(len(multipliers))) is None
    for wrong in np.eye(len(multipliers)):  # of one row, or without a bound
        assert farkas(program, wrong) is None and farkas(program, -wrong) is None


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, [1.0, 0.0]),
        ({"g": np.zeros(2)}, None),  # no descent at all
        ({"H": np.eye(2)}, None),  # curvature everywhere
        ({"H": np.diag([0.0, 1.0]), "g": np.array([-1.0, 5.0])}, [1.0, 0.0]),
        ({"x_upper": np.array([4.0, INF])}, None),
        ({"x_lower": np.array([4.0, -INF])}, [1.0, 0.0]),
        ({"A": np.array([[1.0, 1.0]]), "upper": np.array([9.0])}, [0.5**0.5, -(0.5**0.5)]),
        ({"A": np.array([[1.0, 1.0]]), "lower": np.array([9.0])}, [1.0, 0.0]),
        ({"A": np.array([[1.0, 0.0]]), "upper": np.array([9.0])}, None),
        ({"A": np.array([[1.0, 2.0]]), "lower": np.array([3.0]), "upper": np.array([3.0])}, [0.8**0.5, -(0.2**0.5)]),
    ],
)
def test_the_ray_is_the_steepest_direction_of_descent_without_end(change: Any, expected: list[float] | None) -> None:
    program = scaled({"H": np.zeros((2, 2)), "g": np.array([-1.0, 0.0]), **change})
    ray = descent_ray(program, TOLERANCE)
    if expected is None:
        assert ray is None
    else:
        assert ray is not None
        direction = ray * program.x_unit
        np.testing.assert_allclose(direction / np.linalg.norm(direction), expected, rtol=0, atol=1e-6)


def test_the_interior_point_method_needs_few_iterations_and_no_constraints() -> None:
    free = scaled({"H": np.diag([1.0, 4.0]), "g": np.array([-1.0, -8.0])})
    np.testing.assert_allclose(solution(free, interior_point(free))[0], [1.0, 2.0], rtol=0, atol=1e-9)
    for program in (scaled(TRIANGLE), scaled({**TRIANGLE, "x_lower": np.array([-9.0, 0.25]), "x_upper": 9.0})):
        point = interior_point(program)
        x, multipliers = solution(program, point)
        np.testing.assert_allclose(x, [1.5, 0.5], rtol=0, atol=1e-7)
        np.testing.assert_allclose(multipliers, [1.0, 0.5], rtol=0, atol=1e-7)
        assert 3 <= point.iterations <= 20 and point.failure == ""


def test_the_corrector_keeps_the_iterations_few() -> None:
    iterations = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        B, A, inside = rng.normal(size=(8, 8)), rng.normal(size=(12, 8)), rng.normal(size=8)
        program = {"H": B.T @ B + np.eye(8), "g": 20.0 * rng.normal(size=8), "A": A, "upper": A @ inside + 0.1}
        iterations.append(interior_point(scaled({**program, "lower": np.full(12, -INF)})).iterations)
    assert np.median(iterations) <= 10.0  # by predictor steps alone 12


@pytest.mark.parametrize("name", ["g", "lower", "upper", "x_lower", "x_upper", "H", "A"])
def test_an_update_changes_one_part_and_leaves_the_others(name: str) -> None:
    rng = np.random.default_rng(4)
    parts: dict[str, Any] = {
        "H": np.eye(3), "g": rng.normal(size=3), "A": rng.normal(size=(2, 3)), "lower": np.array([-1.0, -2.0]),
        "upper": np.array([1.0, 2.0]), "x_lower": np.array([-0.3, -0.4, -0.5]), "x_upper": np.array([0.3, 0.4, 0.5]),
    }  # fmt: skip
    other: dict[str, Any] = {
        "H": 2.0 * np.eye(3), "g": 5.0 * rng.normal(size=3), "A": rng.normal(size=(2, 3)),
        "lower": np.array([-0.1, -0.2]), "upper": np.array([0.1, 0.2]),
        "x_lower": np.array([-0.03, -0.04, -0.05]), "x_upper": np.array([0.03, 0.04, 0.05]),
    }  # fmt: skip
    problem = qp.QP(**parts)
    problem.update(**{name: other[name]})
    program, expected = problem.solve().program, qp.QP(**{**parts, name: other[name]}).solve().program
    for found, given in zip(program, expected, strict=True):
        np.testing.assert_array_equal(found, given)  # type: ignore[arg-type]


def test_an_update_cannot_change_sizes() -> None:
    problem = qp.QP(np.eye(2), np.zeros(2), np.eye(2), 0.0, 1.0)
    with pytest.raises(InputError, match="update cannot change the sizes of H .* and A .*; create a new QP"):
        problem.update(A=np.ones((1, 2)), lower=0.0, upper=1.0)
    with pytest.raises(InputError, match="g must have shape"):
        problem.update(g=np.zeros(3))


@pytest.mark.parametrize("tolerance", [1.0, 2.0, 0.0, -1.0])
def test_tolerances_are_between_0_and_1(tolerance: float) -> None:
    with pytest.raises(InputError, match="tolerance"):
        qp.QP(np.eye(1), [0.0], tolerance=tolerance)
    assert qp.QP(np.eye(1), [-1.0], tolerance=0.999).solve().solved


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x_upper": -INF}, "must not be -inf: the interval would be empty"),
        ({"A": np.eye(2), "lower": [0.0, INF]}, r"lower must not be \+inf"),
        ({"A": np.eye(2), "upper": [0.0, -INF]}, "upper must not be -inf"),
        ({"A": np.eye(2), "upper": [0.0, np.nan]}, "upper has a NaN"),
        ({"x_lower": [0.0, 2.0], "x_upper": [0.0, 1.0]}, r"x_lower\[1\] = 2 is above x_upper\[1\] = 1"),
        ({"A": np.eye(2), "lower": "low"}, r"lower must be numbers of shape \(2,\)"),
        ({"A": np.eye(2), "soft": [1.0]}, r"soft must be weights \(2,\) above 0"),
        ({"A": np.eye(2), "soft": [1.0, np.nan]}, "soft"),
        ({"A": np.zeros(2)}, r"A must have shape \(m, 2\)"),
        ({"H": np.ones((2, 3))}, r"H must be a square matrix \(n, n\) with n > 0, got shape \(2, 3\)"),
        ({"H": np.ones((3, 2))}, r"H must be a square matrix \(n, n\) with n > 0, got shape \(3, 2\)"),
        ({"H": np.ones((0, 0))}, "H must be a square matrix"),
        ({"H": np.ones(2)}, "H must be a square matrix"),
        ({"A": np.zeros((1, 1, 2))}, r"A must have shape \(m, 2\)"),
    ],
)
def test_bounds_and_weights_that_cannot_be_are_rejected(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        qp.QP(**{"H": np.eye(2), "g": np.zeros(2), **arguments})


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_equal_bounds_and_scalars_are_accepted(side: str) -> None:
    answer = qp.solve(np.eye(2), [3.0, -3.0], np.eye(2), 1.0, 1.0)
    np.testing.assert_allclose(answer.x, [1.0, 1.0], rtol=0, atol=1e-12)
    one = qp.solve(np.eye(2), [-3.0, 3.0], np.eye(2), **{side: 0.0})
    np.testing.assert_allclose(one.x, [3.0, 0.0] if side == "lower" else [0.0, -3.0], rtol=0, atol=1e-12)


def test_violations_are_signed_and_cost_counts_soft_rows_alone() -> None:
    answer = qp.solve(
        np.eye(2), [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], lower=[1.0, -INF], upper=[INF, -1.0], soft=[1.0, 3.0]
    )
    np.testing.assert_allclose(answer.x, [0.5, -0.75], rtol=0, atol=1e-10)
    np.testing.assert_allclose(answer.row_violation, [-0.5, 0.25], rtol=0, atol=1e-10)
    np.testing.assert_allclose(answer.bound_violation, [0.0, 0.0], rtol=0, atol=1e-12)
    assert answer.cost == pytest.approx(0.5 * (0.25 + 0.5625) + 0.5 * (0.25 + 3.0 * 0.0625))
    hard = qp.solve(np.eye(2), [0.0, 0.0], np.eye(2), lower=[1.0, -INF], upper=[INF, -1.0], soft=[INF, 3.0])
    assert hard.cost == pytest.approx(0.5 * (1.0 + 0.5625) + 0.5 * 3.0 * 0.0625)
    nearest = qp.solve(np.eye(1), [0.0], [[1.0]], lower=3.0, x_upper=1.0)
    assert nearest.status == "infeasible"
    np.testing.assert_allclose([nearest.row_violation, nearest.bound_violation], [[-1.0], [1.0]], rtol=0, atol=1e-8)
