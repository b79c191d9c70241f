"""Base estimation of a legged robot: contact detection, and corrections of an IMU-driven filter by the stance feet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.balance.feet import feet as feet_of
from kinodyn.balance.foot import Foot
from kinodyn.checks import instance, list_of, positive, reals
from kinodyn.display import displayed
from kinodyn.dynamics.contact.ground import Plane
from kinodyn.errors import InputError, unknown_name
from kinodyn.estimation.contact_ekf import ContactEKF
from kinodyn.estimation.noise import SensorNoise
from kinodyn.estimation.rotations import quaternion
from kinodyn.model.robot import Robot

TOUCHDOWN_LOAD = 0.1  # fraction of the weight above which a foot is in stance; below half of it, it has lifted off
SETTLING_TIME = 0.05  # [s] after touchdown in which a foot still moves
SETTLING_FACTOR = 20.0  # on the random walk of a foot that settles or bears little load
INITIAL_DEVIATION = (1e-3, 1e-2, 1e-3)  # of rotation [rad], velocity [m/s] and position [m] at the start
SLIP_GATE = 6.0  # standard deviations beyond which a foot has slipped, and becomes a new contact


@displayed
class LeggedEstimator:
    """Estimates pose and velocity of a legged robot's base from its IMU, encoders and foot forces.

    Between readings the base is integrated from the IMU; loaded feet are assumed to be stationary and correct it. Tilt
    and velocity are observable. Position on the ground and heading are only integrated from the start: they drift, and
    no sensor of the robot can correct them. The height drifts too, unless the ground is known.

    Parameters
    ----------
    robot
        Robot with a floating base.
    feet
        By default those found by `balance.feet`. Feet with a sole also correct the rotation.
    noise
        Expected noise of the sensors.
    ground
        The plane on which the feet stand, if it is known.

    Attributes
    ----------
    q, v : (nq,), (nv,)
        The estimate.
    standing : tuple of str
        Frames of the feet that correct the base.
    gyro_bias, accelerometer_bias : (3,)
        In base axes [rad/s], [m/s^2].

    Examples
    --------
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

    @check_types
    def __init__(
        self,
        robot: Robot,
        *,
        feet: Sequence[Foot] | None = None,
        noise: SensorNoise | None = None,
        ground: Plane | None = None,
    ) -> None:
        self.feet = tuple(feet_of(robot) if feet is None else list_of("feet", feet, Foot, "feet"))
        if robot.base != "floating":
            raise InputError(f"robot {robot.name!r} has a fixed base, whose state needs no estimation")
        if not self.feet:
            raise InputError("feet is empty; an IMU alone drifts within seconds")
        self.robot, self.noise, self.ground = robot, noise or SensorNoise(), ground
        flat = [len(foot.corners) >= 3 for foot in self.feet]
        self._filter = ContactEKF(flat, self.noise, robot.gravity)
        self._weight = robot.mass * float(np.linalg.norm(robot.gravity))
        self._frames = [robot.frame_index(foot.frame) for foot in self.feet]
        self._soles = np.array([foot.T_frame_sole for foot in self.feet])
        self._since: list[float | None] = [None] * len(self.feet)  # time since touchdown [s]; None in the air
        self._slip_scale = (0.0,) * len(self.feet)
        self._index = {foot.frame: k for k, foot in enumerate(self.feet)}
        self._in_base, self._v = robot.neutral(), np.zeros(robot.nv)
        self.reset(robot.neutral())

    def reset(
        self, q: ArrayLike, v: ArrayLike | None = None, *, deviation: tuple[float, float, float] = INITIAL_DEVIATION
    ) -> None:
        """Restart from a known state; the biases are reset.

        Parameters
        ----------
        q
            Configuration (nq,).
        v
            Velocity (nv,), 0 by default.
        deviation
            Standard deviations of rotation [rad], velocity [m/s] and position [m] of the base.
        """
        start: Array = reals("q", q).copy()
        rates = np.zeros(self.robot.nv) if v is None else reals("v", v).copy()
        if start.shape != (self.robot.nq,) or rates.shape != (self.robot.nv,) or not np.isfinite(rates).all():
            raise InputError(
                f"q must be ({self.robot.nq},) and v ({self.robot.nv},) finite numbers, got {start.shape} and "
                f"{rates.shape}"
            )
        known = _vector("deviation", deviation, 3)
        if (known < 0).any():
            raise InputError(f"deviation must be three nonnegative standard deviations, got {deviation!r}")
        R = kinematics.pose(self.robot, start, self.robot.joints[0].child)[:3, :3]
        self._filter.reset(R, R @ rates[:3], start[:3], known)
        self._since, self._slip_scale = [None] * len(self.feet), (0.0,) * len(self.feet)
        self._q, self._v = start, rates

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
        """Frames of the feet that correct the base."""
        return tuple(foot.frame for foot, since in zip(self.feet, self._since, strict=True) if since is not None)

    @property
    def gyro_bias(self) -> Array:
        """Estimated bias of the gyro (3,) [rad/s]."""
        return np.array(self._filter.gyro_bias)

    @property
    def accelerometer_bias(self) -> Array:
        """Estimated bias of the accelerometer (3,) [m/s^2]."""
        return np.array(self._filter.accelerometer_bias)

    def deviation(self) -> Array:
        """Compute the standard deviations (9,) of the base: rotation [rad], velocity, position, in world axes."""
        return self._filter.deviation()

    def update(
        self,
        dt: float,
        imu: tuple[ArrayLike, ArrayLike],
        joints_q: ArrayLike,
        joints_v: ArrayLike,
        wrenches: Mapping[str, ArrayLike],
    ) -> tuple[Array, Array]:
        """Process the readings of one control period.

        Parameters
        ----------
        dt
            Control period [s].
        imu
            Acceleration minus gravity [m/s^2] and angular velocity [rad/s] at the origin of the base in its axes, (3,)
            each, as in `sim.Imu`: means over dt, or single readings.
        joints_q, joints_v
            Positions (nq - 7,) [rad, m] and velocities (nv - 6,) [rad/s, m/s] of all joints but the base: q[7:], v[6:].
        wrenches
            Wrench (6,) on each foot's frame, from a simulator or a sensor. Only the magnitude of its force counts, so
            that axes and sign do not matter. A foot that is not listed carries no load.

        Returns
        -------
        q : (nq,)
            Estimate at the end of the period.
        v : (nv,)
        """
        if not isinstance(imu, Sequence | np.ndarray) or len(imu) != 2:
            raise InputError(f"imu must be an acceleration (3,) and an angular velocity (3,), got {imu!r}")
        acceleration, angular_velocity = _vector("acceleration", imu[0], 3), _vector("angular velocity", imu[1], 3)
        joints_q = _vector("joints_q", joints_q, self.robot.nq - 7)
        joints_v = _vector("joints_v", joints_v, self.robot.nv - 6)
        positive("dt", dt)
        loads = self._loads(wrenches)
        self._filter.predict(dt, acceleration, angular_velocity, self._slip_scale)
        self._in_base[7:] = joints_q
        self._correct(dt, loads, kinematics.poses(self.robot, self._in_base, frames=self._frames) @ self._soles)
        return self._write(angular_velocity, joints_q, joints_v)

    def _loads(self, wrenches: Mapping[str, ArrayLike]) -> list[float]:
        """Compute the force on each foot as a fraction of the weight."""
        instance("wrenches", wrenches, Mapping, "a mapping of frame -> (6,)")
        loads = [0.0] * len(self.feet)
        for frame, wrench in wrenches.items():
            k = self._index.get(frame)
            if k is None:
                raise unknown_name("foot", frame, tuple(self._index))
            force = _vector("wrench of a foot", wrench, 6)[:3]
            loads[k] = sqrt(force.dot(force)) / self._weight
        return loads

    def _correct(self, dt: float, loads: list[float], T_base_soles: Array) -> None:
        """Detect touchdown and lift-off, and correct by the standing feet."""
        landed = []
        for k, (load, since) in enumerate(zip(loads, self._since, strict=True)):
            if since is None and load > TOUCHDOWN_LOAD:
                self._since[k] = 0.0
                landed.append(k)
            elif since is not None:
                self._since[k] = since + dt if load > 0.5 * TOUCHDOWN_LOAD else None
        standing = tuple(k for k, since in enumerate(self._since) if since is not None and k not in landed)
        slipped = self._filter.correct_by_contacts(standing, T_base_soles, SLIP_GATE) if standing else []
        if slipped and (standing := tuple(k for k in standing if k not in slipped)):
            self._filter.correct_by_contacts(standing, T_base_soles, np.inf)
        for k in (*landed, *slipped):
            self._since[k] = 0.0
            self._filter.add_contact(k, T_base_soles[k])
            if self.ground is not None:
                self._filter.correct_by_plane(k, self.ground.normal, float(self.ground.normal @ self.ground.point))
        self._slip_scale = tuple(map(_slip_scale, loads, self._since))

    def _write(self, angular_velocity: Array, joints_q: Array, joints_v: Array) -> tuple[Array, Array]:
        base = self._filter
        q, v = np.empty(self.robot.nq), np.empty(self.robot.nv)
        q[:3], q[3:7], q[7:] = base.vectors[1], quaternion(base.R), joints_q
        v[:3], v[3:6], v[6:] = base.vectors[0] @ base.R, angular_velocity - base.gyro_bias, joints_v
        self._q, self._v = q, v
        return q, v


def _slip_scale(load: float, since: float | None) -> float:
    """Return the factor on the expected motion of a foot with this load that has stood for `since` seconds."""
    if since is None:
        return 0.0
    return 1.0 if since > SETTLING_TIME and load > 2.0 * TOUCHDOWN_LOAD else SETTLING_FACTOR


def _vector(what: str, value: ArrayLike, size: int) -> Array:
    """Check one vector; faster than the check of batches, because it is called at every tick."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"{what} must be ({size},) finite numbers, got {value!r}") from cause
    if array.shape != (size,) or not isfinite(array.dot(array)):
        raise InputError(f"{what} must be ({size},) finite numbers, got shape {array.shape}")
    return array
