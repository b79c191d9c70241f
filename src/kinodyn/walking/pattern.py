"""Walking patterns: a walk planned offline, sampled, and checked by inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.balance.polygon import margin
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.chain import moving_joints
from kinodyn.model.robot import Robot
from kinodyn.walking.biped import Biped
from kinodyn.walking.com_height import ComHeight
from kinodyn.walking.footsteps import Footstep, footsteps_from_velocity, standing_feet, walk_to
from kinodyn.walking.mpc import MPC
from kinodyn.walking.preview_control import PreviewControl
from kinodyn.walking.schedule import ContactSchedule
from kinodyn.walking.settings import GaitSettings
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.step_timing import GaitTiming
from kinodyn.walking.swing import SwingTrajectory

LIFT_OFF_FRACTION = 0.25  # part of a swing in which the foot may still be tilted
MIN_DT, MAX_DT = 1e-5, 0.1  # [s] between samples
PREVIEW_TIME = 1.6  # [s] horizon of preview control
Method = Literal["dcm", "mpc", "preview"]


@displayed
@dataclass(frozen=True, eq=False)
class Feasibility:
    """Whether a robot can follow a walking pattern.

    Attributes
    ----------
    success : bool
    status : str
        "feasible", or the first violation: what, when and by how much.
    q : (n, nq)
        The configurations found.
    speed : float
        Maximum joint velocity as a fraction of its limit.
    error : float
        Maximum position error of feet and CoM [m].
    """

    success: bool
    status: str
    q: Array
    speed: float
    error: float


@displayed
@dataclass(frozen=True, eq=False)
class Pattern:
    """A walk sampled every dt, made by `walking_pattern`.

    Attributes
    ----------
    body : Biped
    schedule : ContactSchedule
    time : (n,)
        [s]
    com, com_velocity, com_acceleration : (n, 3)
        [m, m/s, m/s^2]
    zmp, zmp_reference : (n, 2)
        Zero moment point (ZMP) of the motion, and of the plan [m].
    dcm : (n, 2)
        Divergent component of motion [m].
    soles, sole_velocities, sole_accelerations : dict of side -> (n, 4, 4), (n, 6), (n, 6)
        In the world, "local_world_aligned".
    contacts : dict of side -> (n,) bool
    heading : (n,)
        Yaw of the body [rad].
    """

    body: Biped
    schedule: ContactSchedule
    time: Array
    com: Array
    com_velocity: Array
    com_acceleration: Array
    zmp: Array
    zmp_reference: Array
    dcm: Array
    soles: dict[str, Array]
    sole_velocities: dict[str, Array]
    sole_accelerations: dict[str, Array]
    contacts: dict[str, Array]
    heading: Array

    @property
    def dt(self) -> float:
        """Time between samples [s]."""
        return float(self.time[1] - self.time[0])

    @property
    def footsteps(self) -> tuple[Footstep, ...]:
        """The footsteps in order."""
        return self.schedule.steps

    def margins(self) -> Array:
        """Measure the margin (n,) [m] of the ZMP in the support polygon, the plan's own margin included."""
        polygons = [self.schedule.at(float(t)).polygon for t in self.time]
        own = np.array([margin(polygon, p) for polygon, p in zip(polygons, self.zmp, strict=True)])
        return np.asarray(own + self.schedule.settings.zmp_margin)

    def check(self, every: float = 0.05, tolerance: float = 1e-3) -> Feasibility:
        """Check by inverse kinematics that the legs reach the whole pattern.

        Parameters
        ----------
        every
            Time between the configurations that are solved for [s], each from the one before.
        tolerance
            Maximum position error of feet and CoM [m].

        Returns
        -------
        Feasibility
        """
        step = max(1, round(every / self.dt))
        picked = np.arange(0, len(self.time), step)
        rolling = self._rolling()[picked]
        robot = self.body.robot
        q, guess = np.empty((len(picked), robot.nq)), self.body.q
        worst, status = 0.0, "feasible"
        for i, k in enumerate(picked):
            soles = {side: poses[k] for side, poses in self.soles.items()}
            heading = np.asarray(self.heading[k])
            found = self.body.solve_posture(soles, self.com[k], heading, q0=guess, iterations=60)
            q[i] = guess = found.q
            errors = {name: float(found.errors[name][0]) for name in (*self._frames(), "com")}
            if rolling[i]:
                continue
            name = max(errors, key=errors.__getitem__)
            worst = max(worst, errors[name])
            if status == "feasible" and errors[name] > tolerance:
                status = f"{name} has an error of {1e3 * errors[name]:.3g} mm at {self.time[k]:.3g} s"
        speed, joint, moment = self._speed(q, picked, rolling)
        if status == "feasible" and speed > 1.0:
            status = f"{joint} needs {100 * speed:.0f} % of its velocity limit at {moment:.3g} s"
        return Feasibility(status == "feasible", status, q, speed, worst)

    def _rolling(self) -> NDArray[np.bool_]:
        """Return when (n,) a foot rolls over its toes and leaves the ground.

        The pattern has flat feet; the leg at the back need not reach it like that.
        """
        rolling = np.zeros(len(self.time), dtype=bool)
        for phase in self.schedule.phases:
            if phase.kind == "double":
                now = (self.time >= phase.start) & (self.time < phase.end)
                rolling[now] = margin(phase.soles[0], self.zmp_reference[now]) < 0
            elif phase.kind == "single":
                rolling |= (self.time >= phase.start) & (self.time < phase.start + LIFT_OFF_FRACTION * phase.length)
        return rolling

    def _frames(self) -> tuple[str, str]:
        return self.body.left.frame, self.body.right.frame

    def _speed(self, q: Array, picked: NDArray[np.int_], rolling: NDArray[np.bool_]) -> tuple[float, str, float]:
        """Find the joint of the legs that comes closest to its velocity limit: fraction, name, time.

        The rest of the body has many ways to move; what it does here is not what a controller would do.
        """
        robot: Robot = self.body.robot
        flat = np.flatnonzero(~(rolling[:-1] | rolling[1:]))
        legs = {joint.name: joint.v.start for frame in self._frames() for joint in moving_joints(robot, frame)}
        if not len(flat) or not legs:
            return 0.0, "", 0.0
        v = robot.difference(q[:-1], q[1:])[flat] / np.diff(self.time[picked])[flat, None]
        columns = list(legs.values())
        share = np.abs(v[:, columns]) / robot.limits.velocity[columns]
        when, where = np.unravel_index(int(share.argmax()), share.shape)
        return float(share.max()), list(legs)[where], float(self.time[picked][flat[when]])


