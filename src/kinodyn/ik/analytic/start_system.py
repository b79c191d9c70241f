"""All complex solutions of one complex pose, from which those of any pose follow by continuation.

The pairs of joint positions and poses that belong together form one irreducible set, since the pose is a function of
the joint positions. Moving the pose round a loop of complex poses therefore permutes its solutions transitively
(monodromy): from a single solution loops lead to all others.
T. Duff, C. Hill, A. Jensen, K. Lee, A. Leykin, J. Sommars, "Solving polynomial systems via homotopy continuation and
monodromy", 2019.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Axis
from kinodyn.layouts import layout
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_quaternion, pose, rot_z

ComplexArray: TypeAlias = NDArray[np.complex128]

MAX_SOLUTIONS = 16  # of six revolute joints
QUIET_LOOPS = 8  # loops without a new solution after which all are taken to be found
MAX_LOOPS = 60
SAME = 1e-6  # relative difference of z
COARSE, FINE = 1e-4, 1e-6  # largest correction of a step [rad]
MAX_STEPS = 3000
MAX_CORRECTION = 1e-6  # of the last Newton step of a solution [rad]


@dataclass(frozen=True, eq=False)
class Linkage:
    """The joints of a chain as constant transforms between their frames, in units of the chain's size.

    `first` and `last` are the frames (4, 4) of the first and last joint at zero, with the joint axis as z; `given` is
    the joint that is not solved for.
    """

    links: Array  # (joints, 12)
    first: Array
    last: Array
    size: float
    given: int | None

    @staticmethod
    def from_axes(axes: Sequence[Axis], size: float, given: int | None) -> Linkage:
        """Create the transforms from the axes at joint positions zero."""
        frames = np.stack([_frame(axis) for axis in axes])
        steps = np.linalg.inv(frames[:-1]) @ frames[1:]
        links = np.zeros((len(axes), 12))
        links[0, [0, 4, 8]] = 1.0
        links[1:, :9] = steps[:, :3, :3].reshape(-1, 9)
        links[1:, 9:] = steps[:, :3, 3] / size
        return Linkage(links, frames[0], frames[-1], size, given)

    @property
    def joints(self) -> int:
        """Number of joints."""
        return len(self.links)

    def ends(self, G: Array, value: Array) -> ComplexArray:
        """Convert motions (n, 4, 4) of the frame from zero and values (n,) of the given joint to path ends (n, 8)."""
        T = np.linalg.inv(self.first) @ G @ self.last
        end = np.empty((len(T), 8), dtype=complex)
        end[:, :4] = np.roll(as_quaternion(T[:, :3, :3]), 1, axis=-1)
        end[:, 4:7] = T[:, :3, 3] / self.size
        end[:, 7] = np.exp(1j * value)
        return end

    def end_of(self, q: ComplexArray) -> ComplexArray:
        """Compute the path end (8,) that complex joint positions (joints,) reach."""
        Q, p = np.array([1.0, 0.0, 0.0, 0.0], dtype=complex), np.zeros(3, dtype=complex)
        for link, angle in zip(self.links, q, strict=True):
            p = p + _rotated(Q, link[9:])
            Q = _product(Q, np.roll(as_quaternion(link[:9].reshape(3, 3)), 1).astype(complex))
            Q = _product(Q, np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)]))
        z = 0.0 if self.given is None else np.exp(1j * q[self.given])
        return np.array([*Q, *p, z])

    def least_singular_value(self, seed: int) -> float:
        """Compute the least singular value of the Jacobian at generic joint positions, relative to the largest."""
        q = np.random.default_rng(seed).uniform(-np.pi, np.pi, self.joints)
        T, frames = np.eye(4), []
        for link, angle in zip(self.links, q, strict=True):
            T = T @ pose(link[9:], link[:9].reshape(3, 3))
            frames.append(T)
            T = T @ pose([0.0, 0.0, 0.0], rot_z(angle))
        columns = [np.r_[np.cross(F[:3, 2], T[:3, 3] - F[:3, 3]), F[:3, 2]] for F in frames]
        values = np.linalg.svd(np.delete(columns, [] if self.given is None else self.given, axis=0), compute_uv=False)
        return float(values[-1] / values[0])

    def follow(
        self, robot: Robot, z: ComplexArray, start: ComplexArray, end: ComplexArray, tolerance: float
    ) -> tuple[ComplexArray, NDArray[np.bool_]]:
        """Follow solutions z (..., joints) of `start` to `end` (..., 8); return them there, and which arrived."""
        settings = np.zeros(1, dtype=layout("continuation_settings"))
        settings[0] = (tolerance, self.joints, -1 if self.given is None else self.given, MAX_STEPS)
        found = _core.continuation(robot, self.links.reshape(-1), _pairs(z), _pairs(start), _pairs(end), settings)
        arrived = (found.left <= 0.0) & (found.error < MAX_CORRECTION)
        return found.z.view(np.complex128), arrived


@dataclass(frozen=True, eq=False)
class StartSystem:
    """A generic complex pose `end` (8,) and all its solutions z (n, joints)."""

    end: ComplexArray
    z: ComplexArray


def start_system(robot: Robot, linkage: Linkage, seed: int) -> StartSystem:
    """Find a generic complex pose and all its solutions."""
    rng = np.random.default_rng(seed)
    q = _generic(rng, linkage.joints)
    end, z = linkage.end_of(q), np.exp(1j * q)[None]
    quiet = 0
    for _ in range(MAX_LOOPS):
        corners = [linkage.end_of(_generic(rng, linkage.joints)) for _ in range(2)]
        before = len(z)
        z = distinct(np.concatenate([z, _round(robot, linkage, z, [end, *corners, end])]))
        quiet = 0 if len(z) > before else quiet + 1
        # Solutions come in pairs.
        if len(z) >= MAX_SOLUTIONS or (quiet >= QUIET_LOOPS and len(z) % 2 == 0):
            break
    return StartSystem(end, z[:MAX_SOLUTIONS])


def distinct(z: ComplexArray) -> ComplexArray:
    """Drop rows of z (n, joints) that repeat an earlier one."""
    different: ComplexArray = z[~repeated(z[None], np.ones((1, len(z)), dtype=bool))[0]]
    return different


def repeated(z: ComplexArray, counts: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which solutions (n, branches) repeat an earlier one of the same target, among those that count."""
    gap = np.abs(z[:, :, None] / z[:, None] - 1.0).max(axis=-1)
    same = (gap < SAME) & counts[:, :, None] & counts[:, None]
    again: NDArray[np.bool_] = np.tril(same, -1).any(axis=-1)
    return again


