"""Accelerations under constraints, the forces that keep them, and impacts.

The core does the work (`cpp/kernels/contact.cpp`): J M^-1 J^T f = wanted - J a_free, with the shortest f where
constraints say the same thing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import _core
from kinodyn import dynamics as plain
from kinodyn.contact.constraints import Constraint, checked
from kinodyn.description.types import Array
from kinodyn.errors import InputError
from kinodyn.robot import Robot


class Forces(dict[str, Array]):
    """Forces by the name of the contact, on the robot.

    A point: (..., 3); a surface: (..., 6), force and moment about its point; corners: (..., n, 3); all in world axes.
    A loop: (..., k), one number for each kept direction, on its `frame`, in the axes of the place in `other`.

    Attributes
    ----------
    rank : (...) int
        How many of the `rows` constraints say something of their own; below `rows` the forces are not unique, and the
        shortest are given. The accelerations are unique always.
    rows : int
    vector : (..., rows)
        All forces in one array, in the order of `contact.jacobian`.
    """

    def __init__(self, contacts: Sequence[Constraint], vector: Array, rank: Array) -> None:
        super().__init__()
        self.vector = vector
        self.rows = vector.shape[-1]
        self.rank: NDArray[np.int_] = np.asarray(rank).astype(int)
        start = 0
        for contact in contacts:
            shape = contact.shape()
            size = int(np.prod(shape))
            self[contact.name] = vector[..., start : start + size].reshape(*vector.shape[:-1], *shape)
            start += size


def dynamics(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    contacts: Sequence[Constraint],
    wrenches: dict[str, ArrayLike] | None = None,
    *,
    stabilise: float | tuple[float, float] = 0.0,
) -> tuple[Array, Forces]:
    """Compute accelerations (..., nv) under which contacts and loops hold, and the forces that see to it.

    Forces are those of an ideal joint: they may pull. `stabilise` brings places that have drifted back to where they
    belong, critically damped at that rate [1/s] (J. Baumgarte 1972), or by (stiffness, damping) [1/s^2, 1/s];
    0 leaves them.

    R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, section 8.6.

    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> q, still = robot.configuration("standing"), np.zeros(robot.nv)
    >>> feet = [kd.contact.Contact("left_sole"), kd.contact.Contact("right_sole")]
    >>> a, forces = kd.contact.dynamics(robot, q, still, kd.dynamics.gravity(robot, q), feet)
    >>> int(forces.rank), forces["left_sole"].shape
    (12, (6,))
    """
    given = checked(contacts)
    integers, numbers, rows = plan(robot, given, *_gains(stabilise))
    a, f, rank = _core.constrained(robot, q, v, tau, numbers, integers, rows, wrenches)
    return a, Forces(given, f, rank)


def impact(
    robot: Robot, q: ArrayLike, v: ArrayLike, contacts: Sequence[Constraint], *, restitution: ArrayLike = 0.0
) -> tuple[Array, Forces]:
    """Compute the velocities (..., nv) after places hit the world, and the impulses [N s] that they take.

    All kept directions stop, or with `restitution` (...), from 0 to 1, turn back at that share of their velocity.
    Energy is never created: it falls by (1 - restitution^2) times that of the velocities that are stopped.

    Featherstone 2008, section 11.7.
    """
    given = checked(contacts)
    share = np.asarray(restitution, dtype=float)
    if not ((share >= 0) & (share <= 1)).all():
        raise InputError(f"restitution must be from 0 to 1, got {restitution!r}")
    integers, numbers, rows = plan(robot, given)
    after, f, rank = _core.impact(robot, q, v, share[..., None], numbers, integers, rows)
    return after, Forces(given, f, rank)


def jacobian(robot: Robot, q: ArrayLike, contacts: Sequence[Constraint]) -> Array:
    """Compute how joint velocities move what must not move (..., rows, nv).

    Forces f act on the joints as J^T f.
    """
    given = checked(contacts)
    integers, numbers, rows = plan(robot, given)
    still = np.zeros(robot.nv)
    return _core.constraint_rows(robot, q, still, numbers, integers, rows)[0]


class Projected(NamedTuple):
    """The motion that constraints leave: M y' + h = S tau, with v = N y."""

    M: Array
    h: Array
    S: Array
    N: Array


def projected(robot: Robot, q: ArrayLike, v: ArrayLike, contacts: Sequence[Constraint]) -> Projected:
    """Project the dynamics on the directions (..., nv, k) in which constraints leave the robot free.

    M-bar = N^T M N, h-bar = N^T (h + M c) and S-bar = N^T, with N an orthonormal basis of what J leaves, and c the
    acceleration that keeps the constraints at y' = 0: contact forces are gone from these equations
    (F. Aghili 2005). One rank for the whole batch.
    """
    given = checked(contacts)
    integers, numbers, rows = plan(robot, given)
    J, drift = _core.constraint_rows(robot, q, v, numbers, integers, rows)
    U, values, Vt = np.linalg.svd(J)
    size = values.shape[-1]
    ranks = (values > 1e-9 * values[..., :1]).sum(axis=-1)
    rank = int(ranks.max(initial=0))
    if (ranks != rank).any():
        raise InputError(f"the contacts have ranks from {int(ranks.min())} to {rank} in this batch; project them apart")
    N = np.swapaxes(Vt[..., rank:, :], -1, -2)
    inverse = np.where(np.arange(size) < rank, 1.0 / np.where(values > 0, values, 1.0), 0.0)
    c = np.swapaxes(Vt[..., :size, :], -1, -2) @ (
        inverse[..., None] * (np.swapaxes(U[..., :size], -1, -2) @ drift[..., None])
    )
    M = plain.mass_matrix(robot, q)
    Nt = np.swapaxes(N, -1, -2)
    h = Nt @ (plain.bias(robot, q, v)[..., None] + M @ c)
    return Projected(Nt @ M @ N, h[..., 0], Nt, N)


def _gains(stabilise: float | tuple[float, float]) -> tuple[float, float]:
    pair = stabilise if isinstance(stabilise, tuple) else None
    values = np.asarray(pair if pair else (stabilise, stabilise), dtype=float)
    if values.shape != (2,) or not (np.isfinite(values) & (values >= 0)).all():
        raise InputError(f"stabilise must be a rate from 0 on, or (stiffness, damping), got {stabilise!r}")
    if pair:
        return float(values[0]), float(values[1])
    return float(values[0] ** 2), float(2.0 * values[0])


def plan(
    robot: Robot, contacts: Sequence[Constraint], stiffness: float = 0.0, damping: float = 0.0
) -> tuple[bytes, list[Array], int]:
    """Lay the constraints out as the core takes them."""
    integers: list[int] = []
    numbers: list[Array] = []
    rows = 0
    for contact in contacts:
        holds = getattr(contact, "target", True) is not None  # a contact without a target has no place to go back to
        for frame, other, mask, place in contact.constraints(robot):
            gains = np.broadcast_to([stiffness if holds else 0.0, damping], (*place.shape[:-1], 2))
            integers += [frame, other, mask]
            numbers.append(np.concatenate([place, gains], axis=-1))
            rows += bin(mask).count("1")
    return np.array(integers, dtype=np.int32).tobytes(), numbers, rows
