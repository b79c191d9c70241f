"""Loops of a mechanism: a tree, and pairs of frames whose origins stay together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics, kinematics
from kinodyn.arrays import Array
from kinodyn.errors import unknown_name
from kinodyn.model.robot import Robot


@dataclass(frozen=True, eq=False)
class Pins:
    """Pairs of frames whose origins stay together: the constraint that closes loops, for `virtual_work`.

    Three rows for each pair, in world axes; a mechanism in a plane leaves some of them empty, which does no harm.
    """

    robot: Robot
    pairs: Sequence[tuple[str, str]]

    def __post_init__(self) -> None:
        for frame in (frame for pair in self.pairs for frame in pair):
            if frame not in self.robot.frame_names:
                raise unknown_name("frame", frame, self.robot.frame_names)

    def gap(self, q: ArrayLike) -> Array:
        """Compute how far the second frame of each pair is from the first: (..., 3 pairs) [m]."""
        places = [
            kinematics.pose(self.robot, q, b)[..., :3, 3] - kinematics.pose(self.robot, q, a)[..., :3, 3]
            for a, b in self.pairs
        ]
        return np.concatenate([self._nothing(q), *places], axis=-1)

    def jacobian(self, q: ArrayLike) -> Array:
        """Compute the Jacobian of the gap: (..., 3 pairs, nv)."""
        rows = [
            (kinematics.jacobian(self.robot, q, b) - kinematics.jacobian(self.robot, q, a))[..., :3, :]
            for a, b in self.pairs
        ]
        none = np.zeros((*self._nothing(q).shape, self.robot.nv))
        return np.concatenate([none, *rows], axis=-2)

    def __call__(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """Compute J and Jdot v, the relative acceleration of the frames at a = 0."""
        still = np.zeros(self.robot.nv)
        batch = np.broadcast_shapes(np.shape(q)[:-1], np.shape(v)[:-1])
        bias = [
            (kinematics.acceleration(self.robot, q, v, still, b) - kinematics.acceleration(self.robot, q, v, still, a))[
                ..., :3
            ]
            for a, b in self.pairs
        ]
        return self.jacobian(q), np.concatenate([np.zeros((*batch, 0)), *bias], axis=-1)

    def close(
        self, q: ArrayLike, *, independent: Sequence[int], tolerance: float = 1e-12, iterations: int = 50
    ) -> tuple[Array, np.ndarray]:
        """Move the dependent coordinates until the pairs meet: q (..., nq), and whether they do (...).

        Newton's method from q, until no gap is above `tolerance` [m]; the coordinates at the places `independent` of
        v stay.
        """
        rest = [j for j in range(self.robot.nv) if j not in set(independent)]
        dynamics.gravity(self.robot, q)  # the door of the core checks q
        q = np.array(q, dtype=float)
        for _ in range(iterations):
            gap = self.gap(q)
            if (np.abs(gap) <= tolerance).all():
                break
            step = np.zeros((*q.shape[:-1], self.robot.nv))
            inverse = np.linalg.pinv(self.jacobian(q)[..., rest], rcond=1e-9)
            step[..., rest] = -np.einsum("...ij,...j->...i", inverse, gap)
            q = self.robot.integrate(q, step)
        return q, np.asarray((np.abs(self.gap(q)) <= tolerance).all(axis=-1))

    def _nothing(self, q: ArrayLike) -> Array:
        return np.zeros((*np.shape(q)[:-1], 0))
