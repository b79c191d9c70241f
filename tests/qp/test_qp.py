"""Quadratic programs: conditions of optimality, closed forms, HiGHS, and the status where there is no minimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from kinodyn import qp
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.qp import solver
from kinodyn.qp.adapter import ATTEMPTS, Point, minimise, polish
from kinodyn.qp.interior_point import interior_point
from kinodyn.qp.program import prepare

Program = dict[str, Array]


def program(seed: int, *, rank: int | None = None, size: float = 1.0, cost: float = 1.0) -> Program:
    """Make a program with equalities, two-sided rows and bounds that some point satisfies."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 12)), int(rng.integers(1, 20))
    B = rng.normal(size=(n if rank is None else min(rank, n), n))
    A = rng.normal(size=(m, n))
    inside = rng.normal(size=n)
    lower, upper = A @ inside - rng.uniform(0, 1, m), A @ inside + rng.uniform(0, 1, m)
    equal = int(rng.integers(0, min(n, m)))
    lower[:equal] = upper[:equal] = (A @ inside)[:equal]
    lower[equal::3], upper[equal + 1 :: 3] = -np.inf, np.inf
    x_lower, x_upper = inside - rng.uniform(0, 2, n), inside + rng.uniform(0, 2, n)
    return {
        "H": cost * (B.T @ B + (np.eye(n) * 0.1 if rank is None else 0.0)),
        "g": cost * size * 5 * rng.normal(size=n),
        "A": A,
        "lower": size * lower,
        "upper": size * upper,
        "x_lower": size * x_lower,
        "x_upper": size * x_upper,
    }


def assert_optimal(answer: qp.QPResult, p: Program, tolerance: float = 1e-9) -> None:
    """Check the conditions of Karush, Kuhn and Tucker from the program as it was given."""
    assert answer.solved, answer.reason
    x, size = answer.x, np.abs(answer.x).max() + 1e-300
    A, none = p.get("A", np.zeros((0, len(x)))), np.full(len(x), np.inf)
    constraints = [
        (A @ x, p.get("lower", np.zeros(0)), p.get("upper", np.zeros(0)), answer.multipliers),
        (x, p.get("x_lower", -none), p.get("x_upper", none), answer.bound_multipliers),
    ]
    for at, lower, upper, multipliers in constraints:
        assert (at <= upper + tolerance * size).all() and (at >= lower - tolerance * size).all()
        touched = np.where(multipliers > 0, upper - at, np.where(multipliers < 0, at - lower, 0.0))
        np.testing.assert_allclose(touched, 0.0, rtol=0, atol=10 * tolerance * size)
    slope = p["H"] @ x + p["g"]
    force = np.abs(slope).max() + np.abs(p["H"]).max() * size + 1e-300
    pushed = A.T @ answer.multipliers + answer.bound_multipliers
    np.testing.assert_allclose((slope + pushed) / force, 0.0, rtol=0, atol=10 * tolerance)


@pytest.mark.parametrize("rank", [None, 0, 1, 4])
def test_solutions_satisfy_the_kkt_conditions_even_with_semidefinite_hessians(rank: int | None) -> None:
    for seed in range(60):
        p = program(seed, rank=rank)
        assert_optimal(qp.solve(**p), p)


@pytest.mark.parametrize("size", [1e-8, 1e8])
@pytest.mark.parametrize("cost", [1e-9, 1e9])
def test_scaling_does_not_change_the_solution(size: float, cost: float) -> None:
    for seed in range(10):
        plain = qp.solve(**program(seed))
        answer = qp.solve(**program(seed, size=size, cost=cost))
        assert_optimal(answer, program(seed, size=size, cost=cost))
        np.testing.assert_allclose(answer.x / size, plain.x, rtol=0, atol=1e-8)


def test_each_variable_and_row_may_be_scaled() -> None:
    for seed in range(20):
        p = program(seed)
        rng = np.random.default_rng(seed)
        d, r = 10.0 ** rng.uniform(-4, 4, len(p["g"])), 10.0 ** rng.uniform(-4, 4, len(p["A"]))
        other = {
            "H": p["H"] * d[:, None] * d,
            "g": p["g"] * d,
            "A": p["A"] * r[:, None] * d,
            "lower": p["lower"] * r,
            "upper": p["upper"] * r,
            "x_lower": p["x_lower"] / d,
            "x_upper": p["x_upper"] / d,
        }
        answer = qp.solve(**other)
        assert answer.solved
        np.testing.assert_allclose(answer.x * d, qp.solve(**p).x, rtol=0, atol=1e-7)


