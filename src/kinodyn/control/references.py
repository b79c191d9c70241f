"""References of controllers: a constant, or any trajectory `traj(t, order)`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, numbers, shape_of
from kinodyn.errors import InputError
from kinodyn.model.chain import configuration
from kinodyn.model.robot import Robot
from kinodyn.spatial.lie import log_rotation

Trajectory: TypeAlias = Callable[..., Any]
JointTarget: TypeAlias = ArrayLike | Trajectory
FrameTarget: TypeAlias = MatrixLike | Trajectory


class Setpoint(NamedTuple):
    """A reference at one time: q (..., nq) with v and a (..., nv), or T (..., 4, 4) with its twist and acceleration."""

    position: Array
    velocity: Array
    acceleration: Array


class _Reference:
    """A constant setpoint, or a trajectory of which subclasses make setpoints."""

    def __init__(self, trajectory: Trajectory | None, constant: Setpoint | None) -> None:
        self._trajectory, self._constant = trajectory, constant

    @property
    def is_constant(self) -> bool:
        """Whether the reference is constant."""
        return self._constant is not None

    def at(self, t: float) -> Setpoint:
        """Evaluate the reference at time t [s]."""
        if self._constant is not None:
            return self._constant
        assert self._trajectory is not None
        return self._setpoint(*(_checked(self._trajectory, t, order) for order in (0, 1, 2)))

    def _setpoint(self, position: Array, velocity: Array, acceleration: Array) -> Setpoint:
        raise NotImplementedError


class JointReference(_Reference):
    """A configuration (..., nq), or a trajectory: q (nq,), v and a (nv,) by traj(t, 0), traj(t, 1) and traj(t, 2)."""

    def __init__(self, robot: Robot, target: JointTarget) -> None:
        self.robot = robot
        if callable(target):
            super().__init__(target, None)
        else:
            q = np.array(configuration(robot, target))
            super().__init__(None, Setpoint(q, np.zeros(robot.nv), np.zeros(robot.nv)))

    def _setpoint(self, position: Array, velocity: Array, acceleration: Array) -> Setpoint:
        nv, (q, v, a) = self.robot.nv, (position, velocity, acceleration)
        if q.shape[-1:] != (self.robot.nq,) or v.shape[-1:] != (nv,) or a.shape[-1:] != (nv,):
            raise InputError(
                f"the trajectory returned q, v, a of shapes {q.shape}, {v.shape}, {a.shape}; the robot has"
                f" nq = {self.robot.nq}, nv = {nv}"
            )
        return Setpoint(q, v, a)


class FrameReference(_Reference):
    """A pose (..., 4, 4) or position (..., 3), or a trajectory of either, with rates (..., 6) or (..., 3).

    Rates are of the frame's origin and in world axes, accelerations classical, as `kinodyn.kinematics` gives them.
    """

    def __init__(self, target: FrameTarget, needs_orientation: bool) -> None:
        self.needs_orientation = needs_orientation
        if callable(target):
            super().__init__(target, None)
        else:
            super().__init__(None, Setpoint(np.array(self._pose(target, sampled=False)), np.zeros(6), np.zeros(6)))

    def _setpoint(self, position: Array, velocity: Array, acceleration: Array) -> Setpoint:
        return Setpoint(self._pose(position, sampled=True), _twist(velocity), _twist(acceleration))

    def _pose(self, given: MatrixLike, *, sampled: bool) -> Array:
        if not hasattr(given, "as_matrix") and shape_of(given)[-2:] != (4, 4):
            if self.needs_orientation:
                raise InputError(
                    f"a pose (..., 4, 4) is needed where orientation is controlled, got shape {shape_of(given)};"
                    ' part="linear" leaves orientation free'
                )
            position = numbers("target", given, 3)
            T = np.zeros((*position.shape[:-1], 4, 4))
            T[...] = np.eye(4)
            T[..., :3, 3] = position
            return T
        if sampled:  # only its shape is checked: a full check in each control cycle takes too long
            return np.asarray(given, dtype=float)
        return as_pose(given, "target")


def _checked(trajectory: Trajectory, t: float, order: int) -> Array:
    try:
        value = np.asarray(trajectory(t, order), dtype=float)
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"the trajectory must return numbers for (time, order), got {cause} at {t:g} s") from cause
    if not math.isfinite(value.sum()):
        raise InputError(f"the trajectory returned a value that is not finite at {t:g} s, order {order}")
    return value


def _twist(rate: Array) -> Array:
    if rate.shape[-1:] == (6,):
        return rate
    if rate.shape[-1:] != (3,):
        raise InputError(f"rates of a frame's trajectory must be (..., 6) or (..., 3), got {rate.shape}")
    return np.concatenate([rate, np.zeros_like(rate)], axis=-1)


def pose_difference(T_world_frame: Array, T_world_target: Array) -> Array:
    """Compute the pose error (..., 6) in world axes: difference of positions [m], then rotation vector [rad]."""
    if T_world_frame.ndim == 2 and T_world_target.ndim == 2:
        return np.array(_difference(T_world_frame.tolist(), T_world_target.tolist()))
    linear = T_world_target[..., :3, 3] - T_world_frame[..., :3, 3]
    R_frame_world = np.swapaxes(T_world_frame[..., :3, :3], -1, -2)
    return np.concatenate([linear, log_rotation(T_world_target[..., :3, :3] @ R_frame_world)], axis=-1)


def _difference(frame: list[list[float]], target: list[list[float]]) -> tuple[float, ...]:
    """Do the same for one pose in plain floats, which takes a tenth of the time of arrays."""
    (a, b, c, px), (d, e, f, py), (g, h, i, pz), _ = frame
    (A, B, C, qx), (D, E, F, qy), (G, H, K, qz), _ = target
    # The skew part of R = R_world_target R_world_frame^T is the sine of the angle times the axis.
    x = 0.5 * (G * d + H * e + K * f - D * g - E * h - F * i)
    y = 0.5 * (A * g + B * h + C * i - G * a - H * b - K * c)
    z = 0.5 * (D * a + E * b + F * c - A * d - B * e - C * f)
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (A * a + B * b + C * c + D * d + E * e + F * f + G * g + H * h + K * i - 1.0)
    if cosine < -0.9:  # the sine loses digits near a half turn
        R = np.array(target)[:3, :3] @ np.array(frame)[:3, :3].T
        return qx - px, qy - py, qz - pz, *log_rotation(R).tolist()
    factor = math.atan2(sine, cosine) / sine if sine > 1e-9 else 1.0
    return qx - px, qy - py, qz - pz, factor * x, factor * y, factor * z
