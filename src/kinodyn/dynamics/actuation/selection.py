"""The selection matrix of the actuated joints, and the actuation matrix of any set of actuators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import known_names
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.chain import configuration
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot


@runtime_checkable
class Actuator(Protocol):
    """Anything that drives a robot with rates that are linear in the joint velocities."""

    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the rows of the actuation matrix.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        B : (..., k, nv) array
            Rates are `B @ v`, and efforts u act as `B^T u`.
        """
        ...


@check_types
def selection(robot: Robot, passive: Sequence[str] = ()) -> Array:
    """Compute the selection matrix S of the equation of motion: tau = S^T u.

    Parameters
    ----------
    robot : Robot
    passive
        Names of joints without a motor.

    Returns
    -------
    S : (n_actuated, nv) array
        One row for each actuated coordinate, in the order of v; a floating base has none.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> S = kd.actuation.selection(robot, passive=["head_roll"])
    >>> S.shape, robot.nv
    ((29, 36), 36)
    """
    passive = known_names("passive", passive, "joint", robot.joint_names)
    actuated = [robot.joint(name).v for name in robot.joint_names if name not in passive]
    indices = [index for v in actuated for index in range(v.start, v.stop)]
    S: Array = np.eye(robot.nv)[indices]
    return S


@check_types
def matrix(robot: Robot, q: ArrayLike, actuators: Sequence[Actuator | str]) -> Array:
    """Stack the rows of all actuators to the actuation matrix B.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    actuators
        Actuators: objects of this module, or names of joints with a motor on the joint.

    Returns
    -------
    B : (..., n, nv) array
        tau = B^T u, and the rates of the actuators are `B @ v`.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("planar2r")
    >>> tendon = kd.actuation.Piston("link1", "link2", point_a=(0.2, 0.1, 0.0), point_b=(0.2, 0.1, 0.0))
    >>> kd.actuation.matrix(robot, robot.neutral(), ["joint1", tendon]).shape
    (2, 2)
    """
    if isinstance(actuators, str) or not isinstance(actuators, Sequence) or not len(actuators):
        raise InputError(f"actuators must be a list of actuators and joint names, got {actuators!r}")
    batch = configuration(robot, q).shape[:-1]
    parts = []
    for actuator in actuators:
        if isinstance(actuator, str):
            rows = np.eye(robot.nv)[own_joint(robot, actuator).v]
        elif isinstance(actuator, Actuator):
            rows = actuator.rows(robot, q)
        else:
            raise InputError(f"actuators must have a method rows, or be names of joints, got {actuator!r}")
        parts.append(np.broadcast_to(rows, (*batch, *rows.shape[-2:])))
    return np.concatenate(parts, axis=-2)


def own_joint(robot: Robot, name: str) -> JointInfo:
    """Find a joint with coordinates in q that is not the floating base."""
    if name not in robot.joint_names:
        raise unknown_name("joint", name, robot.joint_names)
    return robot.joint(name)
