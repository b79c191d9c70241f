"""Switch to another path without coming to rest first: from a moving state to a vertex of the path."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinodyn import dynamics
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.planning.joint_motions import JointMotions, JointState
from kinodyn.planning.timing import SAMPLE_TIME, TORQUE_FRACTION, Limits
from kinodyn.trajectory.piecewise import PiecewisePolynomial, joined

MAX_ATTEMPTS = 10  # vertices, from the last one to the first


def connected(
    joints: JointMotions,
    state: JointState,
    path: Array,
    is_free: Callable[[PiecewisePolynomial], bool],
    timed: Callable[[Array], PiecewisePolynomial],
) -> PiecewisePolynomial | None:
    """Return a motion from a moving state to the farthest vertex of a path that it can reach freely, and on to its end.

    Parameters
    ----------
    joints
        Jerk-limited motions of the joints that move.
    state
        Position, velocity and acceleration of these joints.
    path : (n, nq)
        From where the robot would come to rest.
    is_free
        Returns whether a motion is free and satisfies all other requirements.
    timed
        Times the rest (k, nq) of the path, from rest to rest.

    Returns
    -------
    motion : PiecewisePolynomial, or None if no vertex can be reached so
    """
    for k in np.unique(np.linspace(1, len(path) - 1, MAX_ATTEMPTS).astype(int))[::-1].tolist():
        motion = joints.to(state, path[k, joints.q_index])
        if motion is not None and is_free(motion):
            return motion if k == len(path) - 1 else joined([motion, timed(path[k:])])
    return None


def within_torques(robot: Robot, motion: PiecewisePolynomial, limits: Limits) -> bool:
    """Return whether the torques of a motion are within their limits, at samples; True where torques are ignored."""
    if not limits.torque:
        return True
    t = np.linspace(0.0, motion.duration, 2 + int(motion.duration / SAMPLE_TIME))
    tau = dynamics.inverse(robot, motion(t), motion(t, 1), motion(t, 2))
    return bool((np.abs(tau) <= TORQUE_FRACTION * limits.bounds.torque).all())
