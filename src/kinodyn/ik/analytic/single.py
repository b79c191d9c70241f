"""Arms of six joints, or of seven with one given: the closed form in the core, and one target without batch overhead.

Degenerate targets, at which a joint is free or two branches may coincide, are left to `Problem`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Axis, Mask
from kinodyn.ik.analytic.chain import Chain
from kinodyn.ik.analytic.general import GeneralJoints
from kinodyn.ik.analytic.planar import TwoLinks
from kinodyn.ik.analytic.redundant import SevenJoints
from kinodyn.ik.analytic.refinement import POSE_ACCURACY, RESIDUAL_TOLERANCE, refine_below
from kinodyn.ik.analytic.regional import Backwards, FirstTwoIntersect, LastTwoParallel
from kinodyn.ik.analytic.result import LIMITS, SOLVED, STATUS_DTYPE, UNREACHABLE, AnalyticSolutions, make_solutions
from kinodyn.ik.analytic.six import ParallelThree, Reversed, Solver, SphericalWrist
from kinodyn.layouts import layout
from kinodyn.model.robot import Robot

AnySolver: TypeAlias = Solver | SevenJoints | GeneralJoints
FAR = 1e30  # [rad], for joints without limits
_ONES = np.ones(6)
STATUS = {name: np.array(name, dtype=STATUS_DTYPE) for name in (SOLVED, LIMITS, UNREACHABLE)}


@dataclass(frozen=True, eq=False)
class Plan:
    """A recognised geometry as the core takes it: numbers without and with a current configuration.

    `solved` are the indices in q of the six joints that are solved for, `given` that of a seventh.
    """

    numbers: tuple[Array, Array]
    chain: Chain
    solved: NDArray[np.intp]
    given: int | None
    given_limits: tuple[int, float, float]  # its place among the joints, 0 or 6, and its limits; of no use without it
    places: Array  # `solved`, as numbers
    lower: Array
    upper: Array
    family: str

    def solve(
        self, robot: Robot, T: Array, frame: str | int, start: Array, value: float | None, *, near: bool, limits: bool
    ) -> AnalyticSolutions | None:
        """Solve for one pose (4, 4), or return None if it is degenerate.

        Angles are near those of `start` (nq,) if asked for; `value` is that of the given joint, by default that in
        `start`.
        """
        if value is not None:
            start = start.copy()
            start[self.given] = value
        found = _core.closed_form(
            robot, T, frame, self.numbers[near], self.places, self.lower, self.upper, start[self.solved], start
        )
        if not found.regular:
            return None
        q, solved = found.q, found.residual <= RESIDUAL_TOLERANCE
        if found.residual.min() <= POSE_ACCURACY and not solved.any():
            return None  # out of reach by rounding errors, where branches meet
        outside, within = self._limit_masks(found.outside, start, limits)
        valid = solved & within
        unsolved = [k for k, reached in enumerate(solved.tolist()) if not reached]
        for k in unsolved:
            q[k] = np.nan
        status = SOLVED if np.count_nonzero(valid) else LIMITS if len(unsolved) < len(solved) else UNREACHABLE
        return make_solutions(
            q=q,
            valid=valid,
            singular=np.zeros(len(solved), dtype=bool),
            residual=found.residual,
            status=STATUS[status].copy(),
            clamped=np.zeros((), dtype=bool),
            family=self.family,
            joints=self.chain.names,
            outside_limits=outside,
            q_index=self.chain.q_index,
        )

    def branches(
        self, robot: Robot, T: Array, frame: str | int, rest: Array, *, near: bool
    ) -> tuple[Array, Array, Mask]:
        """Solve for poses (n, 4, 4), with the coordinates that are not solved for in `rest` (n or 1, nq).

        Returns the branches (n, 8, nq), their residuals (n, 8), and which targets (n,) are not degenerate; only these
        are solved.
        """
        found = _core.closed_form(
            robot, T, frame, self.numbers[near], self.places, self.lower, self.upper, rest[:, self.solved], rest
        )
        return found.q, found.residual, found.regular > 0.0

    def _limit_masks(self, six: Array, start: Array, limits: bool) -> tuple[Mask, Mask | bool]:
        """Return which joints (8, joints) are outside their limits, from those of the six, and which branches are not.

        The products and slices are those that take NumPy the least time: this is most of the cost of one target.
        """
        if not limits:
            return np.zeros((len(six), len(self.chain.names)), dtype=bool), True
        within: Mask = six.dot(_ONES) == 0.0
        if self.given is None:
            return six > 0.0, within
        k, lower, upper = self.given_limits
        outside: Mask = np.empty((len(six), 7), dtype=bool)
        np.greater(six, 0.0, out=outside[:, 1:] if k == 0 else outside[:, :6])
        if lower <= float(start[self.given]) <= upper:
            outside[:, k] = False
            return outside, within
        outside[:, k] = True
        return outside, False


def plan_of(chain: Chain, solver: AnySolver) -> Plan | None:
    """Convert a recognised geometry, or return None for those that the core does not solve."""
    seven = solver if isinstance(solver, SevenJoints) else None
    if seven is not None and seven.given not in (0, 6):
        return None
    whole: object = solver if seven is None else seven.around
    inner: object = whole.inner if isinstance(whole, Reversed) else whole
    if not isinstance(inner, SphericalWrist | ParallelThree):
        return None
    records = np.zeros(2, dtype=layout("closed_form_plan"))
    row = records[0]
    _fill(row, inner)
    row["reversed"], row["size"] = isinstance(whole, Reversed), chain.size
    row["T_zero_inverse"] = chain.T_zero_inverse.reshape(-1)
    joints = list(range(len(chain.names)))
    if seven is not None:
        row["given_first" if seven.given == 0 else "given_last"] = True
        row["given_index"], row["given_axis"] = chain.q_index[seven.given], _line(chain.axes[seven.given])
        joints.remove(seven.given)
    row["refine_below"] = refine_below()
    records[1] = row
    records[1]["turns_wrapped"] = True
    numbers = records.view(float).reshape(2, -1)
    solved = np.array(chain.q_index)[joints]
    return Plan(
        (numbers[0], numbers[1]),
        chain,
        solved,
        None if seven is None else chain.q_index[seven.given],
        (0, 0.0, 0.0) if seven is None else _limits_of(chain, seven.given),
        solved.astype(float),
        np.maximum(chain.lower[joints], -FAR),
        np.minimum(chain.upper[joints], FAR),
        solver.family,
    )


def _limits_of(chain: Chain, k: int) -> tuple[int, float, float]:
    return k, float(chain.lower[k]), float(chain.upper[k])


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
