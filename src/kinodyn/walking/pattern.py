"""A walking pattern: all that a walk needs, planned in advance and sampled, and tried with inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.balance.polygon import margin
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.walking.biped import Biped
from kinodyn.walking.footsteps import Footstep, follow, standing_feet, walk_to
from kinodyn.walking.mpc import MPC
from kinodyn.walking.phases import Timing
from kinodyn.walking.preview import Preview
from kinodyn.walking.schedule import Schedule
from kinodyn.walking.steplimits import StepLimits
from kinodyn.walking.swing import Swing

PREVIEW = 1.6  # seconds that preview control looks ahead
Method = Literal["dcm", "mpc", "preview"]


@dataclass(frozen=True, eq=False)
class Feasibility:
    """Whether a robot can follow a pattern.

    Attributes
    ----------
    success : bool
    status : str
        "feasible", or what goes wrong first: where, when and by how much.
    q : (n, nq)
        The configurations found.
    speed : float
        Largest joint velocity as a share of its limit.
    error : float
        Largest distance [m] by which feet or centre of mass are missed.
    """

    success: bool
    status: str
    q: Array
    speed: float
    error: float


@dataclass(frozen=True, eq=False)
class Pattern:
    """A walk, sampled every dt. Made by `walking_pattern`.

    Attributes
    ----------
    body : Biped
    schedule : Schedule
    time : (n,)
        [s]
    com, com_velocity, com_acceleration : (n, 3)
        [m, m/s, m/s^2]
    zmp, zmp_wanted : (n, 2)
        That of the motion, and that of the plan [m].
    dcm : (n, 2)
        Divergent component [m].
    soles, sole_velocities, sole_accelerations : dict of side -> (n, 4, 4), (n, 6), (n, 6)
        In the world, aligned.
    contacts : dict of side -> (n,) bool
    heading : (n,)
        Of the body [rad].
    """

    body: Biped
    schedule: Schedule
    time: Array
    com: Array
    com_velocity: Array
    com_acceleration: Array
    zmp: Array
    zmp_wanted: Array
    dcm: Array
    soles: dict[str, Array]
    sole_velocities: dict[str, Array]
    sole_accelerations: dict[str, Array]
    contacts: dict[str, Array]
    heading: Array

    @property
    def dt(self) -> float:
        """Give the time between samples [s]."""
        return float(self.time[1] - self.time[0])

    @property
    def footsteps(self) -> tuple[Footstep, ...]:
        """Give the footsteps."""
        return self.schedule.steps

    def margins(self) -> Array:
        """Measure how far (n,) [m] the zero moment point is inside the support polygon, the plan's margin included."""
        polygons = [self.schedule.at(float(t)).polygon for t in self.time]
        own = np.array([margin(polygon, p) for polygon, p in zip(polygons, self.zmp, strict=True)])
        return np.asarray(own + self.schedule.margin)

    def check(self, every: float = 0.05, tolerance: float = 1e-3) -> Feasibility:
        """Try the pattern with inverse kinematics, `every` so many seconds, each sample from the one before.

        Feasible is a pattern whose feet and centre of mass are met within `tolerance` [m], within joint limits and at
        joint velocities within theirs.
        """
        step = max(1, round(every / self.dt))
        picked = np.arange(0, len(self.time), step)
        robot = self.body.robot
        q, guess = np.empty((len(picked), robot.nq)), self.body.q
        worst, status = 0.0, "feasible"
        for i, k in enumerate(picked):
            soles = {side: poses[k] for side, poses in self.soles.items()}
            found = self.body.place(soles, self.com[k], np.asarray(self.heading[k]), q0=guess, iterations=60)
            q[i] = guess = found.q
            errors = {name: float(found.errors[name][0]) for name in (*self._frames(), "com")}
            name = max(errors, key=errors.__getitem__)
            worst = max(worst, errors[name])
            if status == "feasible" and errors[name] > tolerance:
                status = f"{name} is missed by {1e3 * errors[name]:.3g} mm at {self.time[k]:.3g} s"
        speed, joint, moment = self._speed(q, picked)
        if status == "feasible" and speed > 1.0:
            status = f"{joint} needs {100 * speed:.0f} % of its velocity limit at {moment:.3g} s"
        return Feasibility(status == "feasible", status, q, speed, worst)

    def _frames(self) -> tuple[str, str]:
        return self.body.left.frame, self.body.right.frame

    def _speed(self, q: Array, picked: NDArray[np.int_]) -> tuple[float, str, float]:
        """Find the joint that comes nearest to its velocity limit."""
        robot: Robot = self.body.robot
        v = robot.difference(q[:-1], q[1:]) / np.diff(self.time[picked])[:, None]
        share = np.abs(v[:, 6:]) / robot.limits.velocity[6:]
        if share.size == 0:
            return 0.0, "", 0.0
        when, where = np.unravel_index(int(share.argmax()), share.shape)
        names = [joint.name for joint in robot.joints for _ in range(joint.v.stop - joint.v.start)]
        return float(share.max()), names[6 + where], float(self.time[picked][when])


