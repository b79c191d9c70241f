"""trajectory_msgs/JointTrajectory: points in time, and the motions between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.compile import COORDINATES
from kinodyn.model.robot import Robot
from kinodyn.rosmsgs.robot_messages import GIGA, stamp_of
from kinodyn.trajectory.base import JointTrajectory as Motion
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.space import Space

DT = 0.01  # [s] between points where the pieces of a motion are not cubic
MAX_POINTS = 1_000_000


@check_types
@displayed
@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Points of a trajectory of some joints: the content of a trajectory_msgs/JointTrajectory.

    Attributes
    ----------
    joints : tuple of str
    time : (n,)
        Time from the start [s], a whole number of nanoseconds; increasing.
    position, velocity, acceleration, effort : (n, k) or None
        None where the message has none.
    frame : str
        Frame of the header.
    stamp : int
        When to start [ns]; 0 for at once.
    """

    joints: tuple[str, ...]
    time: Array
    position: Array | None
    velocity: Array | None = None
    acceleration: Array | None = None
    effort: Array | None = None
    frame: str = ""
    stamp: int = 0

    def __post_init__(self) -> None:
        time = numbers("time", self.time)
        if time.ndim != 1 or not (np.diff(time) > 0.0).all() or (len(time) and time[0] < 0.0):
            raise InputError(f"time must be (n,), at least 0 and increasing, got shape {time.shape}")
        if len(set(self.joints)) < len(self.joints):
            raise InputError(f"joints must differ, got {self.joints}")
        for name in ("position", "velocity", "acceleration", "effort"):
            array = getattr(self, name)
            if array is not None and np.shape(array) != (len(time), len(self.joints)):
                raise InputError(f"{name} must be {(len(time), len(self.joints))}, got {np.shape(array)}")

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        last = self.time[-1] if len(self) else 0.0
        return f"JointTrajectory({len(self.joints)} joints, {len(self)} points, {last:g} s)"

    def fields(self) -> dict[str, Any]:
        """Return the fields of the message.

        Returns
        -------
        fields : dict
        """
        names = {
            "positions": self.position,
            "velocities": self.velocity,
            "accelerations": self.acceleration,
            "effort": self.effort,
        }
        given = {name: array.tolist() for name, array in names.items() if array is not None}
        points = [
            {**{name: rows[k] for name, rows in given.items()}, "time_from_start": stamp_of(round(t * GIGA))}
            for k, t in enumerate(self.time.tolist())
        ]
        header = {"stamp": stamp_of(self.stamp), "frame_id": self.frame}
        return {"header": header, "joint_names": list(self.joints), "points": points}

    @check_types
    def motion(self, robot: Robot, start: ArrayLike | None = None) -> PiecewisePolynomial:
        """Return the motion through the points, as ros2_control's joint trajectory controller interpolates them.

        Pieces are linear without velocities, cubic with them, and quintic with accelerations too.

        Parameters
        ----------
        robot
        start : (nq,), optional
            Configuration of joints that the trajectory does not move, and of all until a first point after time 0.
            Neutral by default.

        Returns
        -------
        PiecewisePolynomial
            From time 0 on.

        Raises
        ------
        UnknownNameError
            For a joint that the robot does not have.
        InputError
            Without positions or points, or for joints that follow others or have several coordinates.
        """
        if self.position is None or not len(self):
            raise InputError("a trajectory must have points with positions, got none")
        q0 = robot.neutral() if start is None else numbers("start", start, robot.nq)
        columns, dofs = _columns(robot, self.joints)
        values = [self.position, self.velocity, self.acceleration]
        order = 1 + next((k for k in (0, 1) if values[k + 1] is None), 2)
        derivatives = np.stack([np.asarray(value) for value in values[:order] if value is not None])
        time = self.time
        if time[0] > 0.0:  # the controller moves from the current state to the first point
            first = np.zeros((order, 1, len(self.joints)))
            first[0] = q0[columns]
            derivatives, time = np.concatenate([first, derivatives], axis=1), np.concatenate([[0.0], time])
        if len(time) == 1:
            time, derivatives = np.array([0.0, 1e-9]), np.repeat(derivatives, 2, axis=1)
        pieces = _hermite(time, derivatives)
        base = np.tile(q0, (len(time) - 1, 1))
        base[:, columns] = derivatives[0, :-1]
        coefficients = np.zeros((len(pieces), len(time) - 1, robot.nv))
        coefficients[1:, :, dofs] = pieces[1:]
        return PiecewisePolynomial(Space(robot), np.array(time), base, coefficients)


