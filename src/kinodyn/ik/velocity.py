"""Joint velocities for desired twists: the textbook methods as small functions over any batch axes.

A task is a pair of a Jacobian J (..., m, n) and a desired twist J v (..., m): six rows for a frame, fewer for a part of
it, three for the CoM. Joint velocities v are (..., n). Singular values below `RANK_TOLERANCE` times the norm of J count
as zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array, MatrixLike, matvec
from kinodyn.checks import as_pose, broadcast, items, numbers, positive, shape_of
from kinodyn.errors import InputError
from kinodyn.model.chain import configuration
from kinodyn.model.robot import Robot
from kinodyn.spatial import pose_error

__all__ = [
    "adaptive_damping",
    "damped",
    "least_norm",
    "limit_avoidance",
    "limit_measure",
    "null_space",
    "prioritised",
    "resolved_rate",
    "stacked",
]

RANK_TOLERANCE = 1e-9

Task = tuple[ArrayLike, ArrayLike]
Mask = NDArray[np.bool_]


def null_space(J: ArrayLike) -> Array:
    """Compute the null space projector N = I - J^+ J: J N = 0, N N = N.

    Parameters
    ----------
    J : (..., m, n)

    Returns
    -------
    (..., n, n) array

    Notes
    -----
    A. Liegeois, "Automatic supervisory control of the configuration and behavior of multibody mechanisms", 1977.
    """
    _, _, Vt, regular = _decompose(_matrix("J", J))
    return _remove_rows(Vt, regular)


def least_norm(J: ArrayLike, twist: ArrayLike, null_velocity: ArrayLike | None = None) -> Array:
    """Compute the velocities of least norm that minimise `norm(J v - twist)`, plus a velocity in the null space.

    Parameters
    ----------
    J : (..., m, n)
    twist : (..., m)
        Desired J v.
    null_velocity : (..., n), optional
        Projected onto the null space of J and added.

    Returns
    -------
    (..., n) array

    Notes
    -----
    Siciliano, Sciavicco, Villani and Oriolo, "Robotics: Modelling, Planning and Control", 2009, eq. 3.54.

    Examples
    --------
    >>> print(least_norm([[1.0, 1.0]], [2.0]), least_norm([[1.0, 1.0]], [2.0], null_velocity=[3.0, 0.0]))
    [1. 1.] [ 2.5 -0.5]
    """
    return damped(J, twist, 0.0, null_velocity)


def damped(J: ArrayLike, twist: ArrayLike, damping: ArrayLike, null_velocity: ArrayLike | None = None) -> Array:
    """Minimise `norm(J v - twist)^2 + damping^2 norm(v)^2`, plus a velocity in the null space.

    The norm of v without `null_velocity` never exceeds `norm(twist) / (2 damping)`.

    Parameters
    ----------
    J : (..., m, n)
    twist : (..., m)
        Desired J v.
    damping : (...)
        In the units of J; 0 is equivalent to `least_norm`.
    null_velocity : (..., n), optional
        Projected onto the null space of J and added.

    Returns
    -------
    (..., n) array

    Notes
    -----
    C. W. Wampler, "Manipulator inverse kinematic solutions based on vector formulations and damped least-squares
    methods", 1986.
    """
    matrix, desired, factor = _task(J, twist, damping)
    U, s, Vt, regular = _decompose(matrix)
    v = _solve(U, s, Vt, regular, desired, factor)
    if null_velocity is None:
        return v
    free = numbers("null_velocity", null_velocity, matrix.shape[-1])
    projector, free = broadcast((_remove_rows(Vt, regular), 2), (free, 1))
    return np.asarray(v + matvec(projector, free))


def adaptive_damping(J: ArrayLike, *, threshold: float = 0.01, maximum: float = 0.1) -> Array:
    """Compute a damping for `damped` that is 0 above a threshold of manipulability and grows as it falls.

    Parameters
    ----------
    J : (..., m, n)
    threshold : float
        Manipulability, the product of the singular values of J, below which damping starts.
    maximum : float
        Damping at a singularity, in the units of J.

    Returns
    -------
    (...) array

    Notes
    -----
    Its square is the scale factor of Y. Nakamura and H. Hanafusa, "Inverse kinematic solutions with singularity
    robustness for robot manipulator control", 1986.
    """
    for what, value in (("threshold", threshold), ("maximum", maximum)):
        positive(what, value)
    measure = np.prod(np.linalg.svd(_matrix("J", J), compute_uv=False), axis=-1)
    return np.asarray(maximum * np.maximum(0.0, 1.0 - measure / threshold))


def resolved_rate(
    robot: Robot,
    q: ArrayLike,
    T_target: MatrixLike,
    frame: str | int,
    *,
    gain: ArrayLike = 1.0,
    feedforward: ArrayLike | None = None,
    damping: ArrayLike = 0.0,
    null_velocity: ArrayLike | None = None,
) -> Array:
    """Compute joint velocities that move a frame to a target pose, which may be moving.

    The error is the screw between the two poses; where the robot can follow, it decays as exp(-gain t).

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
        Configurations.
    T_target : (..., 4, 4)
        Target pose T_world_frame.
    frame : str or int
    gain : (...)
        [1/s]
    feedforward : (..., 6), optional
        Twist of the target at its origin in world axes, linear first [m/s, rad/s].
    damping, null_velocity
        As in `damped`.

    Returns
    -------
    (..., nv) array

    Notes
    -----
    K. M. Lynch and F. C. Park, "Modern Robotics", 2017, eq. 11.16, without its integral.
    """
    T = kinematics.pose(robot, q, frame)
    T_goal, T = broadcast((as_pose(T_target, "T_target"), 2), (T, 2))
    rate = numbers("gain", gain)[..., None]
    if (rate < 0.0).any():
        raise InputError("gain must be nonnegative [1/s]: a negative one drives the frame away from its target")
    error, rate = broadcast((pose_error(T, T_goal), 1), (rate, 1))
    twist = rate * error
    if feedforward is not None:
        target_twist, offset = broadcast(
            (numbers("feedforward", feedforward, 6), 1), (T[..., :3, 3] - T_goal[..., :3, 3], 1)
        )
        # The target's twist, evaluated at the origin of the frame.
        linear = target_twist[..., :3] + np.cross(target_twist[..., 3:], offset)
        moved = np.concatenate([linear, target_twist[..., 3:]], axis=-1)
        twist, moved = broadcast((twist, 1), (moved, 1))
        twist = twist + moved
    return damped(kinematics.jacobian(robot, q, frame), twist, damping, null_velocity)


def stacked(tasks: Sequence[Task], *, weights: Sequence[ArrayLike] | None = None, damping: ArrayLike = 0.0) -> Array:
    """Minimise the sum of `weight norm(J v - twist)^2` over tasks, plus `damping^2 norm(v)^2`.

    Parameters
    ----------
    tasks : sequence of (J, twist)
        Of shapes (..., m, n) and (..., m).
    weights : sequence of (...), optional
        One for each task, 1 by default; conflicting tasks share the error by their weights.
    damping : (...)
        In the units of J.

    Returns
    -------
    (..., n) array

    Notes
    -----
    Siciliano et al. 2009, section 3.5.
    """
    checked = _tasks(tasks)
    chosen = [1.0] * len(checked) if weights is None else list(weights)
    if len(chosen) != len(checked):
        raise InputError(f"weights must have one entry for each of the {len(checked)} tasks, got {len(chosen)}")
    rows, desired = [], []
    for i, ((J, twist), weight) in enumerate(zip(checked, chosen, strict=True)):
        root = numbers(f"weights[{i}]", weight)
        if (root < 0.0).any():
            raise InputError(f"weights[{i}] must be nonnegative")
        J, twist, root = broadcast((J, 2), (twist, 1), (np.sqrt(root), 0))
        rows.append(root[..., None, None] * J)
        desired.append(root[..., None] * twist)
    batch = broadcast(*((J, 2) for J in rows))
    values = broadcast(*((twist, 1) for twist in desired))
    return damped(np.concatenate(batch, axis=-2), np.concatenate(values, axis=-1), damping)


def prioritised(tasks: Sequence[Task], *, null_velocity: ArrayLike | None = None, damping: ArrayLike = 0.0) -> Array:
    """Compute velocities for tasks in strict order of priority: each acts in the null space of all before it.

    Parameters
    ----------
    tasks : sequence of (J, twist)
        Of shapes (..., m, n) and (..., m), highest priority first; any number of levels.
    null_velocity : (..., n), optional
        Desired velocity, with lowest priority.
    damping : (...)
        Damps each level near its singularities; it never lets a lower level disturb a higher.

    Returns
    -------
    (..., n) array

    Notes
    -----
    B. Siciliano and J.-J. E. Slotine, "A general framework for managing multiple tasks in highly redundant robotic
    systems", 1991.
    """
    checked = _tasks(tasks)
    n = checked[0][0].shape[-1]
    if null_velocity is not None:
        checked.append((np.eye(n), numbers("null_velocity", null_velocity, n)))
    v, free = np.zeros(n), np.eye(n)
    for J, twist in checked:
        J, twist, factor = _task(J, twist, damping)
        J, twist, factor, v, free = broadcast((J, 2), (twist, 1), (factor, 0), (v, 1), (free, 2))
        # The rank tolerance is relative to J itself: what higher levels leave may be rounding errors only.
        U, s, Vt, regular = _decompose(J @ free, size=np.linalg.norm(J, axis=(-2, -1)))
        step = _solve(U, s, Vt, regular, twist - matvec(J, v), factor)
        v = v + matvec(free, step)
        free = free @ _remove_rows(Vt, regular)
        free = 0.5 * (free + np.swapaxes(free, -2, -1))
    return np.asarray(v)


def limit_measure(robot: Robot, q: ArrayLike) -> Array:
    """Measure the distance from joint limits: 0 with every joint in its middle, -1/8 with every joint at a limit.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
        Configurations.

    Returns
    -------
    (...) array

    Notes
    -----
    Siciliano et al. 2009, eq. 3.57, over the joints that have both limits.
    """
    return np.asarray(-0.5 * (_from_middle(robot, q)[0] ** 2).sum(axis=-1))


def limit_avoidance(robot: Robot, q: ArrayLike, *, gain: float = 1.0) -> Array:
    """Compute velocities towards the middle of the joint ranges, for use as `null_velocity`.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
        Configurations.
    gain : float
        Factor of the gradient of `limit_measure`.

    Returns
    -------
    (..., nv) array
        Zero for joints without limits.

    Notes
    -----
    A. Liegeois, 1977, as in `null_space`.
    """
    offset, scale, columns = _from_middle(robot, q)
    v = np.zeros((*offset.shape[:-1], robot.nv))
    v[..., columns] = -float(numbers("gain", gain)) * offset * scale
    return v


def _from_middle(robot: Robot, q: ArrayLike) -> tuple[Array, Array, list[int]]:
    """Compute (q - middle) / range / sqrt(n) of the n limited joints, its derivative, and their indices in v."""
    values = configuration(robot, q)
    limited = [
        joint
        for joint in robot.joints
        if joint.mimic is None and joint.v.stop - joint.v.start == 1 and _has_range(robot, joint.q.start)
    ]
    indices = [joint.q.start for joint in limited]
    lower, upper = robot.limits.lower[indices], robot.limits.upper[indices]
    scale = 1.0 / (np.sqrt(max(1, len(indices))) * (upper - lower))
    return (values[..., indices] - 0.5 * (lower + upper)) * scale, scale, [joint.v.start for joint in limited]


def _has_range(robot: Robot, i: int) -> bool:
    lower, upper = robot.limits.lower[i], robot.limits.upper[i]
    return bool(np.isfinite(lower) and np.isfinite(upper) and lower < upper)


def _matrix(what: str, J: ArrayLike) -> Array:
    shape = shape_of(J)
    if len(shape) < 2 or 0 in shape[-2:]:
        raise InputError(f"{what} must have shape (..., m, n), rows for the task, columns for the joints, got {shape}")
    return numbers(what, J, *shape[-2:])


def _task(J: ArrayLike, twist: ArrayLike, damping: ArrayLike) -> tuple[Array, Array, Array]:
    matrix = _matrix("J", J)
    desired, factor = numbers("twist", twist, matrix.shape[-2]), numbers("damping", damping)
    if (factor < 0.0).any():
        raise InputError("damping must be nonnegative")
    matrix, desired, factor = broadcast((matrix, 2), (desired, 1), (factor, 0))
    return matrix, desired, factor


def _tasks(tasks: Sequence[Task]) -> list[tuple[Array, Array]]:
    checked: list[tuple[Array, Array]] = []
    for i, task in enumerate(items("tasks", tasks, "pairs (J, twist)")):
        if not isinstance(task, tuple | list) or len(task) != 2:
            raise InputError(f"tasks[{i}] must be a pair (J, twist), got {type(task).__name__}")
        J = _matrix(f"tasks[{i}]: J", task[0])
        if checked and J.shape[-1] != checked[0][0].shape[-1]:
            n = checked[0][0].shape[-1]
            raise InputError(
                f"tasks[{i}]: J has {J.shape[-1]} columns but that of tasks[0] has {n}; all need the same joints"
            )
        checked.append((J, numbers(f"tasks[{i}]: twist", task[1], J.shape[-2])))
    if not checked:
        raise InputError("tasks is empty; at least one pair (J, twist) is needed")
    return checked


def _decompose(J: Array, size: Array | None = None) -> tuple[Array, Array, Array, Mask]:
    """Compute U, s, V^T of J and which singular values (..., k) are nonzero relative to `size` (...) or the largest."""
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    scale = s[..., :1] if size is None else np.asarray(size)[..., None]
    return U, s, Vt, s > RANK_TOLERANCE * scale


def _solve(U: Array, s: Array, Vt: Array, regular: Mask, desired: Array, damping: Array) -> Array:
    squared = s**2 + damping[..., None] ** 2
    inverse = np.divide(s, squared, out=np.zeros(squared.shape), where=regular | (damping[..., None] > 0.0))
    return matvec(np.swapaxes(Vt, -2, -1), inverse * matvec(np.swapaxes(U, -2, -1), desired))


def _remove_rows(Vt: Array, regular: Mask) -> Array:
    rows = np.where(regular[..., None], Vt, 0.0)
    return np.asarray(np.eye(Vt.shape[-1]) - np.swapaxes(rows, -2, -1) @ rows)


def __dir__() -> list[str]:
    return list(__all__)