@check_types
def walking_pattern(
    robot: Robot | Biped,
    *,
    velocity: ArrayLike | None = None,
    steps: int = 8,
    goal: ArrayLike | None = None,
    dt: float = 0.01,
    method: Method = "dcm",
    limits: StepLimits | None = None,
    settings: GaitSettings | None = None,
) -> Pattern:
    """Plan a walk offline, at a velocity or to a goal.

    Parameters
    ----------
    robot
        A robot with two feet, or its `Biped`.
    velocity
        Forward, lateral [m/s], turn [rad/s] (3,).
    steps
        Number of steps at that velocity.
    goal
        x, y [m] and yaw [rad] of the centre between the soles (3,), instead of a velocity.
    dt
        Sampling time, at most 0.1 [s].
    method
        "dcm": the closed-form solution, whose ZMP is exactly the planned one; "mpc": MPC from the planned state,
        replanned at each change of support; "preview": preview control, which does not know the edges of the feet.
    limits
        Limits of footsteps, by default derived from the robot.
    settings
        By default `GaitSettings.from_robot(robot)`.

    Returns
    -------
    Pattern

    Raises
    ------
    KinodynError
        If the robot does not have two feet, cannot stand on them, or cannot step.
    InputError
        For a command beyond the limits; the message gives the limit.

    Examples
    --------
    >>> import kinodyn as kd
    >>> pattern = kd.walking.walking_pattern(kd.load("humanoid"), velocity=[0.3, 0, 0], steps=4)
    >>> bool(pattern.margins().min() > 0), round(float(pattern.com[-1, 0]), 2)
    (True, 0.74)
    """
    if (velocity is None) == (goal is None):
        raise InputError("give either velocity= or goal=, one of them")
    if not MIN_DT <= dt <= MAX_DT:
        raise InputError(f"dt must be from {MIN_DT:g} to {MAX_DT:g} s, got {dt!r}")
    body = robot if isinstance(robot, Biped) else Biped.from_robot(robot)
    gait = settings or GaitSettings.from_robot(body)
    own = limits or StepLimits.from_robot(
        body,
        max_leg_extension=gait.max_leg_extension,
        min_leg_extension=gait.min_leg_extension,
        max_turn=gait.max_turn,
    )
    if goal is not None:
        plan = walk_to(body, goal, limits=own)
    else:
        assert velocity is not None
        times = GaitTiming(gait, own)
        timing = times.at_velocity(times.check(velocity))
        steady = footsteps_from_velocity(body, velocity, steps=steps, limits=own, step_time=timing.step_time)
        plan = [replace(step, timing=timing) for step in steady]
    # preview control has to see the first step a whole horizon ahead
    wait = PREVIEW_TIME if method == "preview" else 0.0
    return sample(ContactSchedule(body, standing_feet(body), plan, gait, wait=wait), dt, method)


