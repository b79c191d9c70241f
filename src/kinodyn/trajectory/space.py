"""Configuration spaces of trajectories: those of a robot, or plain vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.chain import configuration
from kinodyn.model.robot import Robot
from kinodyn.spatial import right_jacobian_inverse
from kinodyn.trajectory import tangent


class Space:
    """Integration, differences and rates of a robot's configurations, or of vectors of `size` numbers.

    Attributes
    ----------
    groups : tuple of slice
        Velocity coordinates of each ball and floating joint, whose configuration is not a vector.
    is_vector : bool
        Whether there are no such joints.
    on_manifold : (nv,) bool array
        Which velocity coordinates belong to such joints.
    q_index : (nv,) int array
        Index in q of each velocity coordinate; -1 where `on_manifold`.
    names : tuple of str
        Names of the velocity coordinates.
    """

    def __init__(self, robot: Robot | None, size: int = 0) -> None:
        if robot is not None and not isinstance(robot, Robot):
            raise InputError(f"robot must be a kinodyn.Robot or None, got {type(robot).__name__}")
        self.robot = robot
        self.nq, self.nv = (size, size) if robot is None else (robot.nq, robot.nv)
        joints = () if robot is None else tuple(joint for joint in robot.joints if joint.mimic is None)
        manifold = [joint for joint in joints if joint.kind in ("ball", "floating")]
        self.groups: tuple[slice, ...] = tuple(joint.v for joint in manifold)
        self.is_vector = not manifold
        self.on_manifold = np.zeros(self.nv, dtype=bool)
        self.q_index = np.arange(self.nv)
        self.names = tuple(f"x{i}" for i in range(self.nv))
        if robot is not None:
            self._read(robot)

    def _read(self, robot: Robot) -> None:
        names = [""] * self.nv
        for joint in robot.joints:
            if joint.mimic is None:
                count = joint.v.stop - joint.v.start
                names[joint.v] = [joint.name] if count == 1 else [f"{joint.name}[{i}]" for i in range(count)]
                self.on_manifold[joint.v] = joint.kind in ("ball", "floating")
                indices = np.arange(joint.q.start, joint.q.start + count)
                self.q_index[joint.v] = -1 if self.on_manifold[joint.v].any() else indices
        self.names = tuple(names)

    def configurations(self, what: str, q: ArrayLike, ndim: int = 1) -> Array:
        """Return one configuration (nq,), or with ndim=2 several (n, nq), checked."""
        array = numbers(what, q)
        allowed = f"({self.nq},)" if ndim == 1 else f"(n, {self.nq})"
        if array.ndim != ndim or array.shape[-1] != self.nq:
            raise InputError(f"{what} must have shape {allowed}, got {array.shape}")
        return array if self.robot is None else configuration(self.robot, array)

    def tangents(self, what: str, v: ArrayLike | None, *batch: int) -> Array:
        """Return velocities or accelerations (*batch, nv), checked; None stands for zeros."""
        if v is None:
            return np.zeros((*batch, self.nv))
        array = numbers(what, v)
        if array.shape != (*batch, self.nv):
            raise InputError(f"{what} must have shape {(*batch, self.nv)}, got {array.shape}")
        return array

    def integrate(self, q: Array, x: Array) -> Array:
        """Integrate from q (..., nq) along x (..., nv)."""
        if self.is_vector:
            return np.asarray(q + x)
        assert self.robot is not None
        return self.robot.integrate(q, x)

    def difference(self, q0: Array, q1: Array) -> Array:
        """Find the shortest x (..., nv) from q0 to q1."""
        if self.is_vector:
            return np.asarray(q1 - q0)
        assert self.robot is not None
        return self.robot.difference(q0, q1)

    def velocity(self, x: Array, dx: Array) -> Array:
        """Compute the velocity (..., nv) of integrate(q, x(t)) from the rate dx of x."""
        if self.is_vector:
            return dx
        result = np.array(dx)
        for group in self.groups:
            result[..., group] = tangent.velocity(x[..., group], dx[..., group])
        return result

    def acceleration(self, x: Array, dx: Array, ddx: Array) -> Array:
        """Compute the acceleration (..., nv), the time derivative of `velocity`."""
        if self.is_vector:
            return ddx
        result = np.array(ddx)
        for group in self.groups:
            result[..., group] = tangent.acceleration(x[..., group], dx[..., group], ddx[..., group])
        return result

    def rates(self, x: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Compute dx and ddx (..., nv) from velocity v and acceleration a at x: the inverse of the two above."""
        dx, ddx = np.array(v), np.array(a)
        for group in self.groups:
            inverse = right_jacobian_inverse(x[..., group])
            dx[..., group] = (inverse @ v[..., group, None])[..., 0]
            remainder = a[..., group] - tangent.acceleration(x[..., group], dx[..., group], 0.0 * dx[..., group])
            ddx[..., group] = (inverse @ remainder[..., None])[..., 0]
        return dx, ddx


def space_of(robot: Robot | None, what: str, q: ArrayLike) -> Space:
    """Return the space of a robot, or without one that of vectors as long as the last axis of q."""
    if robot is not None:
        return Space(robot)
    array = numbers(what, q)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InputError(f"{what} must be a vector (n,) with at least one number, got shape {array.shape}")
    return Space(None, array.shape[-1])


def increasing(what: str, times: ArrayLike, count: int) -> Array:
    """Return `count` times that start at 0 and increase [s], or raise."""
    array = numbers(what, times)
    if array.shape != (count,):
        raise InputError(f"{what} must be one time for each of the {count} waypoints, got shape {array.shape}")
    if array[0] != 0.0 or not (np.diff(array) > 0.0).all():
        raise InputError(f"{what} must be times that start at 0 and increase, got {array}")
    return array
