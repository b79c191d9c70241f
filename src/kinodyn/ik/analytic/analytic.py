"""The door: from a robot, targets and a frame to every branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import numbers, shape_of
from kinodyn.errors import InputError
from kinodyn.ik.analytic.chain import Chain, chain_of, frame_name, held_places
from kinodyn.ik.analytic.geometry import NoClosedFormError
from kinodyn.ik.analytic.planar import Planar2R, planar
from kinodyn.ik.analytic.problem import Problem
from kinodyn.ik.analytic.redundant import SevenJoints, seven
from kinodyn.ik.analytic.result import AnalyticSolutions
from kinodyn.ik.analytic.six import Solver, six
from kinodyn.ik.poses import target_poses
from kinodyn.model.robot import Robot

# What was recognised for each robot, as long as it lives: by frame, joints and redundant joint, the coordinates that
# are held and where, the chain and its solver.
Known: TypeAlias = dict[tuple[object, ...], tuple[list[int], Array, Chain, "Solver | SevenJoints"]]
_KNOWN: WeakKeyDictionary[Robot, Known] = WeakKeyDictionary()


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
) -> AnalyticSolutions:
    """Find every configuration that brings a frame to T, in closed form.

    The geometry is recognised from the robot's axes: planar 2R (positions only), planar 3R, 6R with three axes through
    one point at the wrist or at the shoulder, 6R with three parallel axes, and 7R with one joint given. A chain that
    is none of these raises `NoClosedFormError`, which says what is missing.

    Parameters
    ----------
    T : (..., 4, 4)
        Targets T_world_frame; for a planar arm of two joints also points (..., 3) [m].
    joints
        Names of the joints to solve for, unless all turning joints between base and frame; others stay as in q0.
    q0 : (..., nq)
        Where the robot stands: each angle is given the whole turns that bring it nearest, free joints at singular
        targets stay there, and so does everything that is not solved for. Without it: neutral, angles nearest to 0.
    limits
        Whether `valid` asks for joint limits; whole turns are added to stay within them either way.
    clamp
        Whether a planar 2R arm goes for the nearest point within reach where the target is not.
    redundancy : () or (..., k)
        Values of the redundant joint [rad] of a 7R arm; the last axis is swept and makes k times as many branches,
        the others go with the targets. Unless given, the joint stays as in q0.
    redundant_joint
        Its name; unless given, the last joint that leaves a closed form, tried from both ends.

    Example
    -------
    >>> import kinodyn as kd
    >>> from kinodyn.ik import analytic
    >>> robot = kd.load("planar2r")
    >>> found = analytic(robot, [1.0, 1.0, 0.0], "link2")
    >>> found.q.round(4) + 0.0
    array([[ 0.    ,  1.5708],
           [ 1.5708, -1.5708]])
    >>> found.nearest([1.5, -1.0]).round(4)
    array([ 1.5708, -1.5708])
    """
    start = robot.neutral() if q0 is None else numbers("q0", q0, robot.nq)
    rows = start.reshape(-1, robot.nq)
    chain, solver = _geometry(robot, frame, joints, redundant_joint, rows)
    poses = _targets(T, chain, solver)
    if clamp and not isinstance(solver, Planar2R):
        raise InputError(f"clamp=True is for planar 2R arms, and this is {solver.family}; leave it out")
    swept = _redundancy(solver, chain, redundancy, start, given=q0 is not None)
    shapes = [poses.shape[:-2], start.shape[:-1], swept.shape[:-1]]
    try:
        batch = np.broadcast_shapes(*shapes) if any(shapes) else ()
    except ValueError as cause:
        raise InputError(f"the batch axes of T, q0 and redundancy, {shapes}, do not fit together") from cause
    problem = Problem(robot, frame, chain, solver, batch, _flat(poses, batch, 2), _flat(swept, batch, 1))
    return problem.solve(_some(start, batch), given=q0 is not None, limits=limits, clamp=clamp)


def _geometry(
    robot: Robot, frame: str | int, joints: Sequence[str] | None, redundant_joint: str | None, rows: Array
) -> tuple[Chain, Solver | SevenJoints]:
    """Recognise the chain, or remember it from the last call with the same joints held at the same places."""
    if isinstance(joints, str):
        raise InputError(f"joints is the single name {joints!r}; give a list of names")
    known = _KNOWN.setdefault(robot, {})
    key = (frame_name(robot, frame), None if joints is None else tuple(joints), redundant_joint)
    if key in known:
        held, at, chain, solver = known[key]
    else:
        held, at = held_places(robot, frame, joints), None
    _check_held(held, rows)
    if at is None or (held and not np.array_equal(at, rows[0, held])):
        chain = chain_of(robot, frame, joints, rows[0])
        solver = _recognise(chain, redundant_joint)
        known[key] = held, rows[0, held], chain, solver
    return chain, solver


def _recognise(chain: Chain, redundant_joint: str | None) -> Solver | SevenJoints:
    count = len(chain.axes)
    if redundant_joint is not None and count != 7:
        raise InputError(f"redundant_joint is for chains of seven joints, and this one has {count}")
    if count in (2, 3):
        return planar(chain.axes, chain.tip)
    if count == 6:
        return six(chain.axes)
    if count == 7:
        return seven(chain, redundant_joint)
    raise NoClosedFormError(
        f"{count} turning joints move this frame ({', '.join(chain.names)}); closed forms here take 2, 3, 6 or 7: "
        "name those to solve for with joints=[...], or use kinodyn.ik.solve, which takes any chain"
    )


def _targets(T: MatrixLike, chain: Chain, solver: Solver | SevenJoints) -> Array:
    shape = () if hasattr(T, "as_matrix") else shape_of(T)
    if isinstance(solver, Planar2R) and shape[-1:] == (3,):
        points = numbers("T", T, 3)
        poses = np.empty((*points.shape[:-1], 4, 4))
        poses[:] = chain.T_zero
        poses[..., :3, 3] = points
        return poses
    return target_poses(T, "T")


def _check_held(held: list[int], rows: Array) -> None:
    if not len(rows):
        raise InputError("q0 has no rows; give one configuration (nq,) or one for each target")
    if len(rows) > 1 and not (rows[:, held] == rows[0, held]).all():
        raise InputError(
            "q0 differs between targets in joints on the way to the frame that are not solved for; "
            "give them one position for all targets, or call once for each"
        )


def _redundancy(
    solver: Solver | SevenJoints, chain: Chain, value: ArrayLike | None, start: Array, *, given: bool
) -> Array:
    """Return the values (..., k) of the given joint; one value without meaning for chains that have none."""
    if not isinstance(solver, SevenJoints):
        if value is not None:
            raise InputError(f"redundancy is for chains of seven joints, and this one has {len(chain.axes)}")
        return np.zeros(1)
    name = chain.names[solver.given]
    if value is None and not given:
        raise InputError(
            f"a chain of seven joints wants redundancy, the angle of {name!r} [rad], or q0 to take it from"
        )
    if value is None:
        place = chain.places[solver.given]
        return start[..., place : place + 1]
    angles = np.atleast_1d(numbers("redundancy", value))
    if not angles.shape[-1]:
        raise InputError(f"redundancy is empty; give at least one angle of {name!r} [rad]")
    return angles


def _flat(array: Array, batch: tuple[int, ...], rank: int) -> Array:
    core = array.shape[array.ndim - rank :]
    if array.shape == (*batch, *core):
        return array.reshape(-1, *core)
    return np.broadcast_to(array, (*batch, *core)).reshape(-1, *core)


def _some(start: Array, batch: tuple[int, ...]) -> Array:
    """Lay out start configurations as (1, nq) where there is one for all, else as (n, nq)."""
    return start.reshape(1, -1) if start.size == start.shape[-1] else _flat(start, batch, 1)
