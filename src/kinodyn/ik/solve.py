"""Numeric inverse kinematics: any number of targets, on any frames of any robot, within limits, with restarts.

The core iterates (`cpp/kernels/ik.cpp`); a separate kernel verifies the results (`cpp/kernels/ik_residual.cpp`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.checks import integer, positive
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.ik.free import Collision, FreeSolutions
from kinodyn.ik.problem import METHODS, Method, Problem
from kinodyn.ik.redundancy import Prefer, cost_of, improve
from kinodyn.ik.result import Attempt, IKResult
from kinodyn.ik.search import MAX_STARTS, best_effort, decide_collisions, search, status_of
from kinodyn.ik.starts import initial_start, parallel_starts
from kinodyn.model.robot import Robot

MAX_ITERATIONS = 10**8  # of each start
MAX_RESTARTS = 100_000  # of each target; a second or more for a target that is out of reach


@check_types
def solve(
    robot: Robot,
    targets: Mapping[str, ArrayLike],
    q0: ArrayLike | None = None,
    *,
    joints: str | Sequence[str] | None = None,
    position_only: bool = False,
    weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
    method: Literal["auto", "lm", "dls", "pinv", "newton", "transpose", "optimise"] = "auto",
    restarts: int = 64,
    iterations: int | None = None,
    time_limit: float | None = None,
    tolerance: float = 1e-6,
    limits: bool = True,
    prefer: Prefer = None,
    posture: ArrayLike | None = None,
    seed: int = 0,
    world: World | WorldSnapshot | None = None,
    collision: bool | None = None,
    allowed: Iterable[Iterable[str]] | None = None,
    resolution: float | None = None,
) -> IKResult:
    """Find configurations that bring frames to their target poses.

    Parameters
    ----------
    robot : Robot
    targets : dict of frame -> (..., 4, 4)
        Poses T_world_frame, all frames at once; batches broadcast.
    q0 : (..., nq), optional
        Start, by default the middle of the limits. Of several solutions found together, the nearest to it is returned.
        A floating base moves like any other joint; joints that move no target frame keep their position.
    joints : str or sequence of str, optional
        Joints that may move, by name or by the name of a chain (`robot.description.chains`); by default all. All
        others, a floating base included, keep the position of q0 exactly, even beyond their limits. Mimic joints move
        with the joint that they follow.
    position_only : bool
        Leave all orientations free.
    weights : (6,), or dict of frame -> (6,), optional
        Linear first; a direction of weight 0 is free.
    method : str
        "auto": "lm" and, if it fails, a best-effort descent to the nearest configuration. By name: "lm" error-damped
        Levenberg-Marquardt, "dls" least squares damped near singularities, "pinv" pseudo-inverse, "newton"
        Newton-Raphson, "transpose" transposed Jacobian, "optimise" bounded least squares by SciPy.
    restarts : int
        Number of additional starts, a quasi-random sequence within the limits, for targets that are not solved.
    iterations : int, optional
        Maximum number of iterations of each start; the default depends on the method.
    time_limit : float, optional
        Time limit of the whole call [s], checked between attempts; targets not solved by then have the status "budget".
    tolerance : float
        Maximum residual [m, rad].
    limits : bool
        False ignores joint limits.
    prefer : "nearest", "posture", "manipulability" or function, optional
        Which of several solutions to return: by default the first found, starting from q0; "nearest": the one nearest
        to q0; "posture": the one nearest to `posture`; "manipulability": the one of largest manipulability; a function
        of q (n, nq) that returns costs (n,): the one of least cost. The search moves along the self-motion from several
        starts: targets stay solved.
    posture : (..., nq), optional
        Reference configuration for `prefer="posture"`.
    seed : int
        Seed of the sequence of starts.
    world : World or WorldSnapshot, optional
        Obstacles and attached objects.
    collision : bool, optional
        Whether a solution must be free of self-collisions and of collisions with the world; by default if a world is
        given. Spheres that cover the robot are checked first; if they touch at every solution found, its exact shapes
        are checked, provided that coal is installed.
    allowed : pairs of names, optional
        Links or objects that may touch, in addition to `kd.collision.allowed_pairs` of the robot.
    resolution : float, optional
        How far the spheres may reach beyond the shapes [m], as in `kd.collision.free`.

    Returns
    -------
    IKResult
        It has a status for each target; an unreachable target is not an error.

    Raises
    ------
    InputError
        If an argument has a wrong shape, is not finite or is not a pose, or a joint is not independent.
    UnknownNameError
        If a frame, a joint, the method or the preference is unknown.

    Notes
    -----
    "lm": S. K. Chan and P. D. Lawrence, "General inverse kinematics with the error damped pseudoinverse", 1988; "dls":
    Y. Nakamura and H. Hanafusa, "Inverse kinematic solutions with singularity robustness for robot manipulator
    control", 1986.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> T = kd.kinematics.pose(robot, robot.random(1000, seed=1), "panda_link8")
    >>> bool(kd.ik.solve(robot, {"panda_link8": T}).success.all())
    True

    One arm of a humanoid; its other joints do not move:

    >>> human = kd.load("humanoid")
    >>> stand = human.configuration("standing")
    >>> T = kd.kinematics.pose(human, stand, "left_hand")
    >>> T[:3, 3] += [0.1, 0.0, 0.1]
    >>> bool(kd.ik.solve(human, {"left_hand": T}, stand, joints="left_arm").success)
    True
    """
    begin = perf_counter()
    chosen = _method(method, iterations)
    _check(restarts, seed, time_limit, tolerance)
    problem = Problem(robot, targets, weights, position_only, tolerance, joints)
    if time_limit is not None:
        problem.deadline = begin + time_limit
    if collision or (collision is None and world is not None):
        problem.free = FreeSolutions(robot, world, allowed, resolution)
    batch, start = problem.flatten(initial_start(robot, problem.space, q0))
    cost = None if prefer is None and posture is None else cost_of(problem, prefer, posture, start, batch)
    failed = None
    if batch == () and cost is None and chosen.in_core and restarts:
        found = problem.attempt_alone(chosen, parallel_starts(problem.space, start, restarts, seed), limits)
        if isinstance(found, Attempt):
            failed = found
        elif problem.free is None:
            return found
        elif problem.free.query(found.q).free(found.q):
            return _with_collisions(found, {})
    best = search(problem, chosen, start, restarts, limits, seed, failed)
    if method == "auto" and not best.all_solved():
        best_effort(problem, best, start, limits, seed)
    colliding = decide_collisions(problem, best, start, limits)
    thorough = chosen == METHODS["auto"] and restarts >= MAX_STARTS
    if cost is not None:
        improve(problem, best, start, cost, restarts=restarts, limits=limits, seed=seed)
    result = _result(problem, best, status_of(problem, best, start, limits, seed, thorough), batch)
    return result if problem.free is None else _with_collisions(result, colliding)


def _with_collisions(result: IKResult, colliding: Mapping[int, Collision]) -> IKResult:
    """Add the pairs that collide, by target."""
    batch = result.success.shape
    pairs = np.array([colliding[k].pair if k in colliding else ("", "") for k in range(result.success.size)], dtype=str)
    depths = np.array([colliding[k].depth if k in colliding else 0.0 for k in range(result.success.size)])
    return replace(result, colliding=pairs.reshape(*batch, 2), depth=depths.reshape(batch))


def _result(problem: Problem, best: Attempt, status: NDArray[np.str_], batch: tuple[int, ...]) -> IKResult:
    """Reshape the rows to the batch."""
    nq = problem.robot.nq
    return IKResult(
        best.q.reshape(*batch, nq),
        best.success.reshape(batch),
        status.reshape(batch),
        best.residual.reshape(*batch, 2),
        problem.space.active(best.q).reshape(*batch, nq),
        best.steps.reshape(batch),
        {frame: best.poses[:, k].reshape(*batch, 4, 4) for k, frame in enumerate(problem.rows)},
    )


def _method(name: str, iterations: int | None) -> Method:
    if iterations is None:
        return METHODS[name]
    integer("iterations", iterations, 1, MAX_ITERATIONS)
    return replace(METHODS[name], iterations=int(iterations))


def _check(restarts: int, seed: int, time_limit: float | None, tolerance: float) -> None:
    integer("restarts", restarts, 0, MAX_RESTARTS)
    integer("seed", seed)
    positive("tolerance", tolerance)
    if time_limit is not None:
        positive("time_limit", time_limit)
