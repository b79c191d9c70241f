"""Kinetic and potential energy of a tree in symbols: M from the links' Jacobians, V from their heights."""

from __future__ import annotations

from collections.abc import Sequence

from kinodyn.derivation.parameters import BodyConstants, Namer, exact, exact_turn
from kinodyn.derivation.trigonometric import TrigSum, constant, cosine_and_sine, total
from kinodyn.model.compile import PRISMATIC, REVOLUTE, Body

Vector = list[TrigSum]
Matrix = list[list[TrigSum]]


def mass_matrix(bodies: Sequence[Body], constants: Sequence[BodyConstants], namer: Namer) -> Matrix:
    """Derive M (n, n) from the kinetic energy T = sum of m v.v / 2 + v.(w x m c) + w.I w / 2 = qd.M qd / 2.

    v is the velocity of a body's origin and w its angular velocity, both in its own axes, where neither depends on
    the joints before the first one that moves it relative to another.
    """
    n = namer.size
    M = [[namer.zero() for _ in range(n)] for _ in range(n)]
    columns: list[dict[int, tuple[Vector, Vector]]] = []
    for body, own in zip(bodies, constants, strict=True):
        carried = columns[body.parent] if body.parent >= 0 else {}
        columns.append(_columns(body, own, carried, namer))
        momenta = {k: _momentum(own, *twist) for k, twist in columns[-1].items()}
        for j, (v, w) in columns[-1].items():
            for k, (linear, angular) in momenta.items():
                if j <= k:
                    M[j][k] = M[j][k] + dot(v, linear) + dot(w, angular)
    return [[M[min(j, k)][max(j, k)] for k in range(n)] for j in range(n)]


def potential_energy(
    bodies: Sequence[Body], constants: Sequence[BodyConstants], gravity: Vector, namer: Namer
) -> TrigSum:
    """Derive V = -gravity . sum of m c, the first moments moved from the tips down to the world."""
    n = namer.size
    mass = [own.mass for own in constants]
    moment = [own.moment for own in constants]
    world = [namer.zero()] * 3
    for i in range(len(bodies) - 1, -1, -1):
        R, p = _placement(bodies[i], constants[i], namer)
        below = [dot(row, moment[i]) + mass[i] * x for row, x in zip(R, p, strict=True)]
        parent = bodies[i].parent
        if parent < 0:
            world = add(world, below)
        else:
            mass[parent], moment[parent] = mass[parent] + mass[i], add(moment[parent], below)
    return -total((a * b for a, b in zip(gravity, world, strict=True)), n)


def _columns(
    body: Body, own: BodyConstants, carried: dict[int, tuple[Vector, Vector]], namer: Namer
) -> dict[int, tuple[Vector, Vector]]:
    """Find the columns (v, w) of a body's Jacobian, in its own axes, by coordinate, from those of its parent."""
    R, p = _placement(body, own, namer)
    back = [list(column) for column in zip(*R, strict=True)]
    columns = {}
    for j, (v, w) in carried.items():
        moved = add(v, cross(w, p))
        columns[j] = ([dot(row, moved) for row in back], [dot(row, w) for row in back])
    zero = [namer.zero()] * 3
    rate = exact(body.scale)
    if body.kind == PRISMATIC:
        v, w = [constant(rate * exact(x), namer.size) for x in body.axis], zero
    else:
        v, w = zero, [constant(rate if k == _turning_axis(body) else 0, namer.size) for k in range(3)]
    if body.iv in columns:  # a joint that follows another one shares its coordinate
        v, w = add(v, columns[body.iv][0]), add(w, columns[body.iv][1])
    columns[body.iv] = (v, w)
    return columns


def _placement(body: Body, own: BodyConstants, namer: Namer) -> tuple[Matrix, Vector]:
    """Find rotation and origin of a body in its parent, the joint's motion included."""
    n = namer.size
    fixed = [[constant(exact(x), n) for x in row] for row in body.R]
    if body.kind == PRISMATIC:
        slide = constant(exact(body.scale), n, f"q{body.iq + 1}") + constant(exact(body.offset), n)
        return fixed, [x + slide.times(exact(a)) for x, a in zip(own.p, body.axis, strict=True)]
    turn = _rotation(_turning_axis(body), body, n)
    columns = list(zip(*turn, strict=True))
    return [[dot(row, column) for column in columns] for row in fixed], own.p


def _turning_axis(body: Body) -> int:
    """Return the coordinate axis of a revolute joint in the frame of its body."""
    return REVOLUTE.index(body.kind) if body.kind in REVOLUTE else 2


def _rotation(axis: int, body: Body, n: int) -> Matrix:
    """Make the elementary rotation by scale * q + offset about a coordinate axis."""
    cosine, sine = cosine_and_sine(body.iq, exact(body.scale), n)
    c0, s0 = exact_turn(body.offset)
    c, s = cosine.times(c0) - sine.times(s0), sine.times(c0) + cosine.times(s0)
    one, zero = constant(1, n), constant(0, n)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = [[zero] * 3 for _ in range(3)]
    R[axis][axis] = one
    R[j][j], R[j][k], R[k][j], R[k][k] = c, -s, s, c
    return R


def _momentum(own: BodyConstants, v: Vector, w: Vector) -> tuple[Vector, Vector]:
    """Compute linear and angular momentum about a body's origin."""
    linear = add([own.mass * x for x in v], cross(w, own.moment))
    angular = add([dot(row, w) for row in own.inertia], cross(own.moment, v))
    return linear, angular


def dot(a: Sequence[TrigSum], b: Sequence[TrigSum]) -> TrigSum:
    """Multiply two vectors."""
    x, y, z = (p * q for p, q in zip(a, b, strict=True))
    return x + y + z


def cross(a: Vector, b: Vector) -> Vector:
    """Take the vector product."""
    return [a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3] for k in range(3)]


def add(a: Vector, b: Vector) -> Vector:
    """Add two vectors."""
    return [x + y for x, y in zip(a, b, strict=True)]
