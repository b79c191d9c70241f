"""Random programs of every kind in random units: the status is what HiGHS proves, an answer satisfies KKT."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.optimize import linprog

from kinodyn import qp
from kinodyn.arrays import Array


class Program(NamedTuple):
    """min 1/2 x'Hx + g'x subject to lower <= A x <= upper, x_lower <= x <= x_upper; all numbers are near 1."""

    H: Array
    g: Array
    A: Array
    lower: Array
    upper: Array
    x_lower: Array
    x_upper: Array

    def constraints(self) -> tuple[Array, Array, Array]:
        rows = np.vstack([self.A, np.eye(len(self.g))])
        return rows, np.concatenate([self.lower, self.x_lower]), np.concatenate([self.upper, self.x_upper])


class Units(NamedTuple):
    """x = length / columns * (x near 1), and likewise for rows and the cost."""

    columns: Array
    rows: Array
    cost: float
    length: float

    def solve(self, p: Program) -> qp.QPResult:
        d, r, c, s = self
        return qp.solve(
            c * p.H * np.outer(d, d),
            c * s * p.g * d,
            p.A * np.outer(r, d),
            s * p.lower * r,
            s * p.upper * r,
            x_lower=s * p.x_lower / d,
            x_upper=s * p.x_upper / d,
        )

    def back(self, answer: qp.QPResult) -> tuple[Array, Array]:
        """Return x and the multipliers of rows and bounds in the units of the program near 1."""
        d, r, c, s = self
        push = np.concatenate([answer.multipliers * r, answer.bound_multipliers / d]) / (c * s)
        return answer.x * d / s, push


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Draw programs that are feasible or not, bounded or not, degenerate, with H of any rank."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 12)), draw(st.integers(0, 18))
    rank = draw(st.integers(0, n))
    B, A = rng.normal(size=(rank, n)), rng.normal(size=(m, n))
    if draw(st.booleans()):
        A, B = np.round(A), np.round(B)  # rows and columns of zeros, equal rows
    if m > 2 and draw(st.booleans()):
        A[-1] = A[0] + A[1]
    inside = rng.normal(size=n) * draw(st.booleans())
    lower = A @ inside - rng.uniform(0, 1, m) * draw(st.booleans())
    upper = A @ inside + rng.uniform(0, 1, m) * draw(st.booleans())
    if draw(st.integers(0, 2)) == 0:
        shift = rng.normal(size=m) * (rng.random(m) < 0.3)
        lower, upper = lower + shift, upper + shift  # contradictions, perhaps
    lower[rng.random(m) < 0.4], upper[rng.random(m) < 0.4] = -np.inf, np.inf
    x_lower = np.where(rng.random(n) < 0.5, inside - rng.uniform(0, 2, n), -np.inf)
    x_upper = np.where(rng.random(n) < 0.5, inside + rng.uniform(0, 2, n), np.inf)
    g = {"zero": np.zeros(n), "any": rng.normal(size=n), "bounded": B.T @ rng.normal(size=rank)}
    return Program(
        B.T @ B, g[draw(st.sampled_from(["zero", "any", "bounded"]))], A, lower, upper, x_lower, x_upper
    )  # fmt: skip


def units(p: Program, decades: float, seed: int) -> Units:
    rng = np.random.default_rng(seed)
    d, r = (10.0 ** rng.uniform(-decades, decades, size) for size in (len(p.g), len(p.A)))
    cost, length = 10.0 ** rng.uniform(-2 * decades, 2 * decades, 2)
    return Units(d, r, float(cost), float(length))


def truth(p: Program) -> str:
    """Ask HiGHS whether a point satisfies all rows, and whether the cost falls without end along some direction."""
    rows, lower, upper = p.constraints()
    up, low = np.isfinite(upper), np.isfinite(lower)
    both = np.vstack([rows[up], -rows[low]])
    n = len(p.g)
    free = [(None, None)] * n
    if linprog(np.zeros(n), A_ub=both, b_ub=np.concatenate([upper[up], -lower[low]]), bounds=free).status == 2:
        return "infeasible"
    flat = np.vstack([p.H, p.g])
    down = np.concatenate([np.zeros(n), [-1.0]])
    ray = linprog(np.zeros(n), A_ub=both, b_ub=np.zeros(len(both)), A_eq=flat, b_eq=down, bounds=(-1e6, 1e6))
    return "unbounded" if ray.status == 0 else "solved"


def assert_kkt(p: Program, x: Array, push: Array, tolerance: float = 1e-6) -> None:
    """Check feasibility, stationarity, complementarity and the duality gap in units in which numbers are near 1."""
    rows, lower, upper = p.constraints()
    at, size = rows @ x, 1.0 + np.abs(x).max()
    assert (np.maximum(at - upper, lower - at) <= tolerance * size).all()
    forces = 1.0 + np.abs(p.H) @ np.abs(x) + np.abs(rows).T @ np.abs(push)
    np.testing.assert_allclose((p.H @ x + p.g + rows.T @ push) / forces, 0.0, atol=tolerance)
    used = np.abs(push) > tolerance * (1.0 + np.abs(push).max())
    reached = np.where(push > 0, upper, lower)
    assert np.isfinite(reached[used]).all()
    gap = np.abs(push[used] * (reached - at)[used]).sum()
    assert gap <= tolerance * (1.0 + np.abs(push[used]) @ np.abs(reached[used]) + abs(p.g @ x) + abs(x @ p.H @ x))


def assert_true_to_its_status(p: Program, answer: qp.QPResult, scale: Units) -> None:
    """Verify an answer by what proves its status."""
    rows, lower, upper = p.constraints()
    x, push = scale.back(answer)
    if answer.status == "solved":
        assert_kkt(p, x, push)
    elif answer.status == "infeasible":  # Farkas
        used = push != 0
        bounds = np.where(push > 0, upper, lower)[used]
        total = push[used] @ bounds
        assert total < 0 and np.linalg.norm(rows.T @ push) <= -1e-4 * total
    elif answer.status == "unbounded":
        assert answer.ray is not None
        ray = answer.ray * scale.columns
        ray, along = ray / np.abs(ray).max(), rows @ ray / np.abs(ray).max()
        assert p.g @ ray < 0 and np.abs(p.H @ ray).max() <= 1e-6
        assert (along[np.isfinite(upper)] <= 1e-6).all() and (along[np.isfinite(lower)] >= -1e-6).all()
    else:
        assert answer.reason


@settings(max_examples=300, deadline=None, derandomize=True)
@given(programs(), st.floats(0, 2), st.integers(0, 1000))
def test_the_status_agrees_with_highs_and_is_certified(p: Program, decades: float, seed: int) -> None:
    scale = units(p, decades, seed)
    answer = scale.solve(p)
    event(answer.status)
    assert answer.status == truth(p), answer.reason
    assert_true_to_its_status(p, answer, scale)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(programs(), st.floats(2, 6), st.integers(0, 1000))
def test_badly_scaled_problems_are_solved_or_reported_as_failed(p: Program, decades: float, seed: int) -> None:
    scale = units(p, decades, seed)
    answer = scale.solve(p)
    event(answer.status)
    assert answer.status in (truth(p), "failed")
    assert_true_to_its_status(p, answer, scale)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(programs(), st.floats(4, 16))
def test_bounds_hold_however_far_away_the_minimum_without_them_is(p: Program, decades: float) -> None:
    """A gradient of 1e4 to 1e16 pulls towards a minimum that is that far away, while all bounds are near 1."""
    far = p._replace(g=10.0**decades * p.g)
    answer = qp.solve(*far[:5], x_lower=far.x_lower, x_upper=far.x_upper)
    event(answer.status)
    assert answer.status in (truth(p), "failed")
    if answer.status == "solved":
        rows, lower, upper = p.constraints()
        at, size = rows @ answer.x, 1.0 + np.abs(answer.x).max()
        assert (np.maximum(at - upper, lower - at) <= 1e-7 * size).all()


def test_contradictory_bounds_are_found_however_far_away_the_minimum_without_them_is() -> None:
    for slope in 10.0 ** np.arange(17):
        answer = qp.solve([[1.0]], [-slope], [[1.0], [1.0]], [-np.inf, 1.0], [0.5, np.inf])
        assert answer.status == "infeasible", (slope, answer)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(3, 60), st.floats(-4, 4), st.floats(-6, 6))
def test_model_predictive_control_of_an_integrator_is_solved(seed: int, steps: int, weight: float, far: float) -> None:
    """Condensed MPC: the cost is that of the last state only, so that H has rank 2, or 0 in the limit."""
    rng = np.random.default_rng(seed)
    dt, limit = 0.1, 1.0
    k = np.arange(steps)
    effect = np.vstack([dt * dt * (steps - k - 0.5), np.full(steps, dt)])  # of inputs on position and speed at the end
    start = 10.0**far * rng.normal(size=2)
    H = 10.0**weight * effect.T @ effect
    g = 10.0**weight * effect.T @ np.array([start[0] + steps * dt * start[1], start[1]])
    speeds = dt * np.tril(np.ones((steps, steps)))
    bound = np.full(steps, max(1.0, 2.0 * abs(start[1])))
    p = Program(H, g, speeds, -bound - start[1], bound - start[1], np.full(steps, -limit), np.full(steps, limit))
    answer = qp.solve(*p[:5], x_lower=p.x_lower, x_upper=p.x_upper)
    assert answer.status == truth(p), answer.reason


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_entries_of_any_size_give_finite_results_with_a_correct_status(data: st.DataObject) -> None:
    n, m = data.draw(st.integers(1, 5)), data.draw(st.integers(0, 6))
    entry = st.sampled_from([0.0, 1.0, -1.0, 2.5, 1e-7, 1e6, -1e3])
    B = data.draw(arrays.arrays(float, (n, n), elements=entry))
    g = data.draw(arrays.arrays(float, n, elements=entry))
    A = data.draw(arrays.arrays(float, (m, n), elements=entry))
    lower = data.draw(arrays.arrays(float, m, elements=st.sampled_from([-np.inf, -1.0, 0.0, 1e5, -1e9])))
    width = data.draw(arrays.arrays(float, m, elements=st.sampled_from([0.0, 1.0, 1e-3, np.inf])))
    upper = np.where(np.isfinite(lower), lower, 0.0) + width
    answer = qp.solve(B.T @ B, g, A, lower, upper)
    for part in (answer.x, answer.multipliers, answer.row_violation, answer.cost, answer.primal, answer.dual):
        assert np.isfinite(part).all()
    reach = np.abs(A) @ np.abs(answer.x)
    if answer.solved:
        assert (
            np.abs(answer.row_violation) <= 1e-7 * (reach + np.linalg.norm(A, axis=1) * np.abs(answer.x).sum() + 1)
        ).all()
    elif answer.status == "infeasible":
        assert np.abs(answer.row_violation).max() > 0
    else:
        assert answer.reason
