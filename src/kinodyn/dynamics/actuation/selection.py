"""Which generalised forces motors can make: the selection matrix, and the matrix of any set of actuators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.chain import configuration
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot


@runtime_checkable
class Actuator(Protocol):
    """What moves a robot: anything whose rates are linear in the joint velocities."""

    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute B (..., k, nv): rates are B v, and efforts u act as B^T u."""
        ...


def selection(robot: Robot, passive: Sequence[str] = ()) -> Array:
    """Make the selection matrix S (n_actuated, nv): tau = S^T u, one row for each direction that a motor drives.

    Rows follow the order of v. The floating base has none, nor have joints named `passive`.

    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> S = kd.actuation.selection(robot, passive=["head_roll"])
    >>> S.shape, robot.nv
    ((29, 36), 36)
    """
    if isinstance(passive, str):
        raise InputError(f"passive is {passive!r}; give a sequence of names of joints")
    for name in passive:
        if name not in robot.joint_names:
            raise unknown_name("joint", name, robot.joint_names)
    driven = [robot.joint(name).v for name in robot.joint_names if name not in passive]
    places = [place for v in driven for place in range(v.start, v.stop)]
    S: Array = np.eye(robot.nv)[places]
    return S


def matrix(robot: Robot, q: ArrayLike, actuators: Sequence[Actuator | str]) -> Array:
    """Stack the rows of all actuators: B (..., n, nv), so that tau = B^T u and the actuators' rates are B v.

    An actuator is the name of a joint that has a motor of its own, or an object of this module.

    >>> import kinodyn as kd
    >>> robot = kd.load("planar2r")
    >>> tendon = kd.actuation.Piston("link1", "link2", point_a=(0.2, 0.1, 0.0), point_b=(0.2, 0.1, 0.0))
    >>> kd.actuation.matrix(robot, robot.neutral(), ["joint1", tendon]).shape
    (2, 2)
    """
    if isinstance(actuators, str) or not len(actuators):
        raise InputError(f"actuators must be a list of actuators and names of joints, got {actuators!r}")
    batch = configuration(robot, q).shape[:-1]
    parts = []
    for actuator in actuators:
        if isinstance(actuator, str):
            rows = np.eye(robot.nv)[own_joint(robot, actuator).v]
        elif isinstance(actuator, Actuator):
            rows = actuator.rows(robot, q)
        else:
            raise InputError(f"an actuator must have rows, or be the name of a joint, got {actuator!r}")
        parts.append(np.broadcast_to(rows, (*batch, *rows.shape[-2:])))
    return np.concatenate(parts, axis=-2)


def own_joint(robot: Robot, name: str) -> JointInfo:
    """Find a joint that has coordinates of its own and is not the floating base."""
    if name not in robot.joint_names:
        raise unknown_name("joint", name, robot.joint_names)
    return robot.joint(name)