def walking_pattern(
    robot: Robot | Biped,
    *,
    velocity: ArrayLike | None = None,
    steps: int = 8,
    goal: ArrayLike | None = None,
    dt: float = 0.01,
    method: Method = "dcm",
    limits: StepLimits | None = None,
    timing: Timing | None = None,
    margin: float | None = None,
    clearance: float | None = None,
) -> Pattern:
    """Plan a walk at a velocity (3,) for so many steps, or to a goal (3,): x, y, heading.

    Parameters
    ----------
    method
        "dcm": the closed solution, its zero moment point exactly as planned; "mpc": predictive control from the plan's
        own state, replanned at each change of support; "preview": preview control, which does not know edges.

    Raises
    ------
    KinodynError
        When the robot does not have two feet, cannot stand on them, or cannot step.
    InputError
        For a command beyond the limits, which the message gives.

    Example
    -------
    >>> import kinodyn as kd
    >>> pattern = kd.walking.walking_pattern(kd.load("humanoid"), velocity=[0.3, 0, 0], steps=4)
    >>> bool(pattern.margins().min() > 0), round(float(pattern.com[-1, 0]), 2)
    (True, 0.74)
    """
    if (velocity is None) == (goal is None):
        raise InputError("give either velocity= or goal=, one of them")
    if not isinstance(dt, int | float | np.number) or not 0 < dt <= 0.1:
        raise InputError(f"dt must be above 0 and at most 0.1 s, got {dt!r}")
    if method not in ("dcm", "mpc", "preview"):
        raise InputError(f"method must be 'dcm', 'mpc' or 'preview', got {method!r}")
    body = robot if isinstance(robot, Biped) else Biped.of(robot)
    own = limits or StepLimits.of(body)
    times = timing or Timing.of(body)
    if goal is not None:
        plan = walk_to(body, goal, limits=own)
    else:
        assert velocity is not None
        plan = follow(body, velocity, steps=steps, limits=own, step_time=times.step)
    # preview needs to see the first step from afar
    wait = PREVIEW if method == "preview" else 0.0
    schedule = Schedule(body, standing_feet(body), plan, times, margin=margin, wait=wait)
    lift = 0.05 * body.leg if clearance is None else clearance
    return sample(schedule, dt, method, lift)


def sample(schedule: Schedule, dt: float, method: Method, clearance: float) -> Pattern:
    """Sample a schedule until one second after its end."""
    body = schedule.body
    time = np.arange(0.0, schedule.end + 1.0 + 0.5 * dt, dt)
    com, velocity, acceleration, zmp = _pendulum(schedule, time, dt, method)
    soles, velocities, accelerations, contacts = _feet(schedule, time, clearance)
    flat = np.zeros((len(time), 1))
    yaw = {side: np.unwrap(np.arctan2(T[:, 1, 0], T[:, 0, 0])) for side, T in soles.items()}
    return Pattern(
        body,
        schedule,
        time,
        np.hstack([com, flat + body.com_height]),
        np.hstack([velocity, flat]),
        np.hstack([acceleration, flat]),
        zmp,
        schedule.own(time).zmp,
        com + velocity / body.omega,
        soles,
        velocities,
        accelerations,
        contacts,
        0.5 * (yaw["left"] + yaw["right"]),
    )


def _pendulum(schedule: Schedule, time: Array, dt: float, method: Method) -> tuple[Array, Array, Array, Array]:
    own = schedule.own(time)
    if method == "preview":
        path = Preview.of(schedule.body.omega, dt, horizon=PREVIEW)(own.zmp)
        return path.com, path.velocity, path.acceleration, path.zmp
    if method == "dcm":
        return own.com, own.velocity, own.acceleration, own.zmp
    mpc, rows = MPC(), []
    changes = [phase.start for phase in schedule.phases]
    state = schedule.own.at(changes[0])
    com, velocity = state.com, state.velocity
    for start, end in zip(changes, [*changes[1:], np.inf], strict=True):
        path_ahead = mpc(schedule, start, com, velocity).path
        inside = time[(time >= start) & (time < end)]
        rows.append(path_ahead(inside))
        if end < np.inf:
            state = path_ahead.at(end)
            com, velocity = state.com, state.velocity
    parts = [np.concatenate([row[k] for row in rows]) for k in (0, 1, 2, 4)]
    return parts[0], parts[1], parts[2], parts[3]


def _feet(
    schedule: Schedule, time: Array, clearance: float
) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array], dict[str, Array]]:
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
            swing = Swing(phase.lifted.pose, phase.swing.pose, phase.start, phase.end, clearance=clearance)
            soles[side][now], velocities[side][now], accelerations[side][now] = swing.all(time[now])
            contacts[side][now] = False
    return soles, velocities, accelerations, contacts