def test_an_optimum_where_the_gradient_vanishes_is_solved() -> None:
    answer = qp.solve(np.diag([1.0, 0.0]), [0, 0], [[0.3, 0.7]], 0.1, 0.1)
    assert answer.solved
    np.testing.assert_allclose(answer.x, [0.0, 1.0 / 7.0], atol=1e-15)
    for seed in range(50):
        p = program(seed, rank=2)
        p["g"] = np.zeros(len(p["g"]))
        assert_optimal(qp.solve(**p), p)


def test_unconstrained_problems_solve_the_linear_system() -> None:
    p = program(3)
    answer = qp.solve(p["H"], p["g"])
    np.testing.assert_allclose(answer.x, -np.linalg.solve(p["H"], p["g"]), rtol=1e-10)
    assert answer.iterations <= 1 and answer.multipliers.shape == (0,)


def test_equality_rows_give_the_closed_form() -> None:
    rng = np.random.default_rng(0)
    H, g, A, b = np.diag(rng.uniform(1, 2, 6)), rng.normal(size=6), rng.normal(size=(3, 6)), rng.normal(size=3)
    answer = qp.solve(H, g, A, b, b)
    inverse = np.linalg.inv(H)
    multipliers = -np.linalg.solve(A @ inverse @ A.T, A @ inverse @ g + b)
    np.testing.assert_allclose(answer.multipliers, multipliers, rtol=1e-10)
    np.testing.assert_allclose(answer.x, -inverse @ (g + A.T @ multipliers), rtol=1e-9)


def test_the_nearest_point_of_a_box_is_clipped() -> None:
    target = np.array([3.0, -2.0, 0.5])
    answer = qp.solve(np.eye(3), -target, x_lower=-1.0, x_upper=1.0)
    np.testing.assert_allclose(answer.x, np.clip(target, -1, 1), atol=1e-15)
    np.testing.assert_allclose(answer.bound_multipliers, target - answer.x, atol=1e-14)
    assert answer.cost == pytest.approx(0.5 * answer.x @ answer.x - target @ answer.x)


def dual_bound(answer: qp.QPResult, p: Program) -> float:
    """Return the dual cost at the multipliers: by weak duality no feasible x has a cost below it."""
    multipliers = np.concatenate([answer.multipliers, answer.bound_multipliers])
    lower, upper = (np.concatenate([p[side], p[f"x_{side}"]]) for side in ("lower", "upper"))
    pushed = p["g"] + p["A"].T @ answer.multipliers + answer.bound_multipliers
    x = np.linalg.lstsq(p["H"], -pushed, rcond=1e-12)[0]  # minimises the Lagrangian
    np.testing.assert_allclose(p["H"] @ x, -pushed, rtol=0, atol=1e-9 * np.abs(p["g"]).max())
    used = multipliers != 0
    reached = np.where(multipliers > 0, upper, lower)[used]
    return float(0.5 * x @ p["H"] @ x + pushed @ x - multipliers[used] @ reached)


@pytest.mark.parametrize("rank", [None, 0, 1, 4])
def test_the_dual_cost_proves_that_no_lower_cost_exists(rank: int | None) -> None:
    for seed in range(60):
        p = program(seed, rank=rank)
        answer = qp.solve(**p)
        assert_optimal(answer, p)
        np.testing.assert_allclose(dual_bound(answer, p), answer.cost, rtol=1e-8, atol=1e-8)


def test_bounded_least_squares_with_more_unknowns_than_equations_ends_where_bounds_balance_the_gradient() -> None:
    rng = np.random.default_rng(5)
    B, y = rng.normal(size=(4, 9)), 10 * rng.normal(size=4)
    x = qp.solve(B.T @ B, -B.T @ y, x_lower=-1.0, x_upper=1.0).x
    gradient = B.T @ (B @ x - y)
    at_lower, at_upper = x <= -1.0 + 1e-12, x >= 1.0 - 1e-12
    assert (np.abs(x) <= 1.0).all() and at_lower.any() and at_upper.any()
    assert (gradient[~at_upper] >= -1e-9).all() and (gradient[~at_lower] <= 1e-9).all()


def test_linear_programs_agree_with_highs() -> None:
    for seed in range(10):
        p = program(seed, rank=0)
        answer = qp.solve(**p)
        rows = np.vstack([p["A"], -p["A"]])
        limits = np.concatenate([p["upper"], -p["lower"]])
        kept = np.isfinite(limits)
        bounds = list(zip(p["x_lower"], p["x_upper"], strict=True))
        other = linprog(p["g"], A_ub=rows[kept], b_ub=limits[kept], bounds=bounds)
        np.testing.assert_allclose(answer.cost, other.fun, rtol=1e-7)


