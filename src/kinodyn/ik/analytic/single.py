"""One target of an arm of six joints: the closed form in the core, without the overhead of batches.

Degenerate targets, at which a joint is free, two branches may coincide or one needs refinement, are left to `Problem`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinodyn import _core, kinematics
from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Axis
from kinodyn.ik.analytic.chain import Chain
from kinodyn.ik.analytic.planar import TwoLinks
from kinodyn.ik.analytic.refinement import RESIDUAL_TOLERANCE, refine_below
from kinodyn.ik.analytic.regional import Backwards, FirstTwoIntersect, LastTwoParallel
from kinodyn.ik.analytic.result import LIMITS, SOLVED, STATUS_DTYPE, UNREACHABLE, AnalyticSolutions
from kinodyn.ik.analytic.six import ParallelThree, Reversed, SphericalWrist
from kinodyn.layouts import layout
from kinodyn.model.robot import Robot

FAR = 1e30  # [rad], for joints without limits
SAMPLES = 16
FACTOR = 1e3  # branches with a residual above this many times that of inexact axes are not solutions,
ROUNDING = 1e-6  # nor those above this, which rounding errors near singularities do not reach
STATUS = {name: np.array(name, dtype=STATUS_DTYPE) for name in (SOLVED, LIMITS, UNREACHABLE)}


@dataclass(frozen=True, eq=False)
class Plan:
    """A recognised geometry as the core takes it: numbers without and with a current configuration."""

    numbers: tuple[Array, Array]
    indices: Array
    q_index: tuple[int, ...]
    alone: bool  # the joints are all coordinates of the robot, in order
    lower: Array
    upper: Array
    family: str
    names: tuple[str, ...]

    def solve(
        self, robot: Robot, T: Array, frame: str | int, start: Array, *, given: bool, limits: bool
    ) -> AnalyticSolutions | None:
        """Solve for one pose (4, 4), or return None if it is degenerate."""
        near = start if self.alone else start[self.indices.astype(int)]
        found = _core.closed_form(
            robot, T, frame, self.numbers[given], self.indices, self.lower, self.upper, near, start
        )
        if not found.regular:
            return None
        q, solved = found.q, found.residual <= RESIDUAL_TOLERANCE
        outside = found.outside > 0.0 if limits else np.zeros(found.outside.shape, dtype=bool)
        valid = solved & ~outside.any(axis=-1) if limits else solved.copy()
        count = np.count_nonzero(solved)
        if count < len(solved):
            q[~solved] = np.nan
        status = SOLVED if np.count_nonzero(valid) else LIMITS if count else UNREACHABLE
        return AnalyticSolutions(
            q=q,
            valid=valid,
            singular=np.zeros(len(solved), dtype=bool),
            residual=found.residual,
            status=STATUS[status].copy(),
            clamped=np.zeros((), dtype=bool),
            family=self.family,
            joints=self.names,
            outside_limits=outside,
            q_index=self.q_index,
        )


def plan_of(robot: Robot, frame: str | int, chain: Chain, solver: object) -> Plan | None:
    """Convert a recognised geometry, or return None for those that the core does not solve."""
    inner: object = solver.inner if isinstance(solver, Reversed) else solver
    if not isinstance(inner, SphericalWrist | ParallelThree):
        return None
    records = np.zeros(2, dtype=layout("closed_form_plan"))
    _fill(records[0], inner)
    records[0]["reversed"], records[0]["size"] = isinstance(solver, Reversed), chain.size
    records[0]["T_zero_inverse"] = chain.T_zero_inverse.reshape(-1)
    records[1] = records[0]
    records[1]["turns_wrapped"] = True
    numbers = records.view(float).reshape(2, -1)
    plan = Plan(
        (numbers[0], numbers[1]),
        np.array(chain.q_index, dtype=float),
        chain.q_index,
        chain.q_index == tuple(range(robot.nq)),
        np.maximum(chain.lower, -FAR),
        np.minimum(chain.upper, FAR),
        solver.family if isinstance(solver, Reversed) else inner.family,
        chain.names,
    )
    records["last_residual"] = np.clip(FACTOR * _inexactness(robot, frame, plan), ROUNDING, refine_below())
    return plan


def _inexactness(robot: Robot, frame: str | int, plan: Plan) -> float:
    """Return the residual of solutions before refinement: how far the axes are from the assumed geometry."""
    q = robot.random(SAMPLES, seed=0)
    T = kinematics.pose(robot, q, frame)
    near = q[:, list(plan.q_index)]
    found = _core.closed_form(robot, T, frame, plan.numbers[0], plan.indices, plan.lower, plan.upper, near, q)
    best = found.residual.min(axis=-1)[found.regular > 0.0]
    return float(best.max(initial=0.0)) if len(best) else np.inf


def _fill(row: np.void, inner: SphericalWrist | ParallelThree) -> None:
    row["axes"] = [_line(axis) for axis in inner.axes]
    row["centre"] = np.array(inner.centre, dtype=float)
    if isinstance(inner, ParallelThree):
        row["parallel"] = True
        _fill_links(row, inner.links.pair)
        row["links"][2], row["signs"][1] = _line(inner.links.third), inner.links.sign
        return
    arm = inner.arm
    if isinstance(arm, Backwards):
        row["arm_backwards"], arm = True, arm.inner
    if isinstance(arm, LastTwoParallel):
        row["arm_parallel"] = True
        row["arm"][0] = _line(arm.first)
        _fill_links(row, arm.pair)
    else:
        assert isinstance(arm, FirstTwoIntersect)
        row["arm"] = [_line(axis) for axis in arm.axes]
        row["arm_centre"] = arm.centre


def _fill_links(row: np.void, pair: TwoLinks) -> None:
    row["links"][:2] = _line(pair.first), _line(pair.second)
    row["signs"][0] = pair.sign


def _line(axis: Axis) -> Array:
    return np.concatenate([axis.frame.reshape(-1), axis.point])
