"""Build a MuJoCo model from a Pinocchio one: same bodies, no shapes, no contacts, nothing but rigid body motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

from setups import Array


def build(model: Any, sites: Sequence[str]) -> mujoco.MjModel:
    """Build the `MjModel` with one body per moving joint and one site per frame name in `sites`."""
    spec = mujoco.MjSpec()
    spec.option.gravity = model.gravity.linear
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT)
    bodies = [spec.worldbody]
    for index in range(1, model.njoints):
        body = bodies[model.parents[index]].add_body(name=f"body_{index}", **pose(model.jointPlacements[index]))
        inertia = model.inertias[index]
        body.mass, body.ipos = inertia.mass, inertia.lever
        about_com = inertia.inertia[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
        body.fullinertia = about_com  # xx yy zz xy xz yz
        body.explicitinertial = True
        add_joint(body, model, index)
        bodies.append(body)
    for name in sites:
        frame = model.frames[model.getFrameId(name)]
        bodies[frame.parentJoint].add_site(name=name, **pose(frame.placement))
    return spec.compile()


def pose(placement: Any) -> dict[str, Any]:
    """Write a Pinocchio placement as MuJoCo's position and (w, x, y, z) quaternion."""
    x, y, z, w = pin.Quaternion(placement.rotation).coeffs()
    return {"pos": placement.translation, "quat": [w, x, y, z]}


def add_joint(body: Any, model: Any, index: int) -> None:
    """Add the joint that moves `body`."""
    joint = model.joints[index]
    if joint.nv == 6:
        body.add_freejoint(name=model.names[index])
        return
    if joint.nv != 1:
        raise ValueError(f"joint {model.names[index]!r}: {joint.shortname()} is not part of this benchmark")
    linear, angular = np.asarray(joint.createData().S).reshape(2, 3)
    revolute = bool(angular.any())
    body.add_joint(
        name=model.names[index],
        type=mujoco.mjtJoint.mjJNT_HINGE if revolute else mujoco.mjtJoint.mjJNT_SLIDE,
        axis=angular if revolute else linear,
        armature=model.armature[joint.idx_v],
    )


def to_mujoco(states: dict[str, Array], *, floating: bool) -> tuple[dict[str, Array], Array]:
    """Convert states, and give the matrices `X` `(batch, nv, nv)` that take kinodyn's velocities to MuJoCo's.

    MuJoCo's quaternion starts with w, and the linear part of its base velocity is in world axes; each X is orthogonal,
    so it turns torques too.
    """
    q, v, a, tau = (states[name] for name in ("q", "v", "a", "tau"))
    X = np.tile(np.eye(v.shape[1]), (len(v), 1, 1))
    if floating:
        X[:, :3, :3] = [pin.Quaternion(quaternion).matrix() for quaternion in q[:, 3:7]]
        q, a = q.copy(), a.copy()
        q[:, 3:7] = q[:, [6, 3, 4, 5]]
        a[:, :3] += np.cross(v[:, 3:6], v[:, :3])
    turned = {name: np.einsum("bij,bj->bi", X, value) for name, value in (("v", v), ("a", a), ("tau", tau))}
    return {"q": q, **turned}, X
