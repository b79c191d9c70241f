"""Independent axes of a point-to-point motion: each vector coordinate, and each ball or floating joint as one.

A ball or floating joint moves along its exponential coordinates by a path parameter from 0 to 1; its velocity is the
rate of that parameter times the step, in all its coordinates. It must be at rest at both ends.
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
    """Boundary states: q (nq,), v and a (nv,) at the start and at the end."""

    q0: Array
    q1: Array
    v0: Array
    v1: Array
    a0: Array
    a1: Array


class Axes:
    """The m axes of a space with their boundary states and limits.

    Attributes
    ----------
    step : (m,) array
        Displacement of each axis.
    v0, v1, a0, a1 : (m,) array
        Rates at the ends.
    velocity, acceleration, jerk : (m,) array
        Limits, infinite where there is none.
    columns : int array
        Velocity coordinates that are independent axes, before those of ball and floating joints.
    moving : (m,) bool array
    """

    def __init__(self, space: Space, ends: Ends, bounds: Bounds) -> None:
        self.space, self.ends = space, ends
        self.step_v = space.difference(ends.q0, ends.q1)
        self.columns = np.flatnonzero(~space.on_manifold)
        self.names = [space.names[i] for i in self.columns] + [space.names[group.start] for group in space.groups]
        self._check_rest()
        self.step = self._with_groups(self.step_v[self.columns], 1.0)
        self.v0, self.v1, self.a0, self.a1 = (
            self._with_groups(rate[self.columns], 0.0) for rate in (ends.v0, ends.v1, ends.a0, ends.a1)
        )
        self.velocity, self.acceleration, self.jerk = (
            np.append(limit[self.columns], [self._group_limit(group, limit) for group in space.groups])
            for limit in (bounds.velocity, bounds.acceleration, bounds.jerk)
        )
        rates = np.abs([self.v0, self.v1, self.a0, self.a1]).max(axis=0, initial=0.0)
        self.moving = (np.abs(self.step) > 0.0) | (rates > 0.0)

    def expand(self, values: Array) -> Array:
        """Expand values (..., m) of the axes to all velocity coordinates (..., nv)."""
        result = np.zeros((*values.shape[:-1], self.space.nv))
        result[..., self.columns] = values[..., : len(self.columns)]
        for i, group in enumerate(self.space.groups):
            result[..., group] = values[..., len(self.columns) + i, None] * self.step_v[group]
        return result

    def _with_groups(self, values: Array, scale: float) -> Array:
        moved = [scale * float(self.step_v[group].any()) for group in self.space.groups]
        return np.append(values, moved)

    def _group_limit(self, group: slice, limit: Array) -> float:
        step = np.abs(self.step_v[group])
        return float((limit[group][step > 0.0] / step[step > 0.0]).min(initial=np.inf))

    def _check_rest(self) -> None:
        for group in self.space.groups:
            rates = (self.ends.v0, self.ends.v1, self.ends.a0, self.ends.a1)
            if any(rate[group].any() for rate in rates):
                raise InputError(
                    f"{self.space.names[group.start]} belongs to a ball or floating joint, which must be at rest at"
                    " both ends here; use `quintic` for other states of it"
                )
