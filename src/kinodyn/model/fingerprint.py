"""A hash of everything that kinematics and dynamics of a robot depend on."""

from __future__ import annotations

import hashlib

import numpy as np

from kinodyn.model.compile import body_table, compile_tree, frame_table
from kinodyn.model.robot import Robot, require_robot


def fingerprint(robot: Robot) -> str:
    """Return a hash of a robot: its joints, frames, inertias, limits, gravity, armature and damping.

    Names of links, joints and frames count, the name of the robot, its meshes and its named configurations do not.

    Parameters
    ----------
    robot : Robot

    Returns
    -------
    str
        16 hexadecimal digits.

    Examples
    --------
    >>> import kinodyn as kd
    >>> from kinodyn.model.fingerprint import fingerprint
    >>> fingerprint(kd.load("panda")) == fingerprint(kd.load("panda"))
    True
    """
    require_robot(robot)
    tree = compile_tree(robot.description)
    names = (*robot.frame_names, *(f"{joint.name}:{joint.kind}" for joint in robot.joints))
    limits = (getattr(robot.limits, name) for name in robot.limits.__dataclass_fields__)
    arrays = (body_table(tree.bodies), frame_table(list(tree.places.values())), robot.inertial_parameters, *limits)
    digest = hashlib.blake2b(digest_size=8)
    digest.update("\0".join(names).encode())
    for array in (*arrays, robot.gravity, robot.armature, robot.damping):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
