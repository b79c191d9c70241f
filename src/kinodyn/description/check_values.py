"""Validation of the numbers of a description: poses, masses, axes and limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.description.check_tree import fault
from kinodyn.description.messages import counted, listed, warn
from kinodyn.description.types import MAX_NUMBER, Description, Frame, Inertia, Joint, JointKind, Link

HAS_AXIS = ("revolute", "continuous", "prismatic", "planar")

# Readers normalise unit vectors and rotations, so they are exact up to rounding.
UNIT_TOLERANCE = 1e-9

# Rounding of six printed digits and cancellation: relative to the largest moment, and in kg m^2.
RELATIVE_ROUNDING = 1e-6
ABSOLUTE_ROUNDING = 1e-12

# A negative moment [kg m^2] up to that of a gram at a centimetre is harmless; dummy links of real robots have them.
NEGLIGIBLE_MOMENT = 1e-7


def check_transforms(description: Description) -> None:
    """Check that every pose is a finite rigid transform."""
    owners, transforms = [], []
    for part, what, T in _placements(description):
        T = np.asarray(T, dtype=float)
        if T.shape != (4, 4):
            raise fault(description, part, f"{what} must be a (4, 4) pose, got shape {T.shape}")
        owners.append((part, what))
        transforms.append(T)
    if not transforms:
        return
    stack = np.stack(transforms)
    rigid = _are_rigid(stack)
    if rigid.all():
        return
    first = int(np.argmin(rigid))
    part, what = owners[first]
    if not (np.abs(stack[first]) <= MAX_NUMBER).all():
        raise fault(description, part, f"{what} is not finite, or its numbers are above {MAX_NUMBER:g}")
    raise fault(description, part, f"{what} is not rigid; its rotation must be orthonormal and right-handed")


def _placements(description: Description) -> Iterator[tuple[Link | Joint | Frame, str, Array]]:
    for joint in description.joints:
        yield joint, "T_parent_child", joint.T_parent_child
    for frame in description.frames:
        yield frame, "T_link_frame", frame.T_link_frame
    for link in description.links:
        for shape in (*link.visuals, *link.collisions):
            yield link, f"T_link_shape of a {shape.kind}", shape.T_link_shape


def _are_rigid(T: Array) -> NDArray[np.bool_]:
    """Return for each of (n, 4, 4) matrices whether it is a finite rigid transform."""
    finite = np.asarray((np.abs(T) <= MAX_NUMBER).all(axis=(1, 2)))
    R = np.where(finite[:, None, None], T[:, :3, :3], 0.0)
    skewed = np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    last_row = (T[:, 3] == [0.0, 0.0, 0.0, 1.0]).all(axis=1)
    return np.asarray(finite & (skewed <= UNIT_TOLERANCE) & (np.linalg.det(R) > 0.0) & last_row)


def check_masses(description: Description) -> None:
    """Check masses, centres of mass and inertia matrices.

    A negative moment of inertia is an error. A physically inconsistent one, whose largest principal moment exceeds the
    sum of the others, is a warning: a quarter of the files in example-robot-data have such links, and the algorithms
    still work.
    """
    with_inertia = []
    for link in description.links:
        if link.inertia is not None:
            _check_inertia_numbers(description, link, link.inertia)
            with_inertia.append((link, link.inertia))
    if not with_inertia:
        return
    moments = np.linalg.eigvalsh(np.stack([np.asarray(inertia.matrix, dtype=float) for _, inertia in with_inertia]))
    inconsistent = []
    for (link, inertia), (small, middle, large) in zip(with_inertia, moments.tolist(), strict=True):
        if small < -max(NEGLIGIBLE_MOMENT, RELATIVE_ROUNDING * large):
            message = f"inertia has the negative principal moment {small:.3g} kg m^2; all three must be at least 0"
            raise fault(description, link, message)
        rounding = RELATIVE_ROUNDING * large + ABSOLUTE_ROUNDING
        if large - middle - small > rounding or (inertia.mass == 0.0 and large > rounding):
            inconsistent.append(link.name)
    if inconsistent:
        rule = "principal moments must satisfy a + b >= c, and be 0 without mass"
        message = f"{counted(len(inconsistent), 'link')} with a physically inconsistent inertia: {listed(inconsistent)}"
        warn(f"correct {message}; {rule}", description.source)


def _check_inertia_numbers(description: Description, link: Link, inertia: Inertia) -> None:
    if not 0.0 <= inertia.mass <= MAX_NUMBER:
        raise fault(description, link, f"mass must be finite and nonnegative [kg], got {inertia.mass}")
    for what, value, shape in (("centre of mass", inertia.com, (3,)), ("inertia", inertia.matrix, (3, 3))):
        array = np.asarray(value, dtype=float)
        if array.shape != shape:
            raise fault(description, link, f"{what} must be {shape}, got shape {array.shape}")
        if not (np.abs(array) <= MAX_NUMBER).all():
            raise fault(description, link, f"{what} is not finite, or too large: {array.tolist()}")
    matrix = np.asarray(inertia.matrix, dtype=float)
    if np.abs(matrix - matrix.T).max() > RELATIVE_ROUNDING * np.abs(matrix).max():
        raise fault(description, link, f"inertia is not symmetric: {matrix.tolist()}")


def check_joints(description: Description) -> None:
    """Check the kind, axis, limits and friction of every joint."""
    kinds = get_args(JointKind)
    for joint in description.joints:
        if joint.kind not in kinds:
            raise fault(description, joint, f"kind must be one of {', '.join(kinds)}, got {joint.kind!r}")
        if joint.kind in HAS_AXIS:
            _check_axis(description, joint)
        _check_limits(description, joint)
        if not abs(joint.reference) <= MAX_NUMBER:
            raise fault(description, joint, f"reference position must be finite, got {joint.reference}")
        for what in ("damping", "friction", "armature"):
            value = getattr(joint, what)
            if not 0.0 <= value <= MAX_NUMBER:
                raise fault(description, joint, f"{what} must be finite and nonnegative, got {value}")
        mimic = joint.mimic
        if mimic and not (abs(mimic.multiplier) <= MAX_NUMBER and abs(mimic.offset) <= MAX_NUMBER):
            raise fault(description, joint, f"{mimic} is not finite, or above {MAX_NUMBER:g}")


def _check_axis(description: Description, joint: Joint) -> None:
    axis = np.asarray(joint.axis, dtype=float)
    if axis.shape != (3,):
        raise fault(description, joint, f"axis must be (3,), got shape {axis.shape}")
    length = math.hypot(*axis.tolist())
    if not abs(length - 1.0) <= UNIT_TOLERANCE:
        raise fault(description, joint, f"axis must be a unit vector, got {axis.tolist()} of length {length:.6g}")


def _check_limits(description: Description, joint: Joint) -> None:
    if math.isnan(joint.lower) or math.isnan(joint.upper):
        raise fault(description, joint, f"limits must be numbers, got [{joint.lower}, {joint.upper}]")
    if joint.lower > joint.upper:
        raise fault(description, joint, f"lower limit {joint.lower} is above upper limit {joint.upper}; swap them")
    if joint.lower == math.inf or joint.upper == -math.inf:
        raise fault(description, joint, f"limits [{joint.lower}, {joint.upper}] allow no finite position")
    for what in ("velocity", "effort"):
        value = getattr(joint, what)
        if not value >= 0.0:
            raise fault(description, joint, f"{what} limit must be nonnegative, or infinite for no limit, got {value}")
