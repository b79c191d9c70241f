"""Robots from Denavit-Hartenberg parameters, in the standard and the modified convention."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import one_pose, vector
from kinodyn.description.types import Description, Frame, Inertia, Joint, JointKind, Link
from kinodyn.description.validation import validate
from kinodyn.display import displayed
from kinodyn.errors import InputError

Convention = Literal["standard", "modified"]
_JOINTS = ("revolute", "prismatic", "fixed")
_SCALARS = ("a", "alpha", "d", "theta", "lower", "upper", "velocity", "effort", "damping", "friction", "armature")


@displayed
@dataclass(frozen=True, eq=False)
class DH:
    """One row of a Denavit-Hartenberg table: a joint and the link it moves.

    Parameters
    ----------
    a, alpha, d, theta
        The four parameters at zero position: [m], [rad], [m], [rad].
    joint
        "revolute" adds its position to `theta`, "prismatic" to `d`; "fixed" has no position.
    lower, upper
        Position limits [rad or m]; a revolute joint without limits is continuous.
    velocity, effort
        Limits of velocity [rad/s or m/s] and effort [N m or N].
    damping, friction, armature
        Damping, dry friction and armature of the joint: [N m s/rad or N s/m], [N m or N], [kg m^2 or kg].
    mass
        Mass of the link [kg].
    com
        Centre of mass (3,) of the link in the frame of this row [m].
    inertia
        Inertia (3, 3) about the CoM [kg m^2], in the axes of this row; zero, a point mass, if not given.
    name
        Name of the joint; "joint1" and so on if not given.
    """

    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    joint: Literal["revolute", "prismatic", "fixed"] = "revolute"
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    mass: float | None = None
    com: ArrayLike | None = None
    inertia: ArrayLike | None = None
    name: str | None = None


@check_types
def description_from_dh(
    rows: Sequence[DH],
    *,
    convention: Convention = "standard",
    base: MatrixLike | None = None,
    tool: MatrixLike | None = None,
    name: str = "dh",
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
) -> Description:
    """Create the description of a serial robot from the rows of its DH table.

    Frame i of the table is the frame of the link "link<i>", frame 0 that of the link "base".

    Parameters
    ----------
    rows
        One `DH` for each joint, from the base outwards.
    convention
        "standard": T_(i-1)_i = Rz(theta) Tz(d) Tx(a) Rx(alpha), each joint about the z axis of the frame before it
        (Denavit and Hartenberg 1955, Spong); "modified": T_(i-1)_i = Rx(alpha) Tx(a) Rz(theta) Tz(d), each joint
        about the z axis of its own frame (Craig).
    base
        Pose of frame 0 in the world, `(4, 4)` or a SciPy `RigidTransform`; if given, "base" is fixed to a link "world".
    tool
        Pose of the frame "tool" in the last link. The end effector "tool" is this frame, or the last link if not given.
    name
        Name of the robot.
    gravity
        Gravity in the world [m/s^2].

    Returns
    -------
    description : Description

    Examples
    --------
    >>> arm = description_from_dh([DH(a=0.3), DH(a=0.2)])
    >>> [joint.name for joint in arm.joints if joint.kind != "fixed"]
    ['joint1', 'joint2']
    """
    _check_rows(rows)
    down = vector("gravity", gravity, 3)
    joints = [] if base is None else [Joint("base_fixed", "fixed", "world", "base", _pose(base, "base"))]
    links = [] if base is None else [Link("world")]
    links.append(Link("base"))
    for number, row in enumerate(rows, start=1):
        chain = list(_standard(number, row) if convention == "standard" else _modified(number, row))
        links += [Link(joint.child) for joint in chain[:-1]]
        links.append(Link(f"link{number}", _inertia(number, row)))
        joints += chain
    tip = f"link{len(rows)}"
    description = Description(
        name=name,
        links=tuple(links),
        joints=tuple(joints),
        frames=() if tool is None else (Frame("tool", tip, _pose(tool, "tool")),),
        chains={"arm": tuple(joint.name for joint in joints if joint.kind != "fixed")},
        end_effectors={"tool": tip if tool is None else "tool"},
        gravity=(float(down[0]), float(down[1]), float(down[2])),
    )
    validate(description)
    return description


def _standard(number: int, row: DH) -> Iterator[Joint]:
    """Yield the joint of a row about the z axis of the previous frame, and the links and joints up to the row's frame.

    A joint moves its child about an axis through the child's origin. The origin of frame i is on the axis only if a is
    zero; otherwise the joint moves a massless link in frame i - 1, to which link i is fixed. Prismatic joints need
    none.
    """
    parent, link = _parent(number), f"link{number}"
    T_before_row = _screw_z(row.theta, row.d) @ _screw_x(row.alpha, row.a)
    # The z axis of frame i - 1 in the axes of frame i: the rotation about x by -alpha.
    z_before = np.array([0.0, math.sin(row.alpha), math.cos(row.alpha)])
    if row.joint != "revolute" or row.a == 0.0:
        yield _joint(number, row, parent, link, T_before_row, z_before)
        return
    between = f"{link}/{_joint_name(number, row)}"
    yield _joint(number, row, parent, between, np.eye(4), np.array([0.0, 0.0, 1.0]))
    yield Joint(f"{link}_fixed", "fixed", between, link, T_before_row)


def _modified(number: int, row: DH) -> Iterator[Joint]:
    """Yield the joint of a row about the z axis of the row's own frame."""
    T_before_row = _screw_x(row.alpha, row.a) @ _screw_z(row.theta, row.d)
    yield _joint(number, row, _parent(number), f"link{number}", T_before_row, np.array([0.0, 0.0, 1.0]))


