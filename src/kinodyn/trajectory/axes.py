"""What moves by itself between two states: each coordinate that is a vector, and each ball or floating joint as one.

A ball or floating joint goes straight, along its exponential coordinates, by a share from 0 to 1; its velocity is then
the rate of the share times the step, in all six directions. It must be at rest at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.trajectory.bounds import Bounds
from kinodyn.trajectory.space import Space


@dataclass(frozen=True, eq=False)
class Ends:
    """Two states: q (nq,), v and a (nv,) at the start and at the end."""

    q0: Array
    q1: Array
    v0: Array
    v1: Array
    a0: Array
    a1: Array


class Axes:
    """The m axes of a space, and their states and limits between two ends.

    `step` (m,) is how far each goes; `v0`, `v1`, `a0`, `a1` (m,) are its rates; `velocity`, `acceleration`, `jerk` (m,)
    its limits, infinite ones for none.
    """

    def __init__(self, space: Space, ends: Ends, bounds: Bounds) -> None:
        self.space, self.ends = space, ends
        self.step_v = space.difference(ends.q0, ends.q1)
        self.flat = np.flatnonzero(~space.curved)
        self.names = [space.names[i] for i in self.flat] + [space.names[group.start] for group in space.groups]
        self._rest_where_curved()
        self.step = self._with_groups(self.step_v[self.flat], 1.0)
        self.v0, self.v1, self.a0, self.a1 = (
            self._with_groups(rate[self.flat], 0.0) for rate in (ends.v0, ends.v1, ends.a0, ends.a1)
        )
        self.velocity, self.acceleration, self.jerk = (
            np.append(limit[self.flat], [self._share_limit(group, limit) for group in space.groups])
            for limit in (bounds.velocity, bounds.acceleration, bounds.jerk)
        )
        rates = np.abs([self.v0, self.v1, self.a0, self.a1]).max(axis=0, initial=0.0)
        self.moving = (np.abs(self.step) > 0.0) | (rates > 0.0)

    def expand(self, values: Array) -> Array:
        """Take values (..., m) of the axes to those of all coordinates (..., nv)."""
        result = np.zeros((*values.shape[:-1], self.space.nv))
        result[..., self.flat] = values[..., : len(self.flat)]
        for i, group in enumerate(self.space.groups):
            result[..., group] = values[..., len(self.flat) + i, None] * self.step_v[group]
        return result

    def _with_groups(self, values: Array, share: float) -> Array:
        moved = [share * float(self.step_v[group].any()) for group in self.space.groups]
        return np.append(values, moved)

    def _share_limit(self, group: slice, limit: Array) -> float:
        step = np.abs(self.step_v[group])
        return float((limit[group][step > 0.0] / step[step > 0.0]).min(initial=np.inf))

    def _rest_where_curved(self) -> None:
        for group in self.space.groups:
            rates = (self.ends.v0, self.ends.v1, self.ends.a0, self.ends.a1)
            if any(rate[group].any() for rate in rates):
                raise InputError(
                    f"{self.space.names[group.start]} belongs to a ball or floating joint, which must be at rest at"
                    " both ends here; use `quintic` for other states of it"
                )
