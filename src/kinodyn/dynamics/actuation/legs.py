"""The two legs of a parallel ankle, from the shank to a point b of the foot: cranks with rods, or pistons.

A leg starts at c, which its motor m may move, and d = b - c is the vector along it. What it says is
d . b' = alpha m'.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError

SHORTEST = 1e-9  # [m]
Mask: TypeAlias = NDArray[np.bool_]


class Legs(Protocol):
    """What an ankle asks of its legs; b, d, e, d_dot are (..., 2, 3), motors and what is told of them (..., 2)."""

    zero: Array  # (2,) motor positions at joint angles 0
    rods: Array  # (2,) lengths of the legs at joint angles 0 [m]
    scale: Array  # (2,) size of alpha far from singularities

    def solve(self, b: Array, hand: Array) -> tuple[Array, Mask]:
        """Find the motor positions with alpha of this sign, and whether (...) there are any."""
        ...

    def gap(self, motors: Array, b: Array) -> Array:
        """Compute the errors (..., 2) of the legs' lengths [m]."""
        ...

    def along(self, motors: Array, b: Array) -> tuple[Array, Array]:
        """Compute d, and e = dc/dm."""
        ...

    def alpha(self, motors: Array, d: Array, e: Array) -> Array:
        """Compute alpha (..., 2)."""
        ...

    def alpha_dot(self, motors: Array, rate: Array, d: Array, d_dot: Array, e: Array) -> Array:
        """Compute the rate of alpha (..., 2)."""
        ...

    def levers(self, motors: Array) -> Array:
        """Compute the largest that alpha (..., 2) could be."""
        ...


class Cranks:
    """Rods of constant length between cranks on the shank and the foot; alpha = d . e."""

    def __init__(self, motors: Array, axes: Array, ends: Array, feet: Array) -> None:
        lengths = np.linalg.norm(axes, axis=-1, keepdims=True)
        if not (lengths > SHORTEST).all():
            raise InputError(f"motor_axes is {axes.tolist()}; give two directions (3,) that are not zero")
        self.axes: Array = axes / lengths
        crank = ends - motors
        along = (crank * self.axes).sum(axis=-1, keepdims=True) * self.axes
        self.centres: Array = motors + along  # of the circles on which the crank ends run
        self.cosine: Array = crank - along
        self.sine: Array = np.cross(self.axes, self.cosine)
        self.radii: Array = np.linalg.norm(self.cosine, axis=-1)
        self.rods: Array = np.linalg.norm(feet - ends, axis=-1)
        if not (self.radii > SHORTEST).all() or not (self.rods > SHORTEST).all():
            raise InputError("a crank or a rod has no length: its two ends coincide")
        self.zero: Array = np.zeros(2)
        self.scale: Array = self.radii * self.rods

    def solve(self, b: Array, hand: Array) -> tuple[Array, Mask]:
        """|b - c|^2 = rod^2 is A cos m + B sin m = C: two angles, one for each sign of alpha."""
        way = b - self.centres
        A, B = (way * self.cosine).sum(axis=-1), (way * self.sine).sum(axis=-1)
        C = 0.5 * (self.radii**2 + (way * way).sum(axis=-1) - self.rods**2)
        most = np.hypot(A, B)
        share = C / np.maximum(most, SHORTEST**2)
        reached = (np.abs(share) <= 1.0) & (most > SHORTEST**2)
        # alpha = B cos m - A sin m = most sin(atan2(B, A) - m), which is above 0 before that angle
        angle = np.arctan2(B, A) - hand * np.arccos(np.clip(share, -1.0, 1.0))
        return np.arctan2(np.sin(angle), np.cos(angle)), np.asarray(reached.all(axis=-1))

    def gap(self, motors: Array, b: Array) -> Array:
        """Errors of the rods' lengths."""
        result: Array = np.linalg.norm(self.along(motors, b)[0], axis=-1) - self.rods
        return result

    def along(self, motors: Array, b: Array) -> tuple[Array, Array]:
        """From the crank's end to the foot, and how the crank's end moves."""
        cosine, sine = np.cos(motors)[..., None], np.sin(motors)[..., None]
        return b - self.centres - cosine * self.cosine - sine * self.sine, cosine * self.sine - sine * self.cosine

    def alpha(self, motors: Array, d: Array, e: Array) -> Array:
        """Lever of the rod on the crank, times the rod's length."""
        result: Array = (d * e).sum(axis=-1)
        return result

    def alpha_dot(self, motors: Array, rate: Array, d: Array, d_dot: Array, e: Array) -> Array:
        """By the product rule; e turns with the crank."""
        e_dot = rate[..., None] * np.cross(self.axes, e)
        result: Array = (d_dot * e).sum(axis=-1) + (d * e_dot).sum(axis=-1)
        return result

    def levers(self, motors: Array) -> Array:
        """Rod across the crank."""
        return self.scale


class Pistons:
    """Legs whose lengths are the motors' positions; alpha is the length."""

    def __init__(self, shank: Array, feet: Array) -> None:
        self.shank = shank
        self.rods: Array = np.linalg.norm(feet - shank, axis=-1)
        if not (self.rods > SHORTEST).all():
            raise InputError("a piston has no length at joint angles 0: its two ends coincide")
        self.zero = self.scale = self.rods

    def solve(self, b: Array, hand: Array) -> tuple[Array, Mask]:
        """Lengths are never out of reach."""
        lengths = np.linalg.norm(b - self.shank, axis=-1)
        return lengths, np.ones(b.shape[:-2], dtype=bool)

    def gap(self, motors: Array, b: Array) -> Array:
        """Errors of the lengths."""
        result: Array = np.linalg.norm(b - self.shank, axis=-1) - motors
        return result

    def along(self, motors: Array, b: Array) -> tuple[Array, Array]:
        """From the shank to the foot; the shank's end does not move."""
        return b - self.shank, np.zeros(b.shape)

    def alpha(self, motors: Array, d: Array, e: Array) -> Array:
        """The length."""
        return motors

    def alpha_dot(self, motors: Array, rate: Array, d: Array, d_dot: Array, e: Array) -> Array:
        """Its rate."""
        return rate

    def levers(self, motors: Array) -> Array:
        """A piston always follows."""
        return motors