def test_repeated_and_dependent_rows_change_nothing() -> None:
    for seed in range(20):
        p = program(seed)
        rows = np.vstack([p["A"], p["A"], 2.0 * p["A"][:1] - p["A"][-1:]])
        combined = 2.0 * p["A"][0] - p["A"][-1]
        reach = np.abs(combined) @ np.maximum(np.abs(p["x_lower"]), np.abs(p["x_upper"]))
        more = dict(p, A=rows, lower=np.r_[p["lower"], p["lower"], -reach], upper=np.r_[p["upper"], p["upper"], reach])
        answer = qp.solve(**more)
        assert_optimal(answer, more)
        np.testing.assert_allclose(answer.x, qp.solve(**p).x, rtol=0, atol=1e-8)


def test_a_vertex_where_many_rows_meet_is_found() -> None:
    angles = np.linspace(0, np.pi, 40)
    rows = np.column_stack([np.cos(angles), np.sin(angles)])  # all pass through the point (1, 2)
    answer = qp.solve(np.eye(2), [-10.0, -20.0], rows, upper=rows @ [1.0, 2.0])
    assert_optimal(answer, {"H": np.eye(2), "g": np.array([-10.0, -20.0]), "A": rows,
                            "lower": np.full(40, -np.inf), "upper": rows @ [1.0, 2.0]})  # fmt: skip


def test_programs_with_all_rows_through_one_point_are_solved_or_proved_unbounded() -> None:
    """Rounding leads a dual active-set method to contradictions in one of fifty of these."""
    statuses = set()
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 16))
        B = rng.normal(size=(int(rng.integers(0, n + 1)), n))
        A = np.round(rng.normal(size=(2 * n + 2, n)))
        upper = A @ (3.0 + np.round(rng.normal(size=n)))
        p = {"H": B.T @ B, "g": rng.normal(size=n), "A": A, "upper": upper, "lower": np.full(len(A), -np.inf)}
        answer = qp.solve(**p)
        statuses.add(answer.status)
        if answer.ray is None:
            assert_optimal(answer, p, 1e-8)
        else:
            assert p["g"] @ answer.ray < 0 and (A @ answer.ray <= 1e-7).all()
            np.testing.assert_allclose(p["H"] @ answer.ray, 0.0, atol=1e-6)
    assert statuses == {"solved", "unbounded"}


@pytest.mark.parametrize("rank", [None, 0, 2])
def test_the_interior_point_method_agrees_with_the_active_set(rank: int | None) -> None:
    for seed in range(40):
        p = program(seed, rank=rank)
        _, scaled = prepare(p["H"], p["g"], p["A"], (p["lower"], p["upper"]), (p["x_lower"], p["x_upper"]), None)
        point = polish(scaled, interior_point(scaled))
        assert max(scaled.residuals(point.y, point.multipliers, True)) < 1e-8
        x = scaled.unscale(point.y, point.multipliers, True)[0]
        cost = 0.5 * x @ p["H"] @ x + p["g"] @ x
        assert cost == pytest.approx(qp.solve(**p).cost, rel=1e-7, abs=1e-7)


def test_rows_hold_to_rounding_where_a_nearly_flat_cost_leads_far_away() -> None:
    """Rows leave one direction free, along which the minimum is about 1e9 away, while their bounds are near 1."""
    rng = np.random.default_rng(7)
    for _ in range(100):
        n = int(rng.integers(2, 8))
        b, g = 1e-3 * rng.normal(size=n), 1e3 * rng.normal(size=n)
        A, bounds = rng.normal(size=(n - 1, n)), rng.normal(size=n - 1)
        answer = qp.solve(np.outer(b, b), g, A, bounds, bounds)
        assert answer.solved, answer.reason
        rounding = 1e-13 * np.abs(A) @ np.abs(answer.x)
        assert (np.abs(A @ answer.x - bounds) <= 1e-8 * np.abs(bounds) + rounding).all()


def test_zero_rows_are_satisfied_or_infeasible() -> None:
    assert qp.solve(np.eye(2), [1.0, 1.0], np.zeros((1, 2)), -1.0, 1.0).solved
    answer = qp.solve(np.eye(2), [1.0, 1.0], np.zeros((1, 2)), 1.0, 2.0)
    assert answer.status == "infeasible"
    np.testing.assert_allclose(answer.row_violation, [-1.0])


