"""Where a legged robot is and how it moves, from what it can feel itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.balance.feet import Foot
from kinodyn.balance.feet import feet as feet_of
from kinodyn.dynamics.contact.ground import Plane
from kinodyn.errors import InputError, unknown_name
from kinodyn.estimation.anchored import AnchoredFilter
from kinodyn.estimation.noise import SensorNoise
from kinodyn.estimation.rotations import quaternion
from kinodyn.model.robot import Robot

BEARS = 0.1  # of the weight: a foot with this load stands; with less than half of it, it does not any more
SETTLING = 0.05  # [s] after landing in which a foot still moves
CREEP = 20.0  # times the usual: how much a foot that settles, or bears next to nothing, may move
START = (1e-3, 1e-2, 1e-3)  # how well rotation [rad], velocity [m/s] and position [m] are known at the start
GATE = 6.0  # deviations beyond which a foot has slipped, and stands anew


class LeggedEstimator:
    """Estimates the pose and velocity of a legged robot's base from its inertial unit, encoders and feet.

    Between readings the base moves as the inertial unit says; feet that bear load stand still and hold it. Tilt and
    velocity stay known. Where the robot is on the ground, and its heading, can only be counted from the start: these
    drift, and nothing that the robot feels can mend it. So does the height, unless the ground is known.

    Parameters
    ----------
    robot
        With a floating base.
    feet
        By default those that `balance.feet` finds. Feet with a sole hold their rotation too.
    noise
        What to expect of the sensors.
    ground
        The plane on which feet land, if it is known.

    Attributes
    ----------
    q, v : (nq,), (nv,)
        The estimate.
    standing : tuple of str
        Frames of the feet that hold the base.
    gyro_bias, accelerometer_bias : (3,)
        In the base's axes [rad/s], [m/s^2].

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> estimator = kd.estimation.LeggedEstimator(robot)
    >>> q = robot.configuration("standing")
    >>> estimator.reset(q)
    >>> imu = kd.sim.Imu(np.array([0.0, 0.0, 9.81]), np.zeros(3))
    >>> load = np.array([0.0, 0.0, 0.5 * 9.81 * robot.mass, 0.0, 0.0, 0.0])
    >>> q_now, v_now = estimator.update(0.002, imu, q[7:], np.zeros(30), {"left_sole": load, "right_sole": load})
    >>> estimator.standing
    ('left_sole', 'right_sole')
    """

    def __init__(
        self,
        robot: Robot,
        *,
        feet: Sequence[Foot] | None = None,
        noise: SensorNoise | None = None,
        ground: Plane | None = None,
    ) -> None:
        self.feet = tuple(feet_of(robot) if feet is None else feet)
        if robot.base != "floating":
            raise InputError(f"robot {robot.name!r} has a fixed base, which needs no estimate")
        if not self.feet:
            raise InputError("feet is empty; an inertial unit alone drifts away within seconds")
        if ground is not None and not isinstance(ground, Plane):
            raise InputError(f"ground must be a contact.Plane or None, got {ground!r}")
        self.robot, self.noise, self.ground = robot, noise or SensorNoise(), ground
        flat = [len(foot.corners) >= 3 for foot in self.feet]
        self._filter = AnchoredFilter(flat, self.noise, robot.gravity)
        self._weight = robot.mass * float(np.linalg.norm(robot.gravity))
        self._frames = [robot.frame_index(foot.frame) for foot in self.feet]
        self._soles = np.array([foot.T_frame_sole for foot in self.feet])
        self._since: list[float | None] = [None] * len(self.feet)  # how long a foot has stood [s]
        self._creep = (0.0,) * len(self.feet)
        self._index = {foot.frame: k for k, foot in enumerate(self.feet)}
        self._in_base, self._v = robot.neutral(), np.zeros(robot.nv)
        self.reset(robot.neutral())

    def reset(self, q: ArrayLike, v: ArrayLike | None = None, *, deviation: tuple[float, float, float] = START) -> None:
        """Start anew from a configuration (nq,) and velocity (nv,), 0 by default. The biases are forgotten.

        `deviation`: how well rotation [rad], velocity [m/s] and position [m] of the base are known.
        """
        q = np.array(q, dtype=float)
        v = np.zeros(self.robot.nv) if v is None else np.array(v, dtype=float)
        if q.shape != (self.robot.nq,) or v.shape != (self.robot.nv,) or not np.isfinite(v).all():
            raise InputError(
                f"q must be ({self.robot.nq},) and v ({self.robot.nv},) finite numbers, got {q.shape} and {v.shape}"
            )
        known = _vector("deviation", deviation, 3)
        if (known < 0).any():
            raise InputError(f"deviation must be three standard deviations from 0 on, got {deviation!r}")
        R = kinematics.pose(self.robot, q, self.robot.joints[0].child)[:3, :3]
        self._filter.reset(R, R @ v[:3], q[:3], known)
        self._since, self._creep = [None] * len(self.feet), (0.0,) * len(self.feet)
        self._q, self._v = q, v

    @property
    def q(self) -> Array:
        """Configuration (nq,)."""
        return self._q

    @property
    def v(self) -> Array:
        """Velocity (nv,)."""
        return self._v

    @property
    def standing(self) -> tuple[str, ...]:
        """Name the feet that hold the base."""
        return tuple(foot.frame for foot, since in zip(self.feet, self._since, strict=True) if since is not None)

    @property
    def gyro_bias(self) -> Array:
        """Give what the gyro reads too much (3,) [rad/s]."""
        return np.array(self._filter.gyro_bias)

    @property
    def accelerometer_bias(self) -> Array:
        """Give what the accelerometer reads too much (3,) [m/s^2]."""
        return np.array(self._filter.accelerometer_bias)

    def deviation(self) -> Array:
        """Compute the standard deviations (9,) of the base: rotation [rad], velocity, position, along world axes."""
        return self._filter.deviation()

    def update(
        self,
        dt: float,
        imu: tuple[ArrayLike, ArrayLike],
        joints_q: ArrayLike,
        joints_v: ArrayLike,
        wrenches: Mapping[str, ArrayLike],
    ) -> tuple[Array, Array]:
        """Take in the readings of the last dt [s], and give the estimate q (nq,), v (nv,) at their end.

        Parameters
        ----------
        imu
            Acceleration less gravity [m/s^2] and angular velocity [rad/s] at the base's origin in its axes, (3,) each,
            as `sim.Imu` has them: means over dt, or readings within.
        joints_q, joints_v
            Of all joints but the base: q[7:], v[6:].
        wrenches
            Wrench (6,) on each foot's frame, as `MujocoSimulator.contact_forces` or a sensor has it. Only how strong
            its force is counts, so that axes and sign do not matter. A foot that is not in it bears nothing.
        """
        acceleration, angular_velocity = _vector("acceleration", imu[0], 3), _vector("angular velocity", imu[1], 3)
        joints_q = _vector("joints_q", joints_q, self.robot.nq - 7)
        joints_v = _vector("joints_v", joints_v, self.robot.nv - 6)
        if not 0 < dt < np.inf:
            raise InputError(f"dt must be a finite time above 0 [s], got {dt!r}")
        loads = self._loads(wrenches)
        self._filter.predict(dt, acceleration, angular_velocity, self._creep)
        self._in_base[7:] = joints_q
        self._hold(dt, loads, kinematics.poses(self.robot, self._in_base, frames=self._frames) @ self._soles)
        return self._write(angular_velocity, joints_q, joints_v)

    def _loads(self, wrenches: Mapping[str, ArrayLike]) -> list[float]:
        """Find the force on each foot as a share of the weight."""
        loads = [0.0] * len(self.feet)
        for frame, wrench in wrenches.items():
            k = self._index.get(frame)
            if k is None:
                raise unknown_name("foot", frame, tuple(self._index))
            force = _vector("wrench of a foot", wrench, 6)[:3]
            loads[k] = sqrt(force.dot(force)) / self._weight
        return loads

    def _hold(self, dt: float, loads: list[float], T_base_soles: Array) -> None:
        """Let feet land and lift, and correct by those that stand."""
        landed = []
        for k, (load, since) in enumerate(zip(loads, self._since, strict=True)):
            if since is None and load > BEARS:
                self._since[k] = 0.0
                landed.append(k)
            elif since is not None:
                self._since[k] = since + dt if load > 0.5 * BEARS else None
        held = tuple(k for k, since in enumerate(self._since) if since is not None and k not in landed)
        slipped = self._filter.see(held, T_base_soles, GATE) if held else []
        if slipped and (held := tuple(k for k in held if k not in slipped)):
            self._filter.see(held, T_base_soles, np.inf)
        for k in (*landed, *slipped):
            self._since[k] = 0.0
            self._filter.drop(k, T_base_soles[k])
            if self.ground is not None:
                self._filter.land(k, self.ground.normal, float(self.ground.normal @ self.ground.point))
        self._creep = tuple(map(_creep, loads, self._since))

    def _write(self, angular_velocity: Array, joints_q: Array, joints_v: Array) -> tuple[Array, Array]:
        base = self._filter
        q, v = np.empty(self.robot.nq), np.empty(self.robot.nv)
        q[:3], q[3:7], q[7:] = base.arms[1], quaternion(base.R), joints_q
        v[:3], v[3:6], v[6:] = base.arms[0] @ base.R, angular_velocity - base.gyro_bias, joints_v
        self._q, self._v = q, v
        return q, v


def _creep(load: float, since: float | None) -> float:
    """Tell how much more than usual a foot moves that bears this share of the weight and has stood so long."""
    if since is None:
        return 0.0
    return 1.0 if since > SETTLING and load > 2.0 * BEARS else CREEP


def _vector(what: str, value: ArrayLike, size: int) -> Array:
    """Check one vector; lighter than the check of batches, because it comes at every tick."""
    array = np.asarray(value, dtype=float)
    if array.shape != (size,) or not isfinite(array.dot(array)):
        raise InputError(f"{what} must be ({size},) finite numbers, got shape {array.shape}")
    return array
