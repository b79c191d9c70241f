"""Constants of a robot for a derivation: exact fractions, or symbols."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np

from kinodyn.arrays import Array
from kinodyn.derivation.trigonometric import TrigSum, constant, total
from kinodyn.model.compile import Body
from kinodyn.model.robot import Robot

Parameters = Literal["numbers", "symbols"]
AXES = "xyz"
# Numbers that are a simple fraction up to rounding are taken as this fraction: cos(pi / 2) is 0, 0.0833... is 1/12.
_DENOMINATOR, _ROUNDING = 100_000, 4e-15


def exact(value: float) -> Fraction:
    """Return the simple fraction that a number is up to rounding, or else its decimals."""
    simple = Fraction(value).limit_denominator(_DENOMINATOR)
    if abs(float(simple) - value) <= _ROUNDING * max(1.0, abs(value)):
        return simple
    return Fraction(repr(float(value)))


def exact_turn(angle: float) -> tuple[Fraction, Fraction]:
    """Return the cosine and sine of an angle, exact for multiples of a quarter turn."""
    return exact(math.cos(angle)), exact(math.sin(angle))


@dataclass
class Namer:
    """Create constants for `size` coordinates: fractions, or symbols whose values are kept here."""

    size: int
    symbols: bool
    values: dict[str, float] = field(default_factory=dict)

    def scalar(self, name: str, value: float) -> TrigSum:
        """Return a number, or the symbol `name` if it is not zero."""
        number = exact(value)
        if not self.symbols or not number:
            return constant(number, self.size)
        self.values[name] = float(number)
        return constant(1, self.size, name)

    def vector(self, name: str, value: Array) -> list[TrigSum]:
        """Return three components; a vector along one axis has no axis letter in its name."""
        several = sum(bool(exact(x)) for x in value) > 1
        return [self.scalar(name + axis if several else name, x) for axis, x in zip(AXES, value, strict=True)]

    def matrix(self, name: str, value: Array) -> list[list[TrigSum]]:
        """Return a symmetric matrix (3, 3)."""
        upper = {(i, j): self.scalar(f"{name}{AXES[i]}{AXES[j]}", value[i, j]) for i in range(3) for j in range(i, 3)}
        return [[upper[min(i, j), max(i, j)] for j in range(3)] for i in range(3)]

    def zero(self) -> TrigSum:
        """Return zero."""
        return constant(0, self.size)


@dataclass(frozen=True)
class BodyConstants:
    """Constants of one body: position of its joint in the parent; mass, first and second moment about its origin."""

    p: list[TrigSum]
    mass: TrigSum
    moment: list[TrigSum]
    inertia: list[list[TrigSum]]


def body_constants(bodies: Sequence[Body], namer: Namer) -> list[BodyConstants]:
    """Collect the constants of all bodies; body i has the symbols m<i>, c<i>, I<i>xx, and the next joint is at l<i>.

    c is the CoM from the joint, I the inertia about the CoM, l the position of the next joint; l0 belongs to the base.
    The massless bodies of a planar joint are not counted.
    """
    numbers = np.cumsum([not body.virtual for body in bodies])
    return [_one_body(bodies, i, numbers, namer) for i in range(len(bodies))]


def _one_body(bodies: Sequence[Body], i: int, numbers: np.ndarray, namer: Namer) -> BodyConstants:
    body, number = bodies[i], numbers[i]
    siblings = sum(other.parent == body.parent for other in bodies)
    start = 0 if body.parent < 0 else numbers[body.parent]
    p = namer.vector(f"l{start}" if siblings == 1 else f"l{start}_{number}", body.p)
    if not namer.symbols or not body.mass:
        moment = [namer.scalar("", x) for x in body.moment]
        return BodyConstants(p, namer.scalar("", body.mass), moment, namer.matrix(f"I{number}", body.inertia))
    com = body.moment / body.mass
    about_com = body.inertia - body.mass * (com @ com * np.eye(3) - np.outer(com, com))
    about_com[np.abs(about_com) <= 1e-14 * np.abs(body.inertia).max()] = 0.0  # rounding of the subtraction
    mass, c = namer.scalar(f"m{number}", body.mass), namer.vector(f"c{number}", com)
    inertia = namer.matrix(f"I{number}", about_com)
    square = total((x * x for x in c), namer.size)
    for j in range(3):
        for k in range(3):
            about = (square if j == k else namer.zero()) - c[j] * c[k]
            inertia[j][k] = inertia[j][k] + mass * about
    return BodyConstants(p, mass, [mass * x for x in c], inertia)


def gravity_vector(robot: Robot, namer: Namer) -> list[TrigSum]:
    """Return gravity; as symbols g, its magnitude, if it is along an axis, else gx, gy and gz."""
    value = np.asarray(robot.gravity)
    if namer.symbols and np.count_nonzero(value) == 1:
        size = namer.scalar("g", float(np.abs(value).max()))
        return [size.times(int(np.sign(x))) for x in value]
    return namer.vector("g", value)