def test_infeasible_problems_report_the_least_violation() -> None:
    answer = qp.solve(np.eye(2), [0.0, 0.0], [[1.0, 0.0], [1.0, 0.0]], lower=[2.0, -np.inf], upper=[np.inf, 1.0])
    assert answer.status == "infeasible" and "no x" in answer.reason
    np.testing.assert_allclose(answer.x[0], 1.5, atol=1e-9)  # halfway between x >= 2 and x <= 1
    np.testing.assert_allclose(answer.row_violation, [-0.5, 0.5], atol=1e-9)
    # Farkas: the multipliers push against each other, and no x can satisfy what they add up to
    np.testing.assert_allclose(np.array([[1.0, 0.0], [1.0, 0.0]]).T @ answer.multipliers, 0.0, atol=1e-9)
    assert answer.multipliers[1] * 1.0 + answer.multipliers[0] * 2.0 < 0


def test_infeasibility_agrees_with_highs() -> None:
    rng = np.random.default_rng(7)
    seen = set()
    for _ in range(60):
        A, upper = rng.normal(size=(9, 4)), rng.normal(size=9)
        answer = qp.solve(np.eye(4), rng.normal(size=4), A, upper=upper)
        possible = linprog(np.zeros(4), A_ub=A, b_ub=upper, bounds=(None, None)).status == 0
        assert answer.status == ("solved" if possible else "infeasible")
        seen.add(possible)
    assert seen == {True, False}


def test_contradictory_equalities_are_infeasible() -> None:
    answer = qp.solve(np.eye(3), np.zeros(3), [[1.0, 1, 0], [2.0, 2, 0]], [1.0, 3.0], [1.0, 3.0])
    assert answer.status == "infeasible" and np.abs(answer.row_violation).max() > 0.1


def test_an_unbounded_cost_is_reported_with_a_proof() -> None:
    H, g, A = np.diag([1.0, 0.0, 0.0]), np.array([1.0, -1.0, 0.5]), np.array([[0.0, 1.0, 1.0]])
    answer = qp.solve(H, g, A, upper=2.0, x_upper=[np.inf, np.inf, 5.0])
    assert answer.status == "unbounded" and answer.ray is not None
    np.testing.assert_allclose(H @ answer.ray, 0.0, atol=1e-12)
    assert g @ answer.ray < -1e-3 and (A @ answer.ray <= 1e-12).all() and answer.ray[2] <= 1e-12
    assert (A @ answer.x <= 2.0 + 1e-9).all()


def test_a_small_gradient_is_not_mistaken_for_rounding() -> None:
    """The gradient must not be judged by the size of x, which grows without end while the cost falls."""
    columns = np.array([1e4, 1e-5])
    answer = qp.solve(np.zeros((2, 2)), [0.4, 0.5] * columns, [[0.8, -1.0] * columns], upper=1.4)
    assert answer.status == "unbounded"


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_without_a_cost_a_feasible_point_needs_no_multipliers(unit: float) -> None:
    rng = np.random.default_rng(5)
    A, inside = rng.normal(size=(8, 5)) * unit ** rng.uniform(-0.5, 0.5, 5), rng.normal(size=5)
    answer = qp.solve(np.zeros((5, 5)), np.zeros(5), A, A @ inside, A @ inside + rng.uniform(0.0, 1.0, 8))
    assert answer.solved and not answer.multipliers.any() and not answer.bound_multipliers.any()


def test_unboundedness_agrees_with_highs() -> None:
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(40):
        A, upper, g = rng.normal(size=(6, 4)), rng.uniform(0.1, 1, 6), rng.normal(size=4)
        status = qp.solve(np.zeros((4, 4)), g, A, upper=upper).status
        other = linprog(g, A_ub=A, b_ub=upper, bounds=(None, None)).status
        assert status == {0: "solved", 3: "unbounded"}[other]
        seen.add(status)
    assert seen == {"solved", "unbounded"}


