"""How well a frame can move and push at a configuration: singular values of its Jacobian, and what follows from them.

Every function takes the directions that count as `part`: "all", "linear", "angular", or names out of x y z rx ry rz
with spaces between, such as "x y" or "x y rz" for an arm in a plane. With fewer joints than directions the missing
singular values are zero: the arm is singular everywhere. `joints` names the joints that may move; without it all do, a
floating base included.

Metres and radians cannot be compared. Where both occur, `characteristic_length` [m] says how many metres count as much
as one radian: angular rows are multiplied by it, and all singular values are then in metres per unit of joint rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot

_DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
_PARTS = {"all": (0, 1, 2, 3, 4, 5), "linear": (0, 1, 2), "angular": (3, 4, 5)}


class Ellipsoid(NamedTuple):
    """An ellipsoid about the origin: `axes` (..., k, k), a unit vector per column, and `radii` (..., k) along them."""

    axes: Array
    radii: Array


def manipulability(
    robot: Robot, q: ArrayLike, frame: str | int, *, part: str = "all", joints: Sequence[str] | None = None
) -> Array:
    """Compute Yoshikawa's measure (...), the product of the Jacobian's singular values; zero at a singularity.

    T. Yoshikawa, "Manipulability of robotic mechanisms", 1985, eq. 10.

    >>> import kinodyn as kd
    >>> robot = kd.load("planar2r")  # l1 l2 |sin q2|
    >>> print(kd.kinematics.manipulability(robot, [0.3, 0.5], "link2", part="x y").round(4), np.sin(0.5).round(4))
    0.4794 0.4794
    """
    result: Array = np.prod(_singular_values(_jacobian(robot, q, frame, part, 1.0, joints)), axis=-1)
    return result


def singular_values(
    robot: Robot,
    q: ArrayLike,
    frame: str | int,
    *,
    part: str = "all",
    characteristic_length: float = 1.0,
    joints: Sequence[str] | None = None,
) -> Array:
    """Compute the singular values (..., k) of the Jacobian for the k directions of `part`, greatest first."""
    return _singular_values(_jacobian(robot, q, frame, part, characteristic_length, joints))


def condition_number(
    robot: Robot,
    q: ArrayLike,
    frame: str | int,
    *,
    part: str = "all",
    characteristic_length: float = 1.0,
    joints: Sequence[str] | None = None,
) -> Array:
    """Compute the ratio (...) of the greatest to the smallest singular value: 1 is best, infinite at a singularity.

    J. K. Salisbury and J. J. Craig, "Articulated hands: force control and kinematic issues", 1982.
    """
    s = singular_values(robot, q, frame, part=part, characteristic_length=characteristic_length, joints=joints)
    greatest, smallest = s[..., 0], s[..., -1]
    result: Array = np.divide(greatest, smallest, out=np.full(s.shape[:-1], np.inf), where=smallest > 0.0)
    return result


def is_singular(
    robot: Robot,
    q: ArrayLike,
    frame: str | int,
    *,
    threshold: float = 1e-3,
    part: str = "all",
    characteristic_length: float = 1.0,
    joints: Sequence[str] | None = None,
) -> np.ndarray:
    """Tell (...) whether the smallest singular value is below `threshold` [m or rad per unit of joint rate].

    There is then a direction in which the frame moves by less than `threshold` when the joints move by one: a speed
    of 1 that way takes a joint rate above 1 / threshold. `singular_values` gives the values themselves.
    """
    if not _is_positive(threshold):
        raise InputError(f"threshold is {threshold!r}; give a number above 0")
    s = singular_values(robot, q, frame, part=part, characteristic_length=characteristic_length, joints=joints)
    return np.asarray(s[..., -1] < threshold)


def velocity_ellipsoid(
    robot: Robot,
    q: ArrayLike,
    frame: str | int,
    *,
    part: str = "linear",
    characteristic_length: float = 1.0,
    joints: Sequence[str] | None = None,
) -> Ellipsoid:
    """Find the ellipsoid of velocities that joint rates of norm 1 give, in world axes, longest radius first.

    Siciliano, Sciavicco, Villani and Oriolo, "Robotics: Modelling, Planning and Control", 2009, section 3.9.
    """
    J = _jacobian(robot, q, frame, part, characteristic_length, joints)
    axes, _, _ = np.linalg.svd(J, full_matrices=True)
    return Ellipsoid(axes, _singular_values(J))


def force_ellipsoid(
    robot: Robot,
    q: ArrayLike,
    frame: str | int,
    *,
    part: str = "linear",
    characteristic_length: float = 1.0,
    joints: Sequence[str] | None = None,
) -> Ellipsoid:
    """Find the ellipsoid of forces that joint efforts of norm 1 hold, in world axes, shortest radius first.

    Its axes are those of the velocities, its radii their inverses: infinite where the structure carries the load.
    Moments count divided by `characteristic_length`. Reference as for `velocity_ellipsoid`.
    """
    axes, radii = velocity_ellipsoid(
        robot, q, frame, part=part, characteristic_length=characteristic_length, joints=joints
    )
    return Ellipsoid(axes, np.divide(1.0, radii, out=np.full(radii.shape, np.inf), where=radii > 0.0))


def _jacobian(
    robot: Robot, q: ArrayLike, frame: str | int, part: str, length: float, joints: Sequence[str] | None
) -> Array:
    rows = part_rows(part)
    if not _is_positive(length):
        raise InputError(f"characteristic_length is {length!r}; give a length above 0 [m]")
    J = _core.jacobian(robot, q, frame, "aligned", None)[..., rows, :]
    if min(rows) < 3 <= max(rows):  # metres and radians together
        J = J * np.where(np.array(rows) < 3, 1.0, length)[:, None]
    return J if joints is None else J[..., _columns(robot, joints)]


def part_rows(part: str) -> list[int]:
    """Find the rows of a twist that `part` names, in order."""
    names = part.split() if isinstance(part, str) else []
    if len(names) == 1 and part in _PARTS:
        return list(_PARTS[part])
    if not names or len(set(names)) != len(names) or not set(names) <= set(_DIRECTIONS):
        raise InputError(
            f"part must be 'all', 'linear' or 'angular', got {part!r}; or names out of x y z rx ry rz, as in 'x y rz'"
        )
    return sorted(_DIRECTIONS.index(name) for name in names)


def _columns(robot: Robot, joints: Sequence[str]) -> list[int]:
    if isinstance(joints, str) or not all(isinstance(name, str) for name in joints):
        raise InputError(f"joints is {joints!r}; give a sequence of names of joints")
    places = {joint.name: joint.v for joint in robot.joints if joint.mimic is None}
    for name in joints:
        if name not in places:
            raise unknown_name("joint", name, places)
    return [i for name in dict.fromkeys(joints) for i in range(places[name].start, places[name].stop)]


def _singular_values(J: Array) -> Array:
    """Compute one singular value per row, zeros for those that a matrix with fewer columns does not have."""
    rows, columns = J.shape[-2:]
    found = np.linalg.svd(J, compute_uv=False) if columns else np.zeros((*J.shape[:-2], 0))
    missing = np.zeros((*J.shape[:-2], max(0, rows - columns)))
    return np.concatenate([found, missing], axis=-1)


def _is_positive(value: object) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return number and 0.0 < float(value) < np.inf  # type: ignore[arg-type]
