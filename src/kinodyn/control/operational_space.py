"""Operational space dynamics of a frame: its inertia, Coriolis and gravity forces, and the null space."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import dynamics
from kinodyn.arrays import Array, matvec
from kinodyn.checks import positive
from kinodyn.control.controlled_frame import ControlledFrame
from kinodyn.control.equations import Equations, damped_inertia, eliminate_base, transposed
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

MAX_MASS = 100.0  # effective mass, in masses of the robot, above which a direction is damped


@displayed
class OperationalSpace(NamedTuple):
    """The dynamics of k rows of a frame's twist, moved by n joints: Lambda x'' + mu + p = F, tau = J^T F + N^T tau0.

    Attributes
    ----------
    Lambda : (..., k, k) array
        Inertia of the frame [kg, kg m, kg m^2].
    mu : (..., k) array
        Coriolis, centrifugal and joint damping forces at the frame [N, N m].
    p : (..., k) array
        Gravity forces [N, N m].
    Jbar : (..., n, k) array
        Dynamically consistent inverse of J: M^-1 J^T Lambda.
    N : (..., n, n) array
        Null space projector I - Jbar J: joint accelerations N a, or torques N^T tau, do not accelerate the frame.
    J : (..., k, n) array
        Jacobian in world axes.
    damped : (...) bool array
        Whether the frame is near a singularity, so that Lambda is bounded, and Jbar and N are not exact.
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

    Parameters
    ----------
    robot : Robot
        A floating base is taken to be in free flight; the n columns are those of the actuated joints.
    q : (..., nq)
        Configurations.
    v : (..., nv)
        Velocities.
    frame : str or int
    part : str
        Controlled rows: "all", "linear", "angular", or names such as "x y rz".
    max_mass : float
        A direction whose effective mass exceeds this many masses of the robot is damped; 0.1 m count as a radian.

    Returns
    -------
    OperationalSpace

    Notes
    -----
    O. Khatib, "A unified approach for motion and force control of robot manipulators: the operational space
    formulation", 1987, eqs. 11 to 14 and 51; near singularities J M^-1 J^T is inverted with damping.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> q = [0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5]
    >>> space = kd.control.operational_space(robot, q, np.zeros(7), "panda_hand_tcp")
    >>> bool(np.abs(space.J @ space.N).max() < 1e-9), bool(space.damped)
    (True, False)
    """
    state = State(robot, q, v)
    controlled = ControlledFrame(robot, frame, np.eye(4), part)
    M, h, J, drift = controlled.equations(state, controlled.jacobian(state))
    M_inv_JT, Lambda, damped = damped_inertia(M, J, min_mobility(robot, max_mass), controlled.weights)
    Jbar = M_inv_JT @ Lambda
    gravity, free_fall = dynamics.gravity(robot, state.q), np.zeros_like(drift)
    if robot.base == "floating":  # gravity alone, through the same elimination of the base
        alone = eliminate_base(Equations(state.mass_matrix, gravity, controlled.jacobian(state), free_fall))
        gravity, free_fall = alone.h, alone.drift
    p = matvec(transposed(Jbar), gravity) - matvec(Lambda, free_fall)
    mu = matvec(transposed(Jbar), h) - matvec(Lambda, drift) - p
    N = np.eye(J.shape[-1]) - Jbar @ J
    return OperationalSpace(Lambda, mu, p, Jbar, N, J, np.asarray(damped))


def min_mobility(robot: Robot, max_mass: float) -> float:
    """Convert a bound on the effective mass, in masses of the robot, into one on mobility [1/kg]."""
    if robot.mass == 0.0:
        raise InputError(f"{robot!r} has no moving mass; operational space control needs inertia")
    return 1.0 / (positive("max_mass", max_mass) * robot.mass)
