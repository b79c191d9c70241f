"""The two legs of a parallel ankle, from the shank to a point b of the foot: cranks with rods, or pistons.

A leg starts at c, which its motor m may move, and d = b - c is the vector along it. The constraint of its length is
d . b' = alpha m' in rates.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from kinodyn.arrays import Array, Mask
from kinodyn.errors import InputError

MIN_LENGTH = 1e-9  # of a crank, rod or piston [m]


class Legs(Protocol):
    """The interface of the legs of an ankle; b, d, e, d_dot are (..., 2, 3), motors and their quantities (..., 2)."""

    zero: Array  # (2,) motor positions at joint angles 0
    rods: Array  # (2,) lengths of the legs at joint angles 0 [m]
    scale: Array  # (2,) size of alpha far from singularities

    def solve(self, b: Array, sign: Array) -> tuple[Array, Mask]:
        """Find the motor positions at which alpha has this sign, and whether (...) they exist."""
        ...

    def closure_error(self, motors: Array, b: Array) -> Array:
        """Compute the errors (..., 2) of the legs' lengths [m]."""
        ...

    def leg_vectors(self, motors: Array, b: Array) -> tuple[Array, Array]:
        """Compute d, and e = dc/dm."""
        ...

    def alpha(self, motors: Array, d: Array, e: Array) -> Array:
        """Compute alpha (..., 2)."""
        ...

    def alpha_dot(self, motors: Array, rate: Array, d: Array, d_dot: Array, e: Array) -> Array:
        """Compute the time derivative of alpha (..., 2)."""
        ...

    def max_alpha(self, motors: Array) -> Array:
        """Compute the largest possible alpha (..., 2)."""
        ...


class Cranks:
    """Rods of constant length between cranks on the shank and the foot; alpha = d . e."""

    def __init__(self, motors: Array, axes: Array, ends: Array, feet: Array) -> None:
        lengths = np.linalg.norm(axes, axis=-1, keepdims=True)
        if not (lengths > MIN_LENGTH).all():
            raise InputError(f"motor_axes must be two nonzero directions (3,), got {axes.tolist()}")
        self.axes: Array = axes / lengths
        crank = ends - motors
        along = (crank * self.axes).sum(axis=-1, keepdims=True) * self.axes
        self.centres: Array = motors + along  # of the circles of the crank ends
        self.cosine: Array = crank - along
        self.sine: Array = np.cross(self.axes, self.cosine)
        self.radii: Array = np.linalg.norm(self.cosine, axis=-1)
        self.rods: Array = np.linalg.norm(feet - ends, axis=-1)
        if not (self.radii > MIN_LENGTH).all() or not (self.rods > MIN_LENGTH).all():
            raise InputError("a crank or a rod has no length: its two ends coincide")
        self.zero: Array = np.zeros(2)
        self.scale: Array = self.radii * self.rods

    def solve(self, b: Array, sign: Array) -> tuple[Array, Mask]:
        """Solve |b - c|^2 = rod^2, which is A cos m + B sin m = C: two angles, one for each sign of alpha."""
        reach = b - self.centres
        A, B = (reach * self.cosine).sum(axis=-1), (reach * self.sine).sum(axis=-1)
        C = 0.5 * (self.radii**2 + (reach * reach).sum(axis=-1) - self.rods**2)
        amplitude = np.hypot(A, B)
        cosine_of_offset = C / np.maximum(amplitude, MIN_LENGTH**2)
        reached = (np.abs(cosine_of_offset) <= 1.0) & (amplitude > MIN_LENGTH**2)
        # alpha = B cos m - A sin m = amplitude sin(atan2(B, A) - m), which is above 0 before that angle
        angle = np.arctan2(B, A) - sign * np.arccos(np.clip(cosine_of_offset, -1.0, 1.0))
        return np.arctan2(np.sin(angle), np.cos(angle)), np.asarray(reached.all(axis=-1))

    def closure_error(self, motors: Array, b: Array) -> Array:
        """Compute the errors of the rods' lengths."""
        result: Array = np.linalg.norm(self.leg_vectors(motors, b)[0], axis=-1) - self.rods
        return result

    def leg_vectors(self, motors: Array, b: Array) -> tuple[Array, Array]:
        """Compute the vectors from crank end to foot, and the derivative of the crank end."""
        cosine, sine = np.cos(motors)[..., None], np.sin(motors)[..., None]
        return b - self.centres - cosine * self.cosine - sine * self.sine, cosine * self.sine - sine * self.cosine

    def alpha(self, motors: Array, d: Array, e: Array) -> Array:
        """Compute the moment arm of the rod on the crank, times the rod's length."""
        result: Array = (d * e).sum(axis=-1)
        return result

    def alpha_dot(self, motors: Array, rate: Array, d: Array, d_dot: Array, e: Array) -> Array:
        """Apply the product rule; e rotates with the crank."""
        e_dot = rate[..., None] * np.cross(self.axes, e)
        result: Array = (d_dot * e).sum(axis=-1) + (d * e_dot).sum(axis=-1)
        return result

    def max_alpha(self, motors: Array) -> Array:
        """Return the value with the rod perpendicular to the crank."""
        return self.scale


class Pistons:
    """Legs whose lengths are the motor positions; alpha is the length."""

    def __init__(self, shank: Array, feet: Array) -> None:
        self.shank = shank
        self.rods: Array = np.linalg.norm(feet - shank, axis=-1)
        if not (self.rods > MIN_LENGTH).all():
            raise InputError("a piston has no length at joint angles 0: its two ends coincide")
        self.zero = self.scale = self.rods

    def solve(self, b: Array, sign: Array) -> tuple[Array, Mask]:
        """Return the lengths, which are never out of reach."""
        lengths = np.linalg.norm(b - self.shank, axis=-1)
        return lengths, np.ones(b.shape[:-2], dtype=bool)

    def closure_error(self, motors: Array, b: Array) -> Array:
        """Compute the errors of the lengths."""
        result: Array = np.linalg.norm(b - self.shank, axis=-1) - motors
        return result

    def leg_vectors(self, motors: Array, b: Array) -> tuple[Array, Array]:
        """Compute the vectors from shank to foot; the end on the shank does not move."""
        return b - self.shank, np.zeros(b.shape)

    def alpha(self, motors: Array, d: Array, e: Array) -> Array:
        """Return the lengths."""
        return motors

    def alpha_dot(self, motors: Array, rate: Array, d: Array, d_dot: Array, e: Array) -> Array:
        """Return the rates of the lengths."""
        return rate

    def max_alpha(self, motors: Array) -> Array:
        """Return the lengths: a piston has no dead centre."""
        return motors