def _round(robot: Robot, linkage: Linkage, z: ComplexArray, corners: list[ComplexArray]) -> ComplexArray:
    """Follow solutions along a loop of poses; those that are lost on the way are left out."""
    for start, end in zip(corners, corners[1:], strict=False):
        z, arrived = linkage.follow(robot, z, start, end, FINE)
        z = z[arrived]
        if not len(z):
            break
    return z


def _generic(rng: np.random.Generator, joints: int) -> ComplexArray:
    return np.asarray(rng.uniform(-np.pi, np.pi, joints) + 1j * rng.uniform(-0.7, 0.7, joints))


def _frame(axis: Axis) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = axis.frame, axis.point
    return T


def _pairs(z: ComplexArray) -> Array:
    return np.ascontiguousarray(z).view(float)


def _product(a: ComplexArray, b: ComplexArray) -> ComplexArray:
    """Multiply two quaternions, w first."""
    u, v = a[1:], b[1:]
    return np.array([a[0] * b[0] - u @ v, *(a[0] * v + b[0] * u + np.cross(u, v))])


def _rotated(Q: ComplexArray, v: Array) -> ComplexArray:
    """Rotate a vector by a quaternion of unit norm."""
    t = 2.0 * np.cross(Q[1:], v)
    return np.asarray(v + Q[0] * t + np.cross(Q[1:], t))
