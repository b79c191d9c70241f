"""Simulated measurements of a robot with known parameters, to test an identification."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import nonnegative
from kinodyn.errors import InputError
from kinodyn.identification.columns import base_rows
from kinodyn.identification.measurements import Measurements, measurements
from kinodyn.model.robot import Robot, _generator


@check_types
def torques(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Mapping[str, ArrayLike] | None = None
) -> Array:
    """Compute the torques of a motion with dry friction: `dynamics.inverse` + friction * sign(v).

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    v, a : (..., nv)
    wrenches : mapping of frame -> (..., 6), optional
        External wrenches [N, N m] in world axes, about the origin of the frame.

    Returns
    -------
    (..., nv)
    """
    tau = dynamics.inverse(robot, q, v, a, wrenches)
    return np.asarray(tau + robot.friction * np.sign(np.asarray(v, dtype=float)))


@check_types
def simulate(
    robot: Robot,
    time: ArrayLike,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    *,
    wrenches: Mapping[str, ArrayLike] | None = None,
    noise: float = 0.01,
    seed: int | np.random.Generator = 0,
) -> Measurements:
    """Simulate the measurements of a motion, with noise on the torques.

    Parameters
    ----------
    robot : Robot
    time : (n,)
        [s].
    q, v, a : (n, nq), (n, nv), (n, nv)
        The motion.
    wrenches : mapping of frame -> (n, 6), optional
        External wrenches [N, N m]; they must balance a floating base.
    noise : float
        Standard deviation of the noise of each torque, as a fraction of its root mean square.
    seed : int or numpy.random.Generator
        Seed of the noise.

    Returns
    -------
    Measurements
    """
    nonnegative("noise", noise)
    tau = np.atleast_2d(torques(robot, q, v, a, wrenches))
    base = base_rows(robot)
    loose = np.abs(tau[:, :base]).max(initial=0.0)
    if loose > 1e-6 * max(robot.mass * 9.81, 1.0):
        raise InputError(f"the wrenches do not balance the floating base: {loose:.3g} N or N m are missing")
    scale = np.sqrt(np.mean(tau**2, axis=0))
    noisy = tau + noise * scale * _generator(seed).normal(size=tau.shape)
    return measurements(robot, time, q, noisy[:, base:], v=v, a=a, wrenches=wrenches)