def _joint(number: int, row: DH, parent: str, child: str, T_parent_child: Array, axis: Array) -> Joint:
    unlimited = row.joint == "revolute" and math.isinf(row.lower) and math.isinf(row.upper)
    kind: JointKind = "continuous" if unlimited else row.joint
    return Joint(
        name=_joint_name(number, row),
        kind=kind,
        parent=parent,
        child=child,
        T_parent_child=T_parent_child,
        axis=axis,
        lower=float(row.lower),
        upper=float(row.upper),
        velocity=float(row.velocity),
        effort=float(row.effort),
        damping=float(row.damping),
        friction=float(row.friction),
        armature=float(row.armature),
    )


def _joint_name(number: int, row: DH) -> str:
    return f"joint{number}" if row.name is None else row.name


def _parent(number: int) -> str:
    return f"link{number - 1}" if number > 1 else "base"


def _inertia(number: int, row: DH) -> Inertia | None:
    if row.mass is None:
        for given in ("com", "inertia"):
            if getattr(row, given) is not None:
                raise InputError(f"DH row {number} has {given} but no mass; give the mass too")
        return None
    com = _numbers(number, "com", row.com, (3,))
    return Inertia(float(row.mass), com, _numbers(number, "inertia", row.inertia, (3, 3)))


def _numbers(number: int, field: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    """Return the value as an array of `shape`, zeros if None."""
    if value is None:
        return np.zeros(shape)
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"DH row {number}: {field} must be numbers of shape {shape}, got {value!r}") from cause
    if array.shape != shape:
        raise InputError(f"DH row {number}: {field} must have shape {shape}, got {array.shape}")
    return array


def _check_rows(rows: Sequence[DH]) -> None:
    if not isinstance(rows, Sequence) or not rows:
        raise InputError(f"rows must be a list of DH rows, at least one, got {rows!r}")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, DH):
            raise InputError(
                f"DH row {number} must be DH(a=..., alpha=..., d=..., theta=...), got a {type(row).__name__}"
            )
        if row.joint not in _JOINTS:
            raise InputError(
                f"DH row {number}: joint must be one of {', '.join(map(repr, _JOINTS))}, got {row.joint!r}"
            )
        for field in _SCALARS:
            _numbers(number, field, getattr(row, field), ())
        for field in ("a", "alpha", "d", "theta"):
            if not math.isfinite(getattr(row, field)):
                raise InputError(f"DH row {number}: {field} must be a finite number, got {getattr(row, field)}")


def _screw_x(angle: float, shift: float) -> Array:
    return _screw(np.array([1.0, 0.0, 0.0]), angle, shift)


def _screw_z(angle: float, shift: float) -> Array:
    return _screw(np.array([0.0, 0.0, 1.0]), angle, shift)


def _screw(axis: Array, angle: float, shift: float) -> Array:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(angle * axis).as_matrix()
    T[:3, 3] = shift * axis
    return T


def _pose(value: MatrixLike, what: str) -> Array:
    """Return a copy of one pose `(4, 4)`."""
    return np.array(one_pose(what, value))
