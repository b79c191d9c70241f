"""Projected Newton-Euler: Newton's and Euler's equations of each link, projected by the Jacobian of the link."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.checks import numbers
from kinodyn.description.types import Inertia
from kinodyn.dynamics import Wrenches
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot


@check_types
def projected_newton_euler(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Wrenches | None = None
) -> Array:
    """Compute the generalised forces for an acceleration, for every kind of robot.

    The sum over the links of Jc^T m (ac - gravity) + Jw^T (I w' + w x I w), with c the CoM, w the angular velocity and
    I the inertia about c, plus armature and damping, minus J^T of external wrenches. `kd.dynamics.inverse` computes the
    same by recursion, in time proportional to the number of joints.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    v, a : (..., nv)
    wrenches : mapping of frame -> (..., 6), optional
        External wrenches on the robot [N, N m], in world axes about the origin of the frame.

    Returns
    -------
    (..., nv)

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("planar2r")
    >>> kd.derivation.projected_newton_euler(robot, [0.0, np.pi / 2], [1.0, 1.0], [0.0, 0.0]).round(3)
    array([13.215,  0.5  ])
    """
    v, a = numbers("v", v, robot.nv), numbers("a", a, robot.nv)
    tau = sum(link_forces(robot, q, v, a).values(), _joint_forces(robot, v, a))
    for frame, wrench in _checked(wrenches).items():
        tau = tau - project(kinematics.jacobian(robot, q, frame), wrench)
    return np.asarray(tau)


@check_types
def link_forces(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> dict[str, Array]:
    """Compute the generalised forces that each link with inertia needs.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    v, a : (..., nv)

    Returns
    -------
    dict of link -> (..., nv)
    """
    return {
        link.name: _link_force(robot, q, v, a, link.name, link.inertia)
        for link in robot.description.links
        if link.inertia is not None
    }


def _link_force(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, link: str, inertia: Inertia) -> Array:
    J = kinematics.jacobian(robot, q, link)
    R = kinematics.pose(robot, q, link)[..., :3, :3]
    w = kinematics.velocity(robot, q, v, link)[..., 3:]
    acceleration = kinematics.acceleration(robot, q, v, a, link)
    r = R @ inertia.com  # from the origin of the link to its CoM, in world axes
    I_world = R @ inertia.matrix @ np.swapaxes(R, -2, -1)

    w_rate = acceleration[..., 3:]
    a_com = acceleration[..., :3] + np.cross(w_rate, r) + np.cross(w, np.cross(w, r))
    force = inertia.mass * (a_com - robot.gravity)
    moment = matvec(I_world, w_rate) + np.cross(w, matvec(I_world, w))

    # The columns of Jc are the velocities of the centre of mass: Jv + Jw x r.
    J_com = J[..., :3, :] + np.cross(J[..., 3:, :], r[..., :, None], axis=-2)
    return project(J_com, force) + project(J[..., 3:, :], moment)


def project(J: Array, force: Array) -> Array:
    """Compute J^T force for J (..., k, nv) and force (..., k)."""
    result: Array = np.einsum("...ij,...i->...j", J, force)
    return result


def _joint_forces(robot: Robot, v: Array, a: Array) -> Array:
    """Compute the torques of armature and damping."""
    forces: Array = robot.armature * a + robot.damping * v
    return forces


def _checked(wrenches: Wrenches | None) -> dict[str, Array]:
    if wrenches is None:
        return {}
    if not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches must be a dict of frame -> (..., 6), got {type(wrenches).__name__}")
    return {frame: numbers(f"the wrench on {frame!r}", wrench, 6) for frame, wrench in wrenches.items()}
