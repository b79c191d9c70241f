"""Checks of closed-form solutions: all branches reach the target, and a given configuration is among them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import kinodyn as kd
from kinodyn.ik import AnalyticSolutions


def puma_with_offset_wrist() -> kd.Robot:
    """Return a Puma 560 whose wrist axes miss each other by 0.06 mm."""
    description = kd.load("puma560").description
    joints = list(description.joints)
    last = [k for k, joint in enumerate(joints) if joint.kind != "fixed"][-1]
    T = joints[last].T_parent_child.copy()
    T[:3, 3] += T[:3, :3] @ [6e-5, 0.0, 0.0]
    joints[last] = replace(joints[last], T_parent_child=T)
    return kd.Robot(replace(description, joints=tuple(joints)))


def assert_every_branch_reaches(robot: kd.Robot, found: AnalyticSolutions, T: np.ndarray, frame: str) -> None:
    q = found.q[found.valid]
    gap = (
        kd.kinematics.pose(robot, q, frame)
        - np.broadcast_to(T[..., None, :, :], (*found.valid.shape, 4, 4))[found.valid]
    )
    gap = gap[..., :3, 3] if found.family == "planar 2R" else gap
    assert np.abs(gap).max() < 1e-9
    assert (q >= robot.limits.lower).all() and (q <= robot.limits.upper).all()


def assert_among(
    robot: kd.Robot, frame: str, found: AnalyticSolutions, q: np.ndarray, given: str | None = None
) -> None:
    """Check that q is a branch, as well as its pose tells it: the pose's rounding over the least singular value."""
    gap = found.q - q[..., None, :]
    gap -= 2 * np.pi * np.rint(gap / (2 * np.pi))
    nearest = np.where(found.valid, np.abs(gap).max(axis=-1), np.inf).min(axis=-1)
    columns = [robot.joint(name).v.start for name in found.joints if name != given]
    J = kd.kinematics.jacobian(robot, q, frame)[..., : 3 if found.family == "planar 2R" else 6, columns]
    least = np.linalg.svd(J, compute_uv=False)[..., -1]
    assert (nearest * least).max() < 1e-13
    assert np.median(nearest) < 1e-12
