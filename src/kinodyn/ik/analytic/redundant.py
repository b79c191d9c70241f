"""Seven joints: one is given, the other six have a closed form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import unknown_name
from kinodyn.ik.analytic.axes import Axis, Motion, Turn
from kinodyn.ik.analytic.chain import Chain
from kinodyn.ik.analytic.geometry import NoClosedFormError
from kinodyn.ik.analytic.six import Solver, six
from kinodyn.ik.analytic.subproblems import Notes

# An angle like any other: a structure that is there at this one is there at all.
GENERIC = 0.7390851332151607


@dataclass(frozen=True, eq=False)
class SevenJoints:
    """A chain of seven of which joint `given` (its number from 0) is not solved for but told."""

    chain: Chain
    given: int
    around: Solver  # of the other six, valid at every value where the given joint is the first or the last
    family: str
    depth: int = 3
    position_only: bool = False

    def solve(self, T: Array, value: Array, notes: Notes) -> list[Turn]:
        """Solve the targets (n, 4, 4), motions from zero, each with its own value (n,) of the given joint."""
        notes = Notes(notes.size, _without(notes.free, self.given), notes.singular, notes.double)
        turns = self._around(T, value, notes)
        turns.insert(self.given, (np.cos(value), np.sin(value)))
        return turns

    def _around(self, T: Array, value: Array, notes: Notes) -> list[Turn]:
        """Solve the six: in one go where the given joint is the first or last, else value by value."""
        axes, k = self.chain.axes, self.given
        if k == len(axes) - 1:
            return self.around.solve(Motion.of(T @ turns_about(axes[k], -value)), notes)
        if k == 0:
            return self.around.solve(Motion.of(turns_about(axes[k], -value) @ T), notes)
        values, which = np.unique(value, return_inverse=True)
        found = np.empty((2, 6, 2, 2, 2, len(value)))
        for i, one in enumerate(values):
            at = np.nonzero(which == i)[0]
            local = Notes(notes.size, [free[at] if len(free) > 1 else free for free in notes.free])
            goal = Motion.of(T[at] @ turns_about(axes[k], np.array([-one])))
            for j, (c, s) in enumerate(fixed(axes, k, float(one)).solve(goal, local)):
                found[0, j, ..., at] = np.moveaxis(np.broadcast_to(c, (2, 2, 2, len(at))), -1, 0)
                found[1, j, ..., at] = np.moveaxis(np.broadcast_to(s, (2, 2, 2, len(at))), -1, 0)
            _spread(local, notes, at, len(value))
        return [(found[0, j], found[1, j]) for j in range(6)]


def seven(chain: Chain, joint: str | None) -> SevenJoints:
    """Recognise a chain of seven joints, with the named joint given or the first that serves, or say why none does."""
    if joint is not None and joint not in chain.names:
        raise unknown_name("joint on the way to this frame", joint, chain.names)
    said = []
    for k in _candidates() if joint is None else iter([chain.names.index(joint)]):
        try:
            solver = fixed(chain.axes, k, GENERIC)
        except NoClosedFormError as error:
            said.append(f"with {chain.names[k]!r} given: {error}")
        else:
            return SevenJoints(chain, k, solver, f"7R with {chain.names[k]} given, {solver.family}")
    raise NoClosedFormError(
        "no joint of these seven leaves six with a closed form when it is given; " + "; ".join(said)
    )


def fixed(axes: tuple[Axis, ...], k: int, value: float) -> Solver:
    """Recognise the six joints that are left when joint k stands at a value: those beyond it turn along."""
    turn = turns_about(axes[k], np.array([value]))[0]
    beyond = [Axis.through(turn[:3, :3] @ a.point + turn[:3, 3], turn[:3, :3] @ a.direction) for a in axes[k + 1 :]]
    # With the first joint given all the others turn along, which changes nothing about them.
    return six(axes[1:] if k == 0 else [*axes[:k], *beyond])


def turns_about(axis: Axis, angle: Array) -> Array:
    """Make the motions (n, 4, 4) that turn about a line by angles (n,)."""
    c, s = np.cos(angle), np.sin(angle)
    T = np.zeros((len(angle), 4, 4))
    local = np.zeros((len(angle), 3, 3))
    local[:, 0, 0] = local[:, 1, 1] = c
    local[:, 1, 0], local[:, 0, 1], local[:, 2, 2] = s, -s, 1.0
    T[:, :3, :3] = axis.frame @ local @ axis.frame.T
    T[:, :3, 3] = axis.point - T[:, :3, :3] @ axis.point
    T[:, 3, 3] = 1.0
    return T


def _candidates() -> Iterator[int]:
    """The joints to try in turn: the ends first, because there all targets are solved in one go."""
    return iter((6, 0, 2, 4, 1, 5, 3))


def _without(free: list[Array], k: int) -> list[Array]:
    return [value for i, value in enumerate(free) if i != k]


def _spread(local: Notes, notes: Notes, at: NDArray[np.intp], n: int) -> None:
    """Note for all targets (n) what was noticed at some."""
    for few, many in ((local.singular, notes.singular), (local.double, notes.double)):
        for mask in few:
            whole = np.zeros((*mask.shape[:-1], n), dtype=bool)
            whole[..., at] = mask
            many.append(whole)
