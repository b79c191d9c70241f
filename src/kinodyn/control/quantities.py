"""Inertia, Coriolis and gravity forces as a frame feels them, and the split into what moves it and what does not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import dynamics
from kinodyn.arrays import Array
from kinodyn.control.checks import positive
from kinodyn.control.frame import ControlledFrame
from kinodyn.control.plant import Equations, apply, damped_inverse, flying, transposed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

MAX_MASS = 100.0  # apparent mass of a direction, in robot masses, above which it counts as lost


class OperationalSpace(NamedTuple):
    """The dynamics of k rows of a frame's twist, moved by n joints: Lambda x'' + mu + p = F, tau = J^T F + N^T tau0.

    Attributes
    ----------
    Lambda : (..., k, k)
        Inertia of the frame [kg, kg m, kg m^2].
    mu : (..., k)
        Coriolis and centrifugal forces, and those of the joints' damping, as the frame feels them.
    p : (..., k)
        Gravity forces.
    Jbar : (..., n, k)
        Dynamically consistent inverse of J: M^-1 J^T Lambda.
    N : (..., n, n)
        I - Jbar J: joint accelerations N a, or torques N^T tau, do not accelerate the frame.
    J : (..., k, n)
        The Jacobian, aligned.
    damped : (...)
        Whether a direction was near lost, so that Lambda is bounded, Jbar no exact inverse and N no exact projector.
    """

    Lambda: Array
    mu: Array
    p: Array
    Jbar: Array
    N: Array
    J: Array
    damped: NDArray[np.bool_]


def operational_space(
    robot: Robot, q: ArrayLike, v: ArrayLike, frame: str | int, *, part: str = "all", max_mass: float = MAX_MASS
) -> OperationalSpace:
    """Compute the operational space dynamics of a frame.

    Of a robot with a free base, which is taken to fly, the columns are those of the joints with motors. O. Khatib, "A
    unified approach for motion and force control of robot manipulators: the operational space formulation", 1987,
    eqs. 11 to 14 and 51; near singularities the inverse of Lambda's inverse is damped.

    Parameters
    ----------
    robot
    q, v
        (..., nq) and (..., nv).
    frame
    part
        Which rows: "all", "linear", "angular", or names such as "x y rz".
    max_mass
        A direction whose effective mass exceeds this many masses of the robot is damped; 0.1 m count as a radian.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> q = [0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5]
    >>> space = kd.control.operational_space(robot, q, np.zeros(7), "panda_hand_tcp")
    >>> bool(np.abs(space.J @ space.N).max() < 1e-9), bool(space.damped)
    (True, False)
    """
    state = State(robot, q, v)
    held = ControlledFrame(robot, frame, np.eye(4), part)
    M, h, J, drift = held.equations(state, held.jacobian(state))
    X, Lambda, damped = damped_inverse(M, J, least_mobility(robot, max_mass), held.weights)
    Jbar = X @ Lambda
    weight = dynamics.gravity(robot, state.q)
    if robot.base == "floating":  # gravity alone, through the same elimination of the base
        still = Equations(state.mass_matrix, weight, held.jacobian(state), np.zeros_like(drift))
        fallen = flying(still)
        weight, falling = fallen.h, fallen.drift
    else:
        falling = np.zeros_like(drift)
    p = apply(transposed(Jbar), weight) - apply(Lambda, falling)
    mu = apply(transposed(Jbar), h) - apply(Lambda, drift) - p
    N = np.eye(J.shape[-1]) - Jbar @ J
    return OperationalSpace(Lambda, mu, p, Jbar, N, J, np.asarray(damped))


def least_mobility(robot: Robot, max_mass: float) -> float:
    """Turn a bound on the effective mass, in masses of the robot, into one on mobility [1/kg]."""
    if robot.mass == 0.0:
        raise InputError(f"{robot!r} has no moving mass: no torque would do anything")
    return 1.0 / (positive("max_mass", max_mass) * robot.mass)
