"""Six joints of any geometry, or seven with one given: all solutions by continuation from a generic complex pose.

Six revolute joints have at most 16 solutions. The complex ones of a generic pose are found once for each chain
(`start_system`); those of a target follow from them along a path of complex poses, and the real ones among them are
the solutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Axis, CosSin, Mask
from kinodyn.ik.analytic.start_system import (
    COARSE,
    FINE,
    MAX_SOLUTIONS,
    SAME,
    ComplexArray,
    Linkage,
    StartSystem,
    repeated,
    start_system,
)
from kinodyn.ik.analytic.subproblems import Degeneracies
from kinodyn.model.robot import Robot

SEED = 7
ATTEMPTS = 3
SINGULAR_VALUE = 1e-9  # of the least singular value of a generic Jacobian, relative to the largest


@dataclass(frozen=True, eq=False)
class GeneralJoints:
    """A chain of six joints to solve for, and perhaps one that is given, of any geometry."""

    linkage: Linkage
    family: str
    systems: list[StartSystem] = field(default_factory=list)  # found when needed
    branches: tuple[int, ...] = (MAX_SOLUTIONS,)
    position_only: bool = False

    @property
    def given(self) -> int | None:
        """Index of the joint that is given."""
        return self.linkage.given

    def solve(self, robot: Robot, G: Array, value: Array, record: Degeneracies) -> list[CosSin]:
        """Solve targets (n, 4, 4), relative to the zero pose, each with its own value (n,) of the given joint.

        Solutions that are not real are returned by their real parts, which verification rejects. Targets for which the
        solutions are not evidently complete are solved again from other start systems.
        """
        ends = self.linkage.ends(G, np.broadcast_to(value, len(G)))
        shape = (len(G), MAX_SOLUTIONS)
        z = np.ones((*shape, self.linkage.joints), dtype=complex)
        arrived, lost = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        incomplete = np.arange(len(G))
        for k in range(ATTEMPTS):
            if not len(incomplete):
                break
            system = self._system(robot, k)
            more, there = self.linkage.follow(
                robot, system.z, system.end, ends[incomplete, None], COARSE if k == 0 else FINE
            )
            z[incomplete], arrived[incomplete] = _merged(z[incomplete], arrived[incomplete], more, there)
            lost[incomplete] = (np.arange(MAX_SOLUTIONS) < len(system.z)) & ~arrived[incomplete]
            incomplete = incomplete[~_complete(more, there)]
        record.lost.append(lost.T)
        angles = np.angle(z)
        return [(np.cos(angles[..., i].T), np.sin(angles[..., i].T)) for i in range(self.linkage.joints)]

    def _system(self, robot: Robot, k: int) -> StartSystem:
        while len(self.systems) <= k:
            self.systems.append(start_system(robot, self.linkage, SEED + len(self.systems)))
        return self.systems[k]


def general(axes: Sequence[Axis], size: float, given: int | None) -> GeneralJoints | None:
    """Prepare a chain of any geometry, or return None if its joints do not reach all poses near a generic one."""
    linkage = Linkage.from_axes(axes, size, given)
    if linkage.least_singular_value(SEED) < SINGULAR_VALUE:
        return None
    family = "6R of general geometry"
    return GeneralJoints(linkage, family if given is None else f"7R with joint {given + 1} given, {family}")


def _complete(z: ComplexArray, arrived: Mask) -> Mask:
    """Return for which targets (n,) all paths arrived, at different ends, of which complex ones come in pairs."""
    apart = ~repeated(z, arrived).any(axis=-1)
    # The conjugate of the angle of z is that of 1 / conj(z).
    gap = np.abs(z[:, :, None] * z[:, None].conj() - 1.0).max(axis=-1)
    paired = (gap < 10.0 * SAME).any(axis=-1).all(axis=-1)
    complete: Mask = arrived.all(axis=-1) & apart & paired
    return complete


def _merged(z: ComplexArray, arrived: Mask, more: ComplexArray, there: Mask) -> tuple[ComplexArray, Mask]:
    """Unite the solutions of two attempts (n, branches, joints).

    Those that arrived and differ come first, then the ends of new paths that did not arrive.
    """
    both, counts = np.concatenate([z, more], axis=1), np.concatenate([arrived, there], axis=1)
    counts &= ~repeated(both, counts)
    rank = np.concatenate([np.full(arrived.shape, 2), np.where(there, 2, 1)], axis=1)
    order = np.argsort(np.where(counts, 0, rank), axis=1, kind="stable")[:, : z.shape[1]]
    return np.take_along_axis(both, order[..., None], axis=1), np.take_along_axis(counts, order, axis=1)
