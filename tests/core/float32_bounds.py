"""Bounds of the rounding errors in float32: every term of an algorithm is replaced by an upper bound of its magnitude.

The bounds on the page "Conventions" are a number of roundings times these magnitudes. Bodies are those of the core, in
its order; all numbers are arrays over the states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.model.compile import BALL, FREE, PRISMATIC, body_table, compile_tree
from kinodyn.model.robot import Robot

U = 2.0**-24  # relative error of one rounding
ROTATION = 64 * U  # error of a rotation matrix by one joint: sine, cosine or quaternion, two products of matrices
TORQUE = 3 * ROTATION  # by one body, in velocity, acceleration and wrench
MASS = 8 * ROTATION  # by one body, in the column, and twice in its inertia


def length(x: Array) -> Array:
    """Return the norm of vectors `(..., n)`."""
    return np.asarray(np.linalg.norm(x, axis=-1))


@dataclass
class Body:
    """Magnitudes for one body: lengths, rates and wrenches."""

    record: np.void
    depth: int  # joints from the root to it
    own: Array  # distance from the parent's origin
    reach: Array  # length of the path from the world's origin
    inner: Array  # length of the path from the origin of the first body
    force: Array
    moment: Array
    angular: Array | float = 0.0
    linear: Array | float = 0.0
    angular_acceleration: Array | float = 0.0
    linear_acceleration: Array | float = 0.0


class Magnitudes:
    """Magnitudes of all bodies at states q, v, a."""

    def __init__(self, robot: Robot, q: Array, v: Array, a: Array) -> None:
        self.robot = robot
        self.records = body_table(compile_tree(robot.description).bodies)
        self.bodies: list[Body] = []
        for record in self.records:
            self._add(record, np.abs(q), np.abs(v), np.abs(a))
        self.depth = max(body.depth for body in self.bodies)

    def _add(self, record: np.void, q: Array, v: Array, a: Array) -> None:
        parent = self.bodies[record["parent"]] if record["parent"] >= 0 else None
        own = np.full(len(q), length(record["p"]))
        if record["kind"] == PRISMATIC:
            own = own + np.abs(record["scale"]) * q[:, record["iq"]] + np.abs(record["offset"])
        if record["kind"] == FREE:
            own = own + length(q[:, record["iq"] : record["iq"] + 3])
        zero = np.zeros(len(q))
        inner = zero if not self.bodies else own + (parent.inner if parent else self.bodies[0].own)
        depth, reach = (parent.depth + 1, parent.reach + own) if parent else (1, own)
        body = Body(record, depth, own, reach, inner, zero, zero)
        slide, turn = _rates(record, v)
        gain_slide, gain_turn = _rates(record, a)
        before = parent or Body(record, 0, zero, zero, zero, zero, zero, linear_acceleration=length(self.robot.gravity))
        body.angular = before.angular + turn
        body.linear = before.linear + before.angular * own + slide
        body.angular_acceleration = before.angular_acceleration + gain_turn + body.angular * turn
        body.linear_acceleration = (
            before.linear_acceleration
            + before.angular_acceleration * own
            + gain_slide
            + body.angular * slide
            + body.linear * turn
        )
        self.bodies.append(body)

    def torques(self) -> Array:
        """Return the magnitudes of the generalised forces `(n, nv)` of inverse dynamics, without joint terms."""
        for body in self.bodies:
            m, h, J = body.record["mass"], length(body.record["h"]), _largest(body.record["I"])
            A, alpha, V, W = body.linear_acceleration, body.angular_acceleration, body.linear, body.angular
            body.force = m * A + h * alpha + W * (m * V + h * W)
            body.moment = J * alpha + h * A + W * (J * W + h * V) + V * (m * V + h * W)
        tau = np.zeros((len(self.bodies[0].own), self.robot.nv))
        for body in reversed(self.bodies):
            for k, slides in _dofs(body.record):
                tau[:, k] += np.abs(body.record["scale"]) * (body.force if slides else body.moment)
            if body.record["parent"] >= 0:
                parent = self.bodies[body.record["parent"]]
                parent.force = parent.force + body.force
                parent.moment = parent.moment + body.moment + body.own * body.force
        return tau

    def mass_matrix(self) -> Array:
        """Return the magnitudes of the mass matrix `(n, nv, nv)`, computed about the origin of the first body."""
        n = len(self.bodies[0].own)
        sums: dict[int, Any] = {}
        M = np.zeros((n, self.robot.nv, self.robot.nv))
        for i, body in reversed(list(enumerate(self.bodies))):
            m, h, d = body.record["mass"], length(body.record["h"]), body.inner
            own = np.array([m + 0 * d, h + m * d, _largest(body.record["I"]) + 2 * d * h + m * d**2])
            sums[i] = own + sums.get(i, 0.0)
            if body.record["parent"] >= 0:
                sums[body.record["parent"]] = sums.get(body.record["parent"], 0.0) + sums[i]
        for i, body in enumerate(self.bodies):
            mass, first, second = sums[i]
            for k, slides in _dofs(body.record):
                scale = np.abs(body.record["scale"])
                lin, ang = (scale, 0.0) if slides else (scale * body.inner, scale)
                force, moment = mass * lin + first * ang, first * lin + second * ang
                above: Body | None = body
                while above is not None:
                    for j, above_slides in _dofs(above.record):
                        s = np.abs(above.record["scale"])
                        value = s * force if above_slides else s * (above.inner * force + moment)
                        M[:, k, j] += value
                        if above is not body:
                            M[:, j, k] += value
                    above = self.bodies[above.record["parent"]] if above.record["parent"] >= 0 else None
        return M + np.diag(self.robot.armature)


def _largest(inertia: Array) -> float:
    """Return an upper bound of the norm of an inertia given as xx xy yy xz yz zz."""
    return float(np.sqrt(inertia @ (inertia * [1, 2, 1, 2, 2, 1])))


def _dofs(record: np.void) -> list[tuple[int, bool]]:
    """Return the v indices of a body, and whether each is a displacement."""
    iv = int(record["iv"])
    if record["kind"] == FREE:
        return [(iv + k, k < 3) for k in range(6)]
    if record["kind"] == BALL:
        return [(iv + k, False) for k in range(3)]
    return [(iv, bool(record["kind"] == PRISMATIC))]


def _rates(record: np.void, x: Array) -> tuple[Array, Array]:
    """Return the linear and angular magnitude of the motion of a joint at rates x `(n, nv)`."""
    zero = np.zeros(len(x))
    iv = record["iv"]
    if record["kind"] == FREE:
        return length(x[:, iv : iv + 3]), length(x[:, iv + 3 : iv + 6])
    if record["kind"] == BALL:
        return zero, length(x[:, iv : iv + 3])
    rate = np.abs(record["scale"]) * x[:, iv]
    return (rate, zero) if record["kind"] == PRISMATIC else (zero, rate)