def test_soft_rows_are_violated_according_to_their_weight() -> None:
    answer = qp.solve([[1.0]], [0.0], [[1.0], [2.0]], lower=[4.0, -1.0], upper=[np.inf, 100.0], soft=[3.0, np.inf])
    np.testing.assert_allclose(answer.x, [3.0])  # x + 3 (x - 4) = 0
    np.testing.assert_allclose(answer.row_violation, [-1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(answer.multipliers, [-3.0, 0.0], atol=1e-12)
    assert answer.cost == pytest.approx(0.5 * 9 + 0.5 * 3 * 1)
    both = qp.solve([[1.0]], [0.0], [[1.0], [1.0]], lower=[2.0, -np.inf], upper=[np.inf, 1.0], soft=[1.0, 1e9])
    assert both.solved  # hard, the two would contradict each other
    np.testing.assert_allclose(both.x, [1.0], atol=1e-8)


def test_a_warm_start_agrees_with_a_cold_start() -> None:
    p = program(2)
    problem = qp.QP(**p)
    rng = np.random.default_rng(1)
    fewer = 0
    for k in range(30):
        p["g"] = p["g"] + 0.1 * rng.normal(size=len(p["g"]))
        p["upper"] = p["upper"] + np.where(p["lower"] < p["upper"], 0.05 * rng.uniform(0, 1, len(p["upper"])), 0.0)
        problem.update(g=p["g"], upper=p["upper"])
        if k % 10 == 9:
            p["A"] = p["A"] + 1e-3 * rng.normal(size=p["A"].shape)
            p["H"] = p["H"] * 1.1
            problem.update(H=p["H"], A=p["A"])
        answer, anew = problem.solve(), qp.solve(**p)
        assert answer.status == anew.status
        np.testing.assert_allclose(answer.x, anew.x, rtol=0, atol=1e-9)
        fewer += answer.iterations < anew.iterations
    assert fewer > 20


def test_a_program_recovers_from_infeasible_problems() -> None:
    problem = qp.QP(np.eye(2), [0.0, 0.0], [[1.0, 1.0], [1.0, -1.0]], lower=1.0, upper=2.0)
    first = problem.solve()
    problem.update(x_upper=0.1)
    assert problem.solve().status == "infeasible"
    problem.update(x_upper=np.inf)
    np.testing.assert_allclose(problem.solve().x, first.x, atol=1e-12)


def test_an_update_with_an_error_changes_nothing() -> None:
    problem = qp.QP(np.eye(2), [-1.0, -1.0], x_upper=0.5)
    for change in ({"g": [0.0, np.nan]}, {"g": [0.0, 0.0], "x_lower": 1.0}, {"H": np.eye(3)}):
        with pytest.raises(InputError):
            problem.update(**change)
    np.testing.assert_allclose(problem.solve().x, [0.5, 0.5])


def test_errors_name_the_invalid_input() -> None:
    eye, zero = np.eye(2), np.zeros(2)
    wrong = [
        ("H", {"H": np.ones((2, 3)), "g": zero}),
        ("H is not symmetric", {"H": [[1.0, 1.0], [0.0, 1.0]], "g": zero}),
        ("negative curvature", {"H": np.diag([1.0, -1.0]), "g": zero}),
        ("negative curvature", {"H": [[0.0, 1.0], [1.0, 0.0]], "g": zero}),
        (r"g must have shape \(..., 2\)", {"H": eye, "g": np.zeros(3)}),
        ("g must be finite numbers", {"H": eye, "g": [np.nan, 0.0]}),
        (r"A must have shape \(m, 2\)", {"H": eye, "g": zero, "A": np.ones((1, 3))}),
        (r"upper must be one number or \(2,\)", {"H": eye, "g": zero, "A": eye, "upper": np.zeros(3)}),
        ("lower has a NaN", {"H": eye, "g": zero, "A": eye, "lower": [np.nan, 0.0]}),
        (r"lower\[1\] = 2 is above upper\[1\] = 1", {"H": eye, "g": zero, "A": eye, "lower": [0, 2], "upper": [1, 1]}),
        ("interval would be empty", {"H": eye, "g": zero, "x_lower": np.inf}),
        ("soft", {"H": eye, "g": zero, "A": eye, "soft": [0.0, 1.0]}),
        ("tolerance", {"H": eye, "g": zero, "tolerance": 0.0}),
    ]
    for words, arguments in wrong:
        with pytest.raises(InputError, match=words):
            qp.solve(**arguments)


def test_an_optimum_that_is_not_accurate_is_computed_again_before_any_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    # a proof takes far longer than another run: single plans of the MPC took 3 ms
    def rough(*arguments: Any) -> Point:
        point = minimise(*arguments)
        first = arguments[1] is ATTEMPTS[0]
        return point._replace(y=point.y + 1e-6, multipliers=0.0 * point.multipliers) if first else point

    def unexpected(*arguments: Any) -> None:
        raise AssertionError("nothing is to be proved")

    monkeypatch.setattr(solver, "minimise", rough)
    for proof in ("least_violation", "descent_ray", "best_point"):
        monkeypatch.setattr(solver, proof, unexpected)
    answer = qp.solve(np.eye(2), [-2.0, -2.0], [[1.0, 1.0]], upper=1.0)
    assert answer.status == "solved"
    np.testing.assert_allclose(answer.x, [0.5, 0.5], atol=1e-12)
