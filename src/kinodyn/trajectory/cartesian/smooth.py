"""Joint trajectories whose velocity and acceleration are those of the frame's motion, from samples of the joint path.

Of a redundant robot as many joints as it has redundant directions, the chosen ones, get smooth functions of time,
fitted to the samples. Pose, velocity and acceleration of the frame then determine those of all other joints at every
sample:

    J_o v_o = V - J_c v_c,        J_o a_o = A - Jdot v - J_c a_c.

Between samples the joints are quintic polynomials with these values at both ends. The acceleration is continuous but
where that of the frame jumps: at its knots, which are samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.interpolate import BSpline

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.spatial.lie import log_rotation
from kinodyn.trajectory.piecewise import PiecewisePolynomial, hermite_quintic
from kinodyn.trajectory.space import Space

DEGREE = 5  # of the chosen joints' splines
INTERVAL = 0.25  # between their knots [s], at least
SAMPLES_PER_INTERVAL = 6
MAX_CONDITION = 1e4  # of the other joints' Jacobian, scaled as it is
NEWTON_STEPS = 8
CONVERGED = 1e-11  # [m, rad]
MAX_CHANGE = 0.1  # of the samples [rad]
ONE_SIDE = 1e-9  # of the duration, to evaluate on one side of a knot


@dataclass(frozen=True, eq=False)
class FrameMotion:
    """Motion of a frame at times (n,): poses, velocities, accelerations on both sides; the rows that are tracked."""

    times: Array
    T: Array
    velocity: Array
    before: Array
    after: Array
    rows: NDArray[np.intp]


def smooth_trajectory(
    robot: Robot, frame: str, motion: FrameMotion, q: Array, *, limits: bool
) -> PiecewisePolynomial | None:
    """Interpolate the joint path q (n, nq), or return None near singularities, at limits, and with ball joints."""
    space = Space(robot) if robot.nq == robot.nv else None
    moving = np.nonzero(np.abs(kinematics.jacobian(robot, q, frame)).max(axis=(0, 1)) > 0.0)[0]
    count = len(moving) - len(motion.rows)
    if space is None or not space.is_vector or count < 0:
        return None
    chosen, others = _split(robot, frame, motion.rows, q, moving, count)
    rest = max(np.abs(motion.velocity[0]).max(), np.abs(motion.velocity[-1]).max()) < 1e-9
    spline = _fitted(motion.times, q[:, chosen], rest) if count else None
    q, solved = _on_path(robot, frame, motion, q, chosen, others, spline)
    if not solved or (limits and _beyond(robot, q)):
        return None
    return _interpolated(robot, frame, motion, space, q, chosen, others, spline)


def _split(
    robot: Robot, frame: str, rows: NDArray[np.intp], q: Array, moving: NDArray[np.intp], count: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Choose the joints that move freely along the redundant directions all along the path; return them and the others.

    By pivoted QR of the mean projection onto the null spaces.
    """
    if not count:
        return moving[:0], moving
    J = kinematics.jacobian(robot, q, frame)[:, rows][:, :, moving]
    mean = np.mean(np.eye(len(moving)) - np.linalg.pinv(J) @ J, axis=0)
    order = scipy.linalg.qr(mean, pivoting=True, mode="r")[1]
    return np.sort(moving[order[:count]]), np.sort(moving[order[count:]])


def _fitted(times: Array, values: Array, rest: bool) -> BSpline:
    """Fit quintic splines to values (n, joints), with the same ends; at rest there if the motion is."""
    duration, n = times[-1], len(times)
    pieces = max(1, min(n // SAMPLES_PER_INTERVAL, int(np.ceil(duration / INTERVAL))))
    inner = np.linspace(0.0, duration, pieces + 1)
    knots = np.concatenate([np.zeros(DEGREE), inner, np.full(DEGREE, duration)])
    design = BSpline.design_matrix(times, knots, DEGREE).toarray()
    held = 3 if rest else 1  # coefficients at each end: of the value, of zero velocity and acceleration
    coefficients = np.empty((design.shape[1], values.shape[1]))
    coefficients[:held], coefficients[-held:] = values[0], values[-1]
    free = slice(held, design.shape[1] - held)
    fixed = np.concatenate([design[:, :held], design[:, -held:]], axis=1)
    target = values - fixed @ np.concatenate([coefficients[:held], coefficients[-held:]])
    coefficients[free] = np.linalg.lstsq(design[:, free], target, rcond=None)[0]
    return BSpline(knots, coefficients, DEGREE)


def _on_path(
    robot: Robot,
    frame: str,
    motion: FrameMotion,
    q: Array,
    chosen: NDArray[np.intp],
    others: NDArray[np.intp],
    spline: BSpline | None,
) -> tuple[Array, bool]:
    """Move the other joints by Newton's method until the frame is where it should be at every sample."""
    start, q = q, q.copy()
    if spline is not None:
        q[:, chosen] = spline(motion.times)
    for _ in range(NEWTON_STEPS):
        reached = kinematics.pose(robot, q, frame)
        turn = log_rotation(motion.T[:, :3, :3] @ np.swapaxes(reached[:, :3, :3], -2, -1))
        error = np.concatenate([motion.T[:, :3, 3] - reached[:, :3, 3], turn], axis=1)[:, motion.rows]
        J = kinematics.jacobian(robot, q, frame)[:, motion.rows][:, :, others]
        if not np.linalg.cond(J).max() < MAX_CONDITION or np.abs(q - start).max() > MAX_CHANGE:
            return q, False
        if np.abs(error).max() < CONVERGED:
            return q, True
        q[:, others] += np.linalg.solve(J, error[..., None])[..., 0]
    return q, False


def _beyond(robot: Robot, q: Array) -> bool:
    return bool(((q < robot.limits.lower) | (q > robot.limits.upper)).any())


def _interpolated(
    robot: Robot,
    frame: str,
    motion: FrameMotion,
    space: Space,
    q: Array,
    chosen: NDArray[np.intp],
    others: NDArray[np.intp],
    spline: BSpline | None,
) -> PiecewisePolynomial:
    v = np.zeros_like(q)
    sides = np.zeros((2, *q.shape))
    if spline is not None:
        v[:, chosen], sides[:, :, chosen] = spline(motion.times, 1), spline(motion.times, 2)
    J = kinematics.jacobian(robot, q, frame)[:, motion.rows]
    J_others, J_chosen = J[:, :, others], J[:, :, chosen]

    def solve(rate: Array, given: Array) -> Array:
        right = rate - np.einsum("nij,nj->ni", J_chosen, given)
        found: Array = np.linalg.solve(J_others, right[..., None])[..., 0]
        return found

    v[:, others] = solve(motion.velocity[:, motion.rows], v[:, chosen])
    drift = kinematics.acceleration(robot, q, v, np.zeros_like(v), frame)
    for side, A in zip(sides, (motion.before, motion.after), strict=True):
        side[:, others] = solve((A - drift)[:, motion.rows], side[:, chosen])
    before, after = sides
    h = np.diff(motion.times)[:, None]
    coefficients = hermite_quintic(np.diff(q, axis=0), (v[:-1], after[:-1]), (v[1:], before[1:]), h)
    return PiecewisePolynomial(space, motion.times.copy(), q[:-1].copy(), coefficients)