def _columns(robot: Robot, joints: tuple[str, ...]) -> tuple[list[int], list[int]]:
    """Return the indices of joints in q and in v."""
    known = {joint.name: joint for joint in robot.joints}
    for name in joints:
        if name not in known:
            raise unknown_name("joint", name, known)
        if known[name].mimic is not None or COORDINATES[known[name].kind] != 1:
            raise InputError(f"trajectory joints must have one coordinate and not be mimic joints, got {name!r}")
    return [known[name].q.start for name in joints], [known[name].v.start for name in joints]


def _hermite(time: Array, derivatives: Array) -> Array:
    """Return coefficients (2 m, n - 1, k) of the polynomials with m given derivatives (m, n, k) at both ends."""
    m = len(derivatives)
    h = np.diff(time)[:, None]
    scaled = derivatives[:, :, :] * 1.0
    left = np.stack([scaled[k, :-1] * h**k for k in range(m)])
    right = np.stack([scaled[k, 1:] * h**k for k in range(m)])
    powers = np.arange(2 * m)
    # k-th derivative of s^j at s = 1
    rows = np.array([[np.prod(np.arange(j, j - k, -1.0)) if j >= k else 0.0 for j in powers] for k in range(m)])
    factorial = np.array([1.0, 1.0, 2.0])[:m]
    low = left / factorial[:, None, None]
    rest = right - np.einsum("kj,jnd->knd", rows[:, :m], low)
    high = np.einsum("kj,jnd->knd", np.linalg.inv(rows[:, m:]), rest)
    return np.concatenate([low, high]) / h[None] ** powers[:, None, None]


@check_types
def joint_trajectory(
    motion: Motion, robot: Robot, *, joints: tuple[str, ...] | None = None, dt: float | None = None, stamp: int = 0
) -> JointTrajectory:
    """Sample a motion for a joint trajectory controller.

    Where the pieces of the motion are cubic, as those of `Plan.trajectory`, the points are its knots, and a controller
    that interpolates positions and velocities follows it exactly. Other motions are sampled.

    Parameters
    ----------
    motion
        A trajectory of the robot.
    robot
    joints
        Names of joints with one coordinate; by default all.
    dt
        Time between points [s]; by default the knots of a piecewise cubic motion, else 0.01 s.
    stamp
        When to start [ns]; 0 for at once.

    Returns
    -------
    JointTrajectory
    """
    every = tuple(joint.name for joint in robot.joints if joint.mimic is None and COORDINATES[joint.kind] == 1)
    names = every if joints is None else tuple(joints)
    columns, dofs = _columns(robot, names)
    cubic = isinstance(motion, PiecewisePolynomial) and len(motion.coefficients) <= 4
    if dt is None and cubic:
        time = np.unique(np.round(motion.knots * GIGA) / GIGA)
    else:
        count = max(int(np.ceil(motion.duration / positive("dt", DT if dt is None else dt))), 1)
        if count >= MAX_POINTS:
            raise InputError(f"dt must give at most {MAX_POINTS} points, got {count}")
        time = np.round(np.linspace(0.0, motion.duration, count + 1) * GIGA) / GIGA
    t = np.clip(time, 0.0, motion.duration)
    q, v, a = (np.asarray(motion(t, order)) for order in range(3))
    return JointTrajectory(names, time, q[:, columns], v[:, dofs], a[:, dofs], stamp=stamp)
