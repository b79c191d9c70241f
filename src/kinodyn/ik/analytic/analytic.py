"""All closed-form solutions for a frame of a robot: recognition of the geometry, validation of arguments."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import at_most, flag, known_names, numbers, positions, positive, shape_of
from kinodyn.errors import InputError
from kinodyn.ik.analytic import geometry
from kinodyn.ik.analytic.chain import Chain, chain_of, fixed_coordinates, frame_name
from kinodyn.ik.analytic.general import GeneralJoints, general
from kinodyn.ik.analytic.geometry import NoClosedFormError
from kinodyn.ik.analytic.planar import Planar2R, planar
from kinodyn.ik.analytic.problem import Problem
from kinodyn.ik.analytic.redundant import SevenJoints, candidates, seven
from kinodyn.ik.analytic.result import AnalyticSolutions
from kinodyn.ik.analytic.single import AnySolver, Plan, plan_of
from kinodyn.ik.analytic.six import Solver, six
from kinodyn.ik.poses import orthonormal, target_poses
from kinodyn.model.robot import Robot, require_robot

# Cache of the recognised geometries of each robot: by frame, joints and redundant joint, the coordinates that
# are not solved for and their values, the chain and its solver.
Recognised: TypeAlias = dict[tuple[object, ...], tuple[list[int], Array, Chain, AnySolver]]
MAX_TOLERANCE = 1e-3  # [m, rad]
_CACHE: WeakKeyDictionary[Robot, Recognised] = WeakKeyDictionary()
_PLANS: WeakKeyDictionary[Robot, dict[tuple[str | int, float], Plan]] = WeakKeyDictionary()


def analytic(
    robot: Robot,
    T: MatrixLike,
    frame: str | int,
    *,
    joints: Sequence[str] | None = None,
    q0: ArrayLike | None = None,
    limits: bool = True,
    clamp: bool = False,
    redundancy: ArrayLike | None = None,
    redundant_joint: str | None = None,
    tolerance: float = geometry.DEFAULT_TOLERANCE,
) -> AnalyticSolutions:
    """Compute all configurations that bring a frame to T.

    The geometry is recognised from the joint axes. Closed forms: planar 2R (positions only), planar 3R, 6R with a
    spherical wrist or shoulder, 6R with three parallel axes, and 7R with one joint given; joint angles that a singular
    target leaves free keep their values of q0. Any other 6R arm, and 7R with any joint given, by continuation from the
    complex solutions of a generic pose, which the first call finds; a target then takes one to two milliseconds.

    Parameters
    ----------
    robot : Robot
    T : (..., 4, 4)
        Target poses T_world_frame; for a planar arm of two joints also positions (..., 3) [m].
    frame : str or int
    joints : sequence of str, optional
        Joints to solve for; by default all revolute joints between base and frame. Others stay as in q0.
    q0 : (..., nq), optional
        Current configuration: full turns are added to bring each angle closest to it. By default neutral, with angles
        closest to 0.
    limits : bool
        Whether `valid` requires joint limits; full turns are added to stay within them in any case.
    clamp : bool
        Whether a planar 2R arm goes to the nearest reachable point where the target is out of reach.
    redundancy : () or (..., k), optional
        Values of the redundant joint of a 7R arm [rad]; the k values of the last axis multiply the branches, the others
        broadcast with the targets. By default the value of q0.
    redundant_joint : str, optional
        Name of the redundant joint; by default the first that leaves a closed form, the last joint being tried first,
        or the last joint.
    tolerance : float
        How far axes may be from meeting [m] or from parallel [rad] to be taken for that, at most 1e-3. Solutions are
        refined on the exact geometry; far from the assumed one some may be lost.

    Returns
    -------
    AnalyticSolutions

    Raises
    ------
    NoClosedFormError
        If the chain has another number or kind of joints, or its joints cannot move the frame in all directions; the
        message says what is missing.

    Notes
    -----
    D. Pieper, "The Kinematics of Manipulators Under Computer Control", 1968; B. Paden, "Kinematics and Control of Robot
    Manipulators", 1986 (subproblems). C. Wampler, A. Morgan, "Solving the 6R inverse position problem using a
    generic-case solution methodology", 1991 (continuation).

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("planar2r")
    >>> found = kd.ik.analytic(robot, [1.0, 1.0, 0.0], "link2")
    >>> found.q.round(4) + 0.0
    array([[ 0.    ,  1.5708],
           [ 1.5708, -1.5708]])
    >>> found.nearest([1.5, -1.0]).round(4)
    array([ 1.5708, -1.5708])
    """
    require_robot(robot)
    limits, clamp = flag("limits", limits), flag("clamp", clamp)
    start = robot.neutral() if q0 is None else numbers("q0", q0, robot.nq)
    within = at_most("tolerance", positive("tolerance", tolerance), MAX_TOLERANCE)
    simple = joints is None and not clamp and redundant_joint is None
    if simple and (found := _single(robot, T, frame, start, q0 is not None, limits, redundancy, within)) is not None:
        return found
    with geometry.tolerated(within):
        return _analytic(robot, T, frame, joints, start, q0 is not None, limits, clamp, redundancy, redundant_joint)


def _single(
    robot: Robot,
    T: MatrixLike,
    frame: str | int,
    start: Array,
    given: bool,
    limits: bool,
    redundancy: ArrayLike | None,
    within: float,
) -> AnalyticSolutions | None:
    """Solve one regular target of an arm that is recognised already, or return None."""
    if not (isinstance(T, np.ndarray) and T.shape == (4, 4) and start.ndim == 1):
        return None
    plan = _plan(robot, frame, within)
    if plan is None:
        return None
    if redundancy is None:
        if plan.given is not None and not given:
            return None
    elif plan.given is None or not isinstance(redundancy, float) or not isfinite(redundancy):
        return None
    return plan.solve(robot, target_poses(T, "T"), frame, start, redundancy, near=given, limits=limits)


def _plan(robot: Robot, frame: str | int, within: float) -> Plan | None:
    """Return the plan of an arm that is recognised already, if the core solves it."""
    plans = _PLANS.get(robot)
    return None if plans is None else plans.get((frame, within))


def _analytic(
    robot: Robot,
    T: MatrixLike,
    frame: str | int,
    joints: Sequence[str] | None,
    start: Array,
    given: bool,
    limits: bool,
    clamp: bool,
    redundancy: ArrayLike | None,
    redundant_joint: str | None,
) -> AnalyticSolutions:
    chain, solver = _geometry(robot, frame, joints, redundant_joint, start.reshape(-1, robot.nq))
    poses = orthonormal(_targets(T, chain, solver))
    if clamp and not isinstance(solver, Planar2R):
        raise InputError(f"clamp=True is for planar 2R arms, and this is {solver.family}; leave it out")
    swept = _redundancy(solver, chain, redundancy, start, given=given)
    shapes = [poses.shape[:-2], start.shape[:-1], swept.shape[:-1]]
    try:
        batch = np.broadcast_shapes(*shapes) if any(shapes) else ()
    except ValueError as cause:
        raise InputError(f"the batch axes of T, q0 and redundancy, {shapes}, are not compatible") from cause
    plan = _plan(robot, frame, geometry.tolerance()) if joints is None and redundant_joint is None else None
    problem = Problem(robot, frame, chain, solver, plan, batch, _flat(poses, batch, 2), _flat(swept, batch, 1))
    return problem.solve(_start_rows(start, batch), given=given, limits=limits, clamp=clamp)


def _geometry(
    robot: Robot, frame: str | int, joints: Sequence[str] | None, redundant_joint: str | None, rows: Array
) -> tuple[Chain, AnySolver]:
    """Recognise the chain, or take it from the cache if the other joints have the same values."""
    if joints is not None:
        joints = known_names("joints", joints, "joint", robot.joint_names)
    if redundant_joint is not None:
        robot.joint(redundant_joint)
    cache = _CACHE.setdefault(robot, {})
    key = (frame_name(robot, frame), None if joints is None else tuple(joints), redundant_joint, geometry.tolerance())
    if key in cache:
        fixed, at, chain, solver = cache[key]
    else:
        fixed, at = fixed_coordinates(robot, frame, joints), None
    _check_fixed(fixed, rows)
    if at is None or (fixed and not np.array_equal(at, rows[0, fixed])):
        chain = chain_of(robot, frame, joints, rows[0])
        solver = _recognise(chain, redundant_joint)
        cache[key] = fixed, rows[0, fixed], chain, solver
        if joints is None and redundant_joint is None and not fixed and (plan := plan_of(chain, solver)):
            _PLANS.setdefault(robot, {})[frame, geometry.tolerance()] = plan
    return chain, solver


def _recognise(chain: Chain, redundant_joint: str | None) -> AnySolver:
    count = len(chain.axes)
    if redundant_joint is not None and count != 7:
        raise InputError(f"redundant_joint is for chains of seven joints, and this one has {count}")
    if count in (2, 3):
        return planar(chain.axes, chain.tip)
    if count == 6:
        return _six(chain)
    if count == 7:
        return _seven(chain, redundant_joint)
    raise NoClosedFormError(
        f"{count} revolute joints move this frame ({', '.join(chain.names)}); closed forms exist for 2, 3, 6 or 7: "
        "name those to solve for with joints=[...], or use kinodyn.ik.solve, which takes any chain"
    )


def _six(chain: Chain) -> Solver | GeneralJoints:
    try:
        return six(chain.axes)
    except NoClosedFormError:
        found = general(chain.axes, chain.size, None)
        if found is None:
            raise
        return found


def _seven(chain: Chain, redundant_joint: str | None) -> SevenJoints | GeneralJoints:
    try:
        return seven(chain, redundant_joint)
    except NoClosedFormError:
        for k in candidates(chain, redundant_joint):
            found = general(chain.axes, chain.size, k)
            if found is not None:
                return found
        raise


def _targets(T: MatrixLike, chain: Chain, solver: AnySolver) -> Array:
    shape = () if hasattr(T, "as_matrix") else shape_of(T)
    if isinstance(solver, Planar2R) and shape[-1:] == (3,):
        points = positions("T", T)
        poses = np.empty((*points.shape[:-1], 4, 4))
        poses[:] = chain.T_zero
        poses[..., :3, 3] = points
        return poses
    return target_poses(T, "T")


def _check_fixed(fixed: list[int], rows: Array) -> None:
    if not len(rows):
        raise InputError("q0 has no rows; give one configuration (nq,) or one for each target")
    if len(rows) > 1 and not (rows[:, fixed] == rows[0, fixed]).all():
        raise InputError(
            "q0 differs between targets in joints between base and frame that are not solved for; "
            "give these the same value for all targets, or call once for each"
        )


def _redundancy(solver: AnySolver, chain: Chain, value: ArrayLike | None, start: Array, *, given: bool) -> Array:
    """Return the values (..., k) of the redundant joint; one unused value for chains without one."""
    if not isinstance(solver, SevenJoints | GeneralJoints) or solver.given is None:
        if value is not None:
            raise InputError(f"redundancy is for chains of seven joints, and this one has {len(chain.axes)}")
        return np.zeros(1)
    name = chain.names[solver.given]
    if value is None and not given:
        raise InputError(
            f"a chain of seven joints needs redundancy, the angle of {name!r} [rad], or q0 to take it from"
        )
    if value is None:
        index = chain.q_index[solver.given]
        return start[..., index : index + 1]
    angles = np.atleast_1d(numbers("redundancy", value))
    if not angles.shape[-1]:
        raise InputError(f"redundancy is empty; give at least one angle of {name!r} [rad]")
    return angles


def _flat(array: Array, batch: tuple[int, ...], rank: int) -> Array:
    core = array.shape[array.ndim - rank :]
    if array.shape == (*batch, *core):
        return array.reshape(-1, *core)
    return np.broadcast_to(array, (*batch, *core)).reshape(-1, *core)


def _start_rows(start: Array, batch: tuple[int, ...]) -> Array:
    """Return start configurations as (1, nq) if there is one for all targets, else as (n, nq)."""
    return start.reshape(1, -1) if start.size == start.shape[-1] else _flat(start, batch, 1)
