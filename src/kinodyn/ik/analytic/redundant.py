"""Seven joints: the position of one, the redundant joint, is given; the other six have a closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import unknown_name
from kinodyn.ik.analytic.axes import Axis, CosSin, Motion
from kinodyn.ik.analytic.chain import Chain
from kinodyn.ik.analytic.geometry import NoClosedFormError
from kinodyn.ik.analytic.six import Solver, six
from kinodyn.ik.analytic.subproblems import Degeneracies

# A generic angle: a geometry recognised at this value holds at all.
GENERIC_ANGLE = 0.7390851332151607


@dataclass(frozen=True, eq=False)
class SevenJoints:
    """A chain of seven joints, of which joint `given` (index from 0) is given and not solved for."""

    chain: Chain
    given: int
    around: Solver  # for the other six; valid for every value if the given joint is the first or the last
    family: str
    branches: tuple[int, ...] = (2, 2, 2)
    position_only: bool = False

    def solve(self, T: Array, value: Array, record: Degeneracies) -> list[CosSin]:
        """Solve targets (n, 4, 4), relative to the zero pose, each with its own value (n,) of the given joint."""
        record = replace(record, free=_without(record.free, self.given))
        angles = self._around(T, value, record)
        angles.insert(self.given, (np.cos(value), np.sin(value)))
        return angles

    def _around(self, T: Array, value: Array, record: Degeneracies) -> list[CosSin]:
        """Solve the six joints: all targets at once if the given joint is the first or last, else value by value."""
        axes, k = self.chain.axes, self.given
        if k == len(axes) - 1:
            return self.around.solve(Motion.from_pose(T @ rotations_about(axes[k], -value)), record)
        if k == 0:
            return self.around.solve(Motion.from_pose(rotations_about(axes[k], -value) @ T), record)
        values, which = np.unique(value, return_inverse=True)
        found = np.empty((2, 6, 2, 2, 2, len(value)))
        for i, one in enumerate(values):
            at = np.nonzero(which == i)[0]
            free = [angle[at] if len(angle) > 1 else angle for angle in record.free]
            local = Degeneracies(record.size, free, record.tolerance)
            goal = Motion.from_pose(T[at] @ rotations_about(axes[k], np.array([-one])))
            for j, (c, s) in enumerate(fixed(axes, k, float(one)).solve(goal, local)):
                found[0, j, ..., at] = np.moveaxis(np.broadcast_to(c, (2, 2, 2, len(at))), -1, 0)
                found[1, j, ..., at] = np.moveaxis(np.broadcast_to(s, (2, 2, 2, len(at))), -1, 0)
            _spread(local, record, at, len(value))
        return [(found[0, j], found[1, j]) for j in range(6)]


def seven(chain: Chain, joint: str | None) -> SevenJoints:
    """Recognise a chain of seven joints, with the named or the first suitable joint as redundant joint, or raise."""
    failures = []
    for k in candidates(chain, joint):
        try:
            solver = fixed(chain.axes, k, GENERIC_ANGLE)
        except NoClosedFormError as error:
            failures.append(f"with {chain.names[k]!r} given: {error}")
        else:
            return SevenJoints(chain, k, solver, f"7R with {chain.names[k]} given, {solver.family}")
    raise NoClosedFormError(
        "no joint of these seven leaves six with a closed form when it is given; " + "; ".join(failures)
    )


def fixed(axes: tuple[Axis, ...], k: int, value: float) -> Solver:
    """Recognise the six joints that remain with joint k at a value; those beyond it rotate with it."""
    T = rotations_about(axes[k], np.array([value]))[0]
    beyond = [Axis.through(T[:3, :3] @ a.point + T[:3, 3], T[:3, :3] @ a.direction) for a in axes[k + 1 :]]
    # With the first joint given all others rotate with it, which does not change their relative geometry.
    return six(axes[1:] if k == 0 else [*axes[:k], *beyond])


def rotations_about(axis: Axis, angle: Array) -> Array:
    """Compute the rotations (n, 4, 4) about a line by angles (n,)."""
    c, s = np.cos(angle), np.sin(angle)
    T = np.zeros((len(angle), 4, 4))
    local = np.zeros((len(angle), 3, 3))
    local[:, 0, 0] = local[:, 1, 1] = c
    local[:, 1, 0], local[:, 0, 1], local[:, 2, 2] = s, -s, 1.0
    T[:, :3, :3] = axis.frame @ local @ axis.frame.T
    T[:, :3, 3] = axis.point - T[:, :3, :3] @ axis.point
    T[:, 3, 3] = 1.0
    return T


def candidates(chain: Chain, joint: str | None) -> tuple[int, ...]:
    """Return the joints that may be given: the named one, or all, the ends first."""
    if joint is None:
        return 6, 0, 2, 4, 1, 5, 3
    if joint not in chain.names:
        raise unknown_name("joint between base and frame", joint, chain.names)
    return (chain.names.index(joint),)


def _without(free: list[Array], k: int) -> list[Array]:
    return [value for i, value in enumerate(free) if i != k]


def _spread(local: Degeneracies, record: Degeneracies, at: NDArray[np.intp], n: int) -> None:
    """Extend the record of some targets to all targets (n)."""
    for few, many in ((local.singular, record.singular), (local.double, record.double)):
        for mask in few:
            whole = np.zeros((*mask.shape[:-1], n), dtype=bool)
            whole[..., at] = mask
            many.append(whole)
