"""Poses, Jacobians, velocities and accelerations of frames and of the CoM, computed by the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array, Array32, Float32, Float64, Reference
from kinodyn.checks import is_float32, one_of
from kinodyn.model.robot import Robot
from kinodyn.spatial import analytic_map


@overload
def pose(
    robot: Robot, q: ArrayLike, frame: str | int, *, dtype: Float64 | None = ..., out: Array | None = ...
) -> Array: ...
@overload
def pose(robot: Robot, q: ArrayLike, frame: str | int, *, dtype: Float32, out: Array32 | None = ...) -> Array32: ...
def pose(
    robot: Robot,
    q: ArrayLike,
    frame: str | int,
    *,
    dtype: Float32 | Float64 | None = None,
    out: Any = None,
) -> Any:
    """Compute the pose of one frame in the world.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    frame : str or int
    dtype : float64 or float32, optional
        Precision of arguments, arithmetic and result; see "Single precision" on the page "Conventions".
    out : array, optional

    Returns
    -------
    T_world_frame : (..., 4, 4) array

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("planar2r")
    >>> kd.kinematics.pose(robot, [0.0, 0.0], "link2")[:3, 3]
    array([2., 0., 0.])
    """
    if dtype is not None and is_float32(dtype):
        return _core.pose_float32(robot, q, frame, out)
    return _core.pose(robot, q, frame, out)


@overload
def poses(
    robot: Robot,
    q: ArrayLike,
    *,
    frames: Sequence[str | int] | None = ...,
    dtype: Float64 | None = ...,
    out: Array | None = ...,
) -> Array: ...
@overload
def poses(
    robot: Robot, q: ArrayLike, *, frames: Sequence[str | int] | None = ..., dtype: Float32, out: Array32 | None = ...
) -> Array32: ...
def poses(
    robot: Robot,
    q: ArrayLike,
    *,
    frames: Sequence[str | int] | None = None,
    dtype: Float32 | Float64 | None = None,
    out: Any = None,
) -> Any:
    """Compute the poses of all frames, or of some.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    frames
        Names or indices of the n frames; all in the order of `robot.frame_names` if not given.
    dtype : float64 or float32, optional
        Precision of arguments, arithmetic and result; see "Single precision" on the page "Conventions".
    out : array, optional

    Returns
    -------
    T_world_frame : (..., n, 4, 4) array
    """
    if dtype is not None and is_float32(dtype):
        return _core.poses_float32(robot, q, frames, out)
    return _core.poses(robot, q, frames, out)


@overload
def jacobian(
    robot: Robot,
    q: ArrayLike,
    frame: str | int,
    *,
    reference: Reference = ...,
    dtype: Float64 | None = ...,
    out: Array | None = ...,
) -> Array: ...
@overload
def jacobian(
    robot: Robot,
    q: ArrayLike,
    frame: str | int,
    *,
    reference: Reference = ...,
    dtype: Float32,
    out: Array32 | None = ...,
) -> Array32: ...
def jacobian(
    robot: Robot,
    q: ArrayLike,
    frame: str | int,
    *,
    reference: Reference = "local_world_aligned",
    dtype: Float32 | Float64 | None = None,
    out: Any = None,
) -> Any:
    """Compute the geometric Jacobian of a frame.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    frame : str or int
    reference : "local_world_aligned", "local" or "world"
    dtype : float64 or float32, optional
        Precision of arguments, arithmetic and result; see "Single precision" on the page "Conventions".
    out : array, optional

    Returns
    -------
    J : (..., 6, nv) array
        The twist of the frame, linear first, is `J @ v`.
    """
    if dtype is not None and is_float32(dtype):
        return _core.jacobian_float32(robot, q, frame, reference, out)
    return _core.jacobian(robot, q, frame, reference, out)


def jacobian_dot(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    frame: str | int,
    *,
    reference: Reference = "local_world_aligned",
    out: Array | None = None,
) -> Array:
    """Compute the time derivative of the Jacobian of a frame, in the same reference, at velocity v.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)
    frame : str or int
    reference : "local_world_aligned", "local" or "world"
    out : array, optional

    Returns
    -------
    J_dot : (..., 6, nv) array
    """
    return _core.jacobian_dot(robot, q, v, frame, reference, out)


def hessian(
    robot: Robot,
    q: ArrayLike,
    frame: str | int,
    *,
    reference: Reference = "local_world_aligned",
    out: Array | None = None,
) -> Array:
    """Compute the kinematic Hessian of a frame, the derivative of its Jacobian with respect to q.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    frame : str or int
    reference : "local_world_aligned", "local" or "world"
    out : array, optional

    Returns
    -------
    H : (..., 6, nv, nv) array
        `H[..., i, j, k]` is the derivative of `J[..., i, j]` along `integrate(q, e_k)`, so that the time derivative of
        J is `H @ v`. It is not symmetric in j and k: the angular velocity is not the rate of any coordinates.

    Notes
    -----
    J. Haviland and P. Corke, "Manipulator differential kinematics, part 2: acceleration and advanced applications",
    2023. Their tensor, that of `hessian0` in robotics-toolbox, has k first: `np.moveaxis(H, -1, -3)`.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("planar2r")
    >>> H = kd.kinematics.hessian(robot, [0.0, 0.0], "link2")
    >>> H.shape, H[0, 0, 0].item()  # both links point along x: the acceleration of the tip is -2 m per rad^2
    ((6, 2, 2), -2.0)
    """
    return _core.hessian(robot, q, frame, reference, out)


def analytic_jacobian(robot: Robot, q: ArrayLike, frame: str | int, *, parameters: str = "ZYX") -> Array:
    """Compute the Jacobian of a frame's position and orientation parameters.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    frame : str or int
    parameters
        An order of Euler angles about moving axes such as "ZYX" or "ZYZ", "rotation_vector", or "quaternion" (x y z w).

    Returns
    -------
    J : (..., 6, nv) array, (..., 7, nv) for "quaternion"

    Raises
    ------
    SingularError
        Where the parameters are singular (gimbal lock).

    Notes
    -----
    Siciliano, Sciavicco, Villani and Oriolo, "Robotics: Modelling, Planning and Control", 2009, section 3.6.
    """
    J = jacobian(robot, q, frame)
    rates = analytic_map(pose(robot, q, frame), parameters)
    return np.concatenate([J[..., :3, :], rates @ J[..., 3:, :]], axis=-2)


def velocity(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    frame: str | int,
    *,
    reference: Reference = "local_world_aligned",
    out: Array | None = None,
) -> Array:
    """Compute the twist of a frame.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)
    frame : str or int
    reference : "local_world_aligned", "local" or "world"
    out : array, optional

    Returns
    -------
    twist : (..., 6) array
        Linear velocity [m/s], then angular velocity [rad/s].
    """
    return _core.velocity(robot, q, v, frame, reference, out)


def acceleration(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: str | int,
    *,
    reference: Reference = "local_world_aligned",
    kind: Literal["classical", "spatial"] = "classical",
    out: Array | None = None,
) -> Array:
    """Compute the acceleration of a frame, without gravity.

    Parameters
    ----------
    robot : Robot
    q, v, a : (..., nq), (..., nv), (..., nv)
    frame : str or int
    reference : "local_world_aligned", "local" or "world"
    kind
        "classical": second derivative of the position of the frame's origin; "spatial": time derivative of the twist,
        which differs by the cross product of angular and linear velocity (Featherstone 2008, section 2.11).
    out : array, optional

    Returns
    -------
    acceleration : (..., 6) array
        Linear [m/s^2], then angular [rad/s^2].
    """
    one_of("kind", kind, ("classical", "spatial"))
    return _core.acceleration(robot, q, v, a, frame, reference, kind == "classical", out)


@overload
def com(robot: Robot, q: ArrayLike, *, dtype: Float64 | None = ..., out: Array | None = ...) -> Array: ...
@overload
def com(robot: Robot, q: ArrayLike, *, dtype: Float32, out: Array32 | None = ...) -> Array32: ...
def com(
    robot: Robot,
    q: ArrayLike,
    *,
    dtype: Float32 | Float64 | None = None,
    out: Any = None,
) -> Any:
    """Compute the centre of mass (CoM) of all moving links.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    dtype : float64 or float32, optional
        Precision of arguments, arithmetic and result; see "Single precision" on the page "Conventions".
    out : array, optional

    Returns
    -------
    p_world_com : (..., 3) array [m]
    """
    if dtype is not None and is_float32(dtype):
        return _core.com_float32(robot, q, out)
    return _core.com(robot, q, out)


def com_jacobian(robot: Robot, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the Jacobian of the CoM.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    out : array, optional

    Returns
    -------
    J : (..., 3, nv) array
        The velocity of the CoM is `J @ v`.
    """
    return _core.com_jacobian(robot, q, out)


def com_velocity(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Compute the velocity of the CoM.

    Parameters
    ----------
    robot : Robot
    q, v : (..., nq), (..., nv)

    Returns
    -------
    velocity : (..., 3) array
        [m/s], in world axes.
    """
    result: Array = _core.momentum(robot, q, v, None)[..., :3] / robot.mass
    return result


def com_acceleration(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Compute the acceleration of the CoM, without gravity.

    Parameters
    ----------
    robot : Robot
    q, v, a : (..., nq), (..., nv), (..., nv)

    Returns
    -------
    acceleration : (..., 3) array
        [m/s^2], in world axes.
    """
    result: Array = _core.momentum_rate(robot, q, v, a, None)[..., :3] / robot.mass
    return result
