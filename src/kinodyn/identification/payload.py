"""The payload that a robot carries, identified alone: the robot itself is known.

The torques that the robot cannot explain are linear in the ten inertial parameters of the payload:

    tau - tau_robot(q, v, a) = Y(q, v, a) A x

Y are the columns of the regressor that belong to the link of the frame, A expresses its parameters by those x in the
frame. Mass and first moments start from least squares; all ten are then fitted with a weak prior that keeps them
physically consistent (see `consistent`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq, qr

from kinodyn import dynamics, kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.identification.consistent import Prior, fit_consistent
from kinodyn.identification.fitting import check_data
from kinodyn.identification.inertias import BASIS, as_inertia, parameters_of
from kinodyn.identification.measurements import Measurements
from kinodyn.identification.reduction import MIN_NOISE, MIN_SCALE, Reduced
from kinodyn.identification.simulating import torques
from kinodyn.model.chain import frame_name, moving_joints
from kinodyn.model.robot import Robot
from kinodyn.spatial.poses import inverse_pose

MOMENTS = 4  # mass and first moments: what torques at rest depend on
LEAST_MASS = 1e-4  # of a prior [kg]
PRIOR_RADIUS = 0.05  # of gyration, of a prior [m]


@displayed
@dataclass(frozen=True, eq=False)
class PayloadEstimate:
    """A payload, from the torques of a robot that carries it.

    Attributes
    ----------
    frame : str
        The frame that carries it.
    mass : float
        [kg]
    com : (3,)
        CoM in the frame [m].
    inertia : (3, 3)
        Rotational inertia about the CoM, in the axes of the frame [kg m^2].
    standard_errors : (10,)
        Of mass, first moments [kg m] and the inertia about the origin of the frame: xx, xy, yy, xz, yz, zz [kg m^2].
    residual, unloaded_residual : float
        Root mean square of the torques that are not explained, with the payload and without it [N m or N].
    status : str
        "converged", or why not.
    robot : Robot
        The robot with the payload.
    """

    frame: str
    mass: float
    com: Array
    inertia: Array
    standard_errors: Array
    residual: float
    unloaded_residual: float
    status: str
    robot: Robot


@check_types
def payload(robot: Robot, data: Measurements, frame: str, *, prior_spread: float = 3.0) -> PayloadEstimate:
    """Identify the payload that a frame of a known robot carries.

    Parameters
    ----------
    robot : Robot
        The robot without the payload.
    data : Measurements
        Motion and torques with the payload; `prepare` adds v and a. A robot that does not move shows mass and CoM only.
    frame : str
        Frame or link that carries the payload.
    prior_spread : float
        Relative standard deviation of the prior, a ball of 5 cm radius of gyration, for what the data do not determine.

    Returns
    -------
    PayloadEstimate

    Raises
    ------
    InputError
        For data of another robot, or a frame that no joint moves.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("ur5")
    >>> loaded = robot.with_payload("wrist_3_link", 1.5, com=(0.0, 0.02, 0.1))
    >>> motion = kd.identification.exciting_trajectory(robot, starts=5, iterations=0)
    >>> time = motion.times(50)
    >>> data = kd.identification.simulate(loaded, time, *motion(time), noise=0.001)
    >>> found = kd.identification.payload(robot, data, "wrist_3_link")
    >>> round(found.mass, 2), found.com.round(2).tolist()
    (1.5, [0.0, 0.02, 0.1])
    """
    check_data(robot, data)
    positive("prior_spread", prior_spread)
    name = frame_name(robot, frame)
    Y, y = _equations(robot, data, name)
    sigma = _noise(Y, y)
    problem = _reduced(Y, y, sigma)
    prior = _prior(Y, y, sigma)
    found = fit_consistent(problem, prior, prior_spread)
    body = as_inertia(found.x)
    left = y - Y @ found.x
    return PayloadEstimate(
        frame=name,
        mass=body.mass,
        com=body.com,
        inertia=body.matrix,
        standard_errors=np.sqrt(np.diagonal(found.covariance)),
        residual=float(np.sqrt(np.mean(left**2))),
        unloaded_residual=float(np.sqrt(np.mean(y**2))),
        status="converged" if found.converged else f"not converged in {found.steps} steps",
        robot=robot.with_payload(name, body.mass, body.com, body.matrix),
    )


def _equations(robot: Robot, data: Measurements, frame: str) -> tuple[Array, Array]:
    """Return the regressor (n, nv, 10) of the payload in its frame, and the torques (n, nv) that it explains."""
    joints = moving_joints(robot, frame)
    if not joints and robot.base == "fixed":
        raise InputError(f"frame must be moved by a joint, got {frame!r}, which is fixed to the world")
    child = {joint.name: joint.child for joint in robot.description.joints}
    link = child[joints[-1].name] if joints and joints[-1].name in child else robot.parameter_links[0]
    q0 = robot.neutral()
    T_link_frame = inverse_pose(kinematics.pose(robot, q0, link)) @ kinematics.pose(robot, q0, frame)
    A = parameters_of(T_link_frame @ BASIS @ T_link_frame.T).T
    k = 10 * robot.parameter_links.index(link)
    v, a = data.rates()
    Y = dynamics.regressor(robot, data.q, v, a)[..., k : k + 10] @ A
    y = data.tau - torques(robot, data.q, v, a, data.wrenches)
    return Y, np.asarray(y)


def _noise(Y: Array, y: Array) -> Array:
    """Estimate the standard deviation (nv,) of each torque from the residuals of least squares."""
    x = lstsq(Y.reshape(-1, 10), y.ravel())[0]
    size = np.maximum(np.sqrt(np.mean(y**2, axis=0)), MIN_SCALE)
    left = np.sqrt(np.mean((y - Y @ x) ** 2, axis=0))
    return np.asarray(np.maximum(left, MIN_NOISE * size))


def _reduced(Y: Array, y: Array, sigma: Array) -> Reduced:
    rows = np.concatenate([Y, y[..., None]], axis=-1) / sigma[:, None]
    if rows.shape[0] * rows.shape[1] < 11:
        raise InputError(f"data must have at least 11 torques, got {rows.shape[0] * rows.shape[1]}")
    triangle = qr(rows.reshape(-1, 11), mode="r")[0][:11]
    return Reduced(triangle[:10, :10], triangle[:10, 10], rows.shape[0] * rows.shape[1])


def _prior(Y: Array, y: Array, sigma: Array) -> Prior:
    """Return a ball with the mass and the CoM of least squares."""
    moments = lstsq((Y[..., :MOMENTS] / sigma[:, None]).reshape(-1, MOMENTS), (y / sigma).ravel())[0]
    mass = max(float(moments[0]), LEAST_MASS)
    com = np.clip(moments[1:4] / mass, -1.0, 1.0)
    P = np.zeros((4, 4))
    P[:3, :3] = mass * (np.outer(com, com) + PRIOR_RADIUS**2 * np.eye(3))
    P[:3, 3] = P[3, :3] = mass * com
    P[3, 3] = mass
    x = parameters_of(P)
    return Prior(x, 1, 0, np.ones(10), np.zeros(0))