def sample(schedule: ContactSchedule, dt: float, method: Method) -> Pattern:
    """Sample a contact schedule until one second after its end."""
    body = schedule.body
    time = np.arange(0.0, schedule.end + 1.0 + 0.5 * dt, dt)
    com, velocity, acceleration, zmp = _pendulum(schedule, time, dt, method)
    soles, velocities, accelerations, contacts = _feet(schedule, time)
    flat, heights = np.zeros((len(time), 1)), _com_heights(schedule, time)
    yaw = {side: np.unwrap(np.arctan2(T[:, 1, 0], T[:, 0, 0])) for side, T in soles.items()}
    return Pattern(
        body,
        schedule,
        time,
        np.hstack([com, heights[:, None]]),
        np.hstack([velocity, flat]),
        np.hstack([acceleration, flat]),
        zmp,
        schedule.nominal(time).zmp,
        com + velocity / body.omega,
        soles,
        velocities,
        accelerations,
        contacts,
        0.5 * (yaw["left"] + yaw["right"]),
    )


def _com_heights(schedule: ContactSchedule, time: Array) -> Array:
    """Compute the height (n,) of the CoM: lower in long steps, and linear between the middles of the phases."""
    lower = ComHeight(schedule.body, schedule.settings.max_leg_extension)
    middles = [0.5 * (phase.start + min(phase.end, phase.start + 1.0)) for phase in schedule.phases]
    drops = [lower.in_phase(phase) for phase in schedule.phases]
    return np.asarray(schedule.body.com_height - np.interp(time, middles, drops))


def _pendulum(schedule: ContactSchedule, time: Array, dt: float, method: Method) -> tuple[Array, Array, Array, Array]:
    nominal = schedule.nominal(time)
    if method == "preview":
        path = PreviewControl.design(schedule.body.omega, dt, horizon=PREVIEW_TIME)(nominal.zmp)
        return path.com, path.velocity, path.acceleration, path.zmp
    if method == "dcm":
        return nominal.com, nominal.velocity, nominal.acceleration, nominal.zmp
    mpc, rows = MPC(samples=schedule.settings.mpc_samples, weights=schedule.settings.mpc), []
    changes = [phase.start for phase in schedule.phases]
    state = schedule.nominal.at(changes[0])
    com, velocity = state.com, state.velocity
    for start, end in zip(changes, [*changes[1:], np.inf], strict=True):
        trajectory = mpc(schedule, start, com, velocity).trajectory
        inside = time[(time >= start) & (time < end)]
        rows.append(trajectory(inside))
        if end < np.inf:
            state = trajectory.at(end)
            com, velocity = state.com, state.velocity
    parts = [np.concatenate([row[k] for row in rows]) for k in (0, 1, 2, 4)]
    return parts[0], parts[1], parts[2], parts[3]


def _feet(
    schedule: ContactSchedule, time: Array
) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array], dict[str, Array]]:
    settings = schedule.settings
    soles = {side: np.empty((len(time), 4, 4)) for side in ("left", "right")}
    velocities, accelerations = ({side: np.zeros((len(time), 6)) for side in soles} for _ in range(2))
    contacts = {side: np.ones(len(time), dtype=bool) for side in soles}
    for phase in schedule.phases:
        now = (time >= phase.start) & (time < phase.end)
        for side in soles:
            if side in phase.feet:
                soles[side][now] = phase.feet[side].pose
                continue
            assert phase.lifted is not None and phase.swing is not None
            swing = SwingTrajectory(
                phase.lifted.pose,
                phase.swing.pose,
                phase.start,
                phase.end,
                height=settings.swing_height,
                vertical_fraction=settings.vertical_fraction,
            )
            soles[side][now], velocities[side][now], accelerations[side][now] = swing.all(time[now])
            contacts[side][now] = False
    return soles, velocities, accelerations, contacts
