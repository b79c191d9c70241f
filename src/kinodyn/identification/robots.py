"""Robots derived from others: with other parameters, or with some joints fixed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import known_names, numbers
from kinodyn.description.types import Joint
from kinodyn.errors import InputError
from kinodyn.identification.inertias import as_inertia, is_physically_consistent
from kinodyn.model.compile import JointInfo, link_order
from kinodyn.model.robot import Robot


@check_types
def with_parameters(
    robot: Robot,
    parameters: ArrayLike,
    *,
    damping: ArrayLike | None = None,
    friction: ArrayLike | None = None,
    armature: ArrayLike | None = None,
) -> Robot:
    """Return a robot with other inertial parameters.

    The first link of a body gets the inertia of the whole body; links fixed to it become massless. The result can be
    written by `kd.write_urdf(result.description, path)`, but URDF has no armature.

    Parameters
    ----------
    robot : Robot
    parameters : (10 n,)
        In the order of `Robot.inertial_parameters`.
    damping, friction, armature : (nv,), optional
        By default those of the robot.

    Returns
    -------
    Robot

    Raises
    ------
    InputError
        If parameters are not physically consistent; the message names the links.
    """
    values = numbers("parameters", parameters, len(robot.inertial_parameters)).reshape(-1, 10)
    consistent = is_physically_consistent(values.ravel())
    impossible = [link for link, ok in zip(robot.parameter_links, consistent, strict=True) if not ok]
    if impossible:
        raise InputError(
            f"the parameters of {', '.join(impossible)} are not physically consistent;"
            " see kd.identification.is_physically_consistent"
        )
    inertias = {link: as_inertia(ten) for link, ten in zip(robot.parameter_links, values, strict=True)}
    carried = _carried(robot)
    links = tuple(
        replace(link, inertia=inertias[link.name])
        if link.name in inertias
        else replace(link, inertia=None)
        if link.name in carried
        else link
        for link in robot.description.links
    )
    constants = {"damping": robot.damping, "friction": robot.friction, "armature": robot.armature}
    given = {"damping": damping, "friction": friction, "armature": armature}
    for name, value in given.items():
        if value is not None:
            constants[name] = numbers(name, value, robot.nv)
    joints = tuple(_with_constants(robot, joint, constants) for joint in robot.description.joints)
    return Robot(replace(robot.description, links=links, joints=joints), gravity=robot.gravity)


@check_types
def sub_robot(robot: Robot, joints: Sequence[str], q: ArrayLike | None = None) -> Robot:
    """Return a robot in which only the named joints move, and all others are fixed.

    Mimic joints of a moving joint move too. Links that no moving joint carries become part of the ground.

    Parameters
    ----------
    robot : Robot
    joints : sequence of str
        The joints that move.
    q : (nq,), optional
        Configuration at which the others, also a floating base, are fixed; by default the neutral one.

    Returns
    -------
    Robot

    Examples
    --------
    >>> import kinodyn as kd
    >>> human = kd.load("humanoid")
    >>> arm = sub_robot(human, human.description.chains["left_arm"])
    >>> arm.nv, arm.base
    (7, 'fixed')
    """
    own = [joint.name for joint in robot.joints if joint.mimic is None]
    if not known_names("joints", joints, "joint", own):
        raise InputError("joints must be at least one name of a joint that moves, got none")
    q0 = robot.neutral() if q is None else numbers("q", q, robot.nq)
    free = {joint.name for joint in robot.joints if _source(robot, joint).name in joints}
    locked = {joint.name for joint in robot.joints} - free
    T = dict(zip(robot.frame_names, kinematics.poses(robot, q0), strict=True))
    parts = tuple(_locked(joint, T) if joint.name in locked else joint for joint in robot.description.joints)
    d = robot.description
    kept = {
        "configurations": {
            name: {joint: value for joint, value in positions.items() if joint not in locked}
            for name, positions in d.configurations.items()
        },
        "chains": {name: chain for name, chain in d.chains.items() if not locked & set(chain)},
    }
    constants = _chosen(robot, joints)
    return Robot(replace(d, joints=parts, base="fixed", **kept), **constants)  # type: ignore[arg-type]


def _chosen(robot: Robot, joints: Sequence[str]) -> dict[str, Array]:
    """Return the constants that replace those of the description, for the joints that move."""
    rows = np.concatenate([np.arange(j.v.start, j.v.stop) for j in robot.joints if j.name in joints])
    chosen: dict[str, Array] = robot.__dict__["_chosen"]
    return {name: value if name == "gravity" else value[rows] for name, value in chosen.items()}


def _locked(joint: Joint, T: dict[str, Array]) -> Joint:
    """Fix a joint at the current poses of its two links."""
    T_parent_child = np.asarray(np.linalg.solve(T[joint.parent], T[joint.child]), dtype=np.float64)
    T_parent_child[3] = 0.0, 0.0, 0.0, 1.0
    return Joint(joint.name, "fixed", joint.parent, joint.child, T_parent_child)


def _carried(robot: Robot) -> set[str]:
    """Return the links that are fixed to a moving body."""
    above = {joint.child: joint for joint in robot.description.joints}
    moved: dict[str, bool] = {}
    for link in link_order(robot.description):  # parents come first
        joint = above.get(link)
        moved[link] = joint is not None and (joint.kind != "fixed" or moved[joint.parent])
    return {link for link, moves in moved.items() if moves} - set(robot.parameter_links)


def _source(robot: Robot, joint: JointInfo) -> JointInfo:
    while joint.mimic is not None:
        joint = robot.joint(joint.mimic.joint)
    return joint


def _with_constants(robot: Robot, joint: Joint, constants: dict[str, Array]) -> Joint:
    """Return a joint with the constants of its coordinate; mimic joints then add nothing."""
    if joint.kind == "fixed":
        return joint
    info = robot.joint(joint.name)
    if info.mimic is not None:
        return replace(joint, damping=0.0, friction=0.0, armature=0.0)
    values = {name: value[info.v] for name, value in constants.items()}
    for name, value in values.items():
        if not math.isclose(value.min(), value.max(), abs_tol=1e-15):
            raise InputError(f"{name} of joint {joint.name!r} is {value}; a description has one number for a joint")
    damping, friction, armature = (float(values[name][0]) for name in ("damping", "friction", "armature"))
    return replace(joint, damping=damping, friction=friction, armature=armature)
