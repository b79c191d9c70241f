"""Manipulability and singularities: the singular values of a frame's Jacobian, and measures derived from them.

Every function takes the directions to consider as `part`: "all", "linear", "angular", or names out of x y z rx ry rz
separated by spaces, such as "x y" or "x y rz" for a planar arm. With fewer joints than directions the missing singular
values are zero: the arm is singular everywhere. `joints` names the joints that move; without it all do, a floating
base included.

Metres and radians cannot be compared. Where both occur, angular rows are multiplied by `characteristic_length` [m], and
all singular values are then in metres per unit of joint velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.checks import known_names, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

_DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
DECOMPOSED_AT_ONCE = 10_000  # Jacobians; Ctrl-C waits until NumPy has decomposed so many
_PARTS = {"all": (0, 1, 2, 3, 4, 5), "linear": (0, 1, 2), "angular": (3, 4, 5)}


@displayed
class Ellipsoid(NamedTuple):
    """An ellipsoid centred at the origin.

    Attributes
    ----------
    axes : (..., k, k) array
        Principal axes as unit vectors, one per column.
    radii : (..., k) array
        Semi-axis lengths along them.
    """

    axes: Array
    radii: Array


def manipulability(
    robot: Robot, q: ArrayLike, frame: str | int, *, part: str = "all", joints: Sequence[str] | None = None
) -> Array:
    """Compute Yoshikawa's manipulability measure, the product of the Jacobian's singular values.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    frame : str or int
    part
        Directions to consider: "all", "linear", "angular", or names out of x y z rx ry rz separated by spaces.
    joints
        Names of the joints that move; all, a floating base included, if not given.

    Returns
    -------
    measure : (...) array
        Zero at a singularity.

    Notes
    -----
    T. Yoshikawa, "Manipulability of robotic mechanisms", 1985, eq. 10.

    Examples
    --------
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
    """Compute the singular values of the Jacobian.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    frame : str or int
    part
        Directions to consider: "all", "linear", "angular", or names out of x y z rx ry rz separated by spaces.
    characteristic_length
        Length [m] that is weighted like one radian if `part` contains both linear and angular directions.
    joints
        Names of the joints that move; all, a floating base included, if not given.

    Returns
    -------
    values : (..., k) array
        One for each of the k directions of `part`, in descending order.
    """
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
    """Compute the ratio of the largest to the smallest singular value of the Jacobian.

    Parameters
    ----------
    robot, q, frame, part, characteristic_length, joints
        As for `singular_values`.

    Returns
    -------
    ratio : (...) array
        1 is best; infinite at a singularity.

    Notes
    -----
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
    """Return whether the smallest singular value of the Jacobian is below a threshold.

    Parameters
    ----------
    robot, q, frame
        As for `singular_values`.
    threshold
        Bound [m or rad per unit of joint velocity]. Below it, some unit velocity of the frame requires joint velocities
        of norm above 1 / threshold.
    part, characteristic_length, joints
        As for `singular_values`.

    Returns
    -------
    singular : (...) array of bool
    """
    positive("threshold", threshold)
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
    """Compute the ellipsoid of frame velocities that joint velocities of norm 1 produce.

    Parameters
    ----------
    robot, q, frame, part, characteristic_length, joints
        As for `singular_values`.

    Returns
    -------
    ellipsoid : Ellipsoid
        In world axes, longest radius first.

    Notes
    -----
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
    """Compute the ellipsoid of forces at a frame that joint efforts of norm 1 balance.

    Parameters
    ----------
    robot, q, frame, part, characteristic_length, joints
        As for `singular_values`.

    Returns
    -------
    ellipsoid : Ellipsoid
        In world axes, shortest radius first. Its axes are those of the velocity ellipsoid, its radii their inverses:
        infinite where the structure carries the load without joint effort. Moments are divided by
        `characteristic_length`.

    Notes
    -----
    Siciliano, Sciavicco, Villani and Oriolo, "Robotics: Modelling, Planning and Control", 2009, section 3.9.
    """
    axes, radii = velocity_ellipsoid(
        robot, q, frame, part=part, characteristic_length=characteristic_length, joints=joints
    )
    return Ellipsoid(axes, np.divide(1.0, radii, out=np.full(radii.shape, np.inf), where=radii > 0.0))


def _jacobian(
    robot: Robot, q: ArrayLike, frame: str | int, part: str, length: float, joints: Sequence[str] | None
) -> Array:
    rows = part_rows(part)
    positive("characteristic_length", length)
    J = _core.jacobian(robot, q, frame, "local_world_aligned", None)[..., rows, :]
    if min(rows) < 3 <= max(rows):  # metres and radians together
        J = J * np.where(np.array(rows) < 3, 1.0, length)[:, None]
    return J if joints is None else J[..., _columns(robot, joints)]


def part_rows(part: str) -> list[int]:
    """Find the rows of a twist that `part` names, in ascending order."""
    names = part.split() if isinstance(part, str) else []
    if len(names) == 1 and part in _PARTS:
        return list(_PARTS[part])
    if not names or len(set(names)) != len(names) or not set(names) <= set(_DIRECTIONS):
        raise InputError(
            f"part must be 'all', 'linear', 'angular', or some of x y z rx ry rz such as 'x y rz', got {part!r}"
        )
    return sorted(_DIRECTIONS.index(name) for name in names)


def _columns(robot: Robot, joints: Sequence[str]) -> list[int]:
    columns = {joint.name: joint.v for joint in robot.joints if joint.mimic is None}
    names = known_names("joints", joints, "joint", columns)
    return [i for name in dict.fromkeys(names) for i in range(columns[name].start, columns[name].stop)]


def _singular_values(J: Array) -> Array:
    """Compute one singular value per row; those that a matrix with fewer columns does not have are zero."""
    rows, columns = J.shape[-2:]
    found = np.zeros((*J.shape[:-2], rows))
    if columns:
        flat, each = found.reshape(-1, rows), J.reshape(-1, rows, columns)
        for k in range(0, len(flat), DECOMPOSED_AT_ONCE):
            block = slice(k, k + DECOMPOSED_AT_ONCE)
            flat[block, : min(rows, columns)] = np.linalg.svd(each[block], compute_uv=False)
    return found
