"""Joint data of a description as arrays over q and v indices: limits, constants, neutral and sampled positions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, copied_on_access
from kinodyn.description.mimics import combine_limits, find_leaders
from kinodyn.description.types import Description
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.compile import DOFS, JointInfo, Tree

MAX_SAMPLED_ROTATION = 4 * math.pi  # [rad] a revolute joint with a wider range is sampled over one turn
MAX_SAMPLED_TRANSLATION = 100.0  # [m] wider ranges, such as 999999 for mobile bases, mean that there is no limit
SAMPLED_AT_ONCE = 100_000  # configurations; Ctrl-C waits until NumPy has drawn so many


@displayed
@copied_on_access("lower", "upper", "velocity", "effort")
@dataclass(frozen=True, eq=False, kw_only=True)
class Limits:
    """Limits of the coordinates, infinite where there are none.

    Those of mimic joints are included: the position and velocity limits of a joint ensure that all joints that follow
    it stay within theirs. Effort limits are those of the joint alone, because a description does not say how the load
    is shared between a joint and its followers.

    Attributes
    ----------
    lower, upper : (nq,)
        Positions [rad or m].
    velocity : (nv,)
        [rad/s or m/s]
    effort : (nv,)
        [N m or N]
    """

    lower: Array
    upper: Array
    velocity: Array
    effort: Array


def joint_limits(tree: Tree, description: Description) -> Limits:
    """Collect the limits of all coordinates."""
    lower, upper = np.full(tree.nq, -math.inf), np.full(tree.nq, math.inf)
    velocity, effort = np.full(tree.nv, math.inf), np.full(tree.nv, math.inf)
    joints = {joint.name: joint for joint in description.joints}
    combined = combine_limits(description)
    for info in tree.joints:
        if info.mimic is not None:
            continue
        velocity[info.v], effort[info.v] = joints[info.name].velocity, joints[info.name].effort
        if info.name in combined:
            own = combined[info.name]
            lower[info.q], upper[info.q], velocity[info.v] = own.lower.value, own.upper.value, own.velocity.value
    return Limits(lower=lower, upper=upper, velocity=velocity, effort=effort)


def joint_constants(tree: Tree, description: Description) -> dict[str, Array]:
    """Collect armature, damping and friction (nv,); those of a mimic joint are added to the joint that it follows."""
    constants = {name: np.zeros(tree.nv) for name in ("armature", "damping", "friction")}
    joints = {joint.name: joint for joint in description.joints}
    for name, leader in find_leaders(tree.joints).items():
        joint, v, rate = joints[name], leader.joint.v, leader.multiplier
        constants["armature"][v] += rate * rate * joint.armature
        constants["damping"][v] += rate * rate * joint.damping
        constants["friction"][v] += abs(rate) * joint.friction
    return constants


def checked_constant(name: str, value: ArrayLike, nv: int) -> Array:
    """Validate gravity (3,), armature or damping (nv,) given by the user; one number applies to all joints."""
    size = 3 if name == "gravity" else nv
    try:
        result = np.array(np.broadcast_to(np.asarray(value, dtype=float), (size,)))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be a number or an array of shape ({size},)") from error
    if not np.isfinite(result).all() or (name != "gravity" and (result < 0).any()):
        raise InputError(f"{name} must be finite" + ("" if name == "gravity" else " and not negative"))
    return result


def neutral_configuration(tree: Tree, description: Description) -> Array:
    """Return the configuration (nq,) of zeros, or reference positions, and unit quaternions."""
    q = np.zeros(tree.nq)
    references = {joint.name: joint.reference for joint in description.joints}
    for info in tree.joints:
        if info.mimic is not None:
            continue
        if info.kind in ("ball", "floating"):
            q[info.q.stop - 1] = 1.0
        elif DOFS[info.kind] == 1:
            q[info.q] = references[info.name]
    return q


def sampling_range(joints: tuple[JointInfo, ...], limits: Limits) -> tuple[Array, Array]:
    """Return finite bounds (nq,): the limits or, if they are too wide, one turn or 2 m within them, closest to 0."""
    lower, upper = limits.lower.copy(), limits.upper.copy()
    for joint in joints:
        rotary = np.full(joint.q.stop - joint.q.start, joint.kind in ("revolute", "continuous"))
        if joint.kind == "planar":
            rotary[2] = True
        half = np.where(rotary, math.pi, 1.0)
        low, high = lower[joint.q], upper[joint.q]
        wide = high - low > np.where(rotary, MAX_SAMPLED_ROTATION, MAX_SAMPLED_TRANSLATION)
        middle = np.clip(0.0, low + half, high - half)
        lower[joint.q] = np.where(wide, np.maximum(middle - half, low), low)
        upper[joint.q] = np.where(wide, np.minimum(middle + half, high), high)
    return lower, upper


def sample(
    joints: tuple[JointInfo, ...], bounds: tuple[Array, Array], shape: tuple[int, ...], generator: np.random.Generator
) -> Array:
    """Sample configurations (*shape, nq) uniformly within bounds, quaternions uniformly."""
    q = np.empty((*shape, len(bounds[0])))
    rows = q.reshape(math.prod(shape), q.shape[-1])
    blocks = [rows[k : k + SAMPLED_AT_ONCE] for k in range(0, len(rows), SAMPLED_AT_ONCE)]
    for block in blocks:
        block[:] = generator.uniform(*bounds, size=block.shape)
    for joint in joints:
        if joint.kind in ("ball", "floating") and joint.mimic is None:
            for block in blocks:
                u = generator.normal(size=(len(block), 4))
                block[:, joint.q.stop - 4 : joint.q.stop] = u / np.linalg.norm(u, axis=-1, keepdims=True)
    return q
