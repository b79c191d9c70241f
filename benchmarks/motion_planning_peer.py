"""OMPL's RRTConnect with coal on the exact shapes, as MoveIt does by default.

Pinocchio checks a configuration in one compiled call: coal's tree of bounding boxes, then coal on the pairs that
overlap, until the first collision. OMPL calls it through Python, which is part of its time for each configuration.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision.exact_geometry import exact_geometry
from kinodyn.planning.groups import group_joints
from motion_planning_parts import Parts
from motion_planning_problems import Problem

FRACTION = 0.01  # of the extent of the joint space, between checks of a motion: the default of OMPL and MoveIt
TIME_BUDGET = 20.0  # [s]


class CoalChecker:
    """Configurations and motions of the moving joints, checked by coal at intervals as OMPL does it."""

    def __init__(self, robot: kd.Robot, problem: Problem) -> None:
        import pinocchio as pin

        self.robot, self.parts, self.pin = robot, Parts(robot, problem), pin
        self.columns = [joint.q.start for joint in group_joints(robot, problem.group)]
        self.q = np.array(problem.start, dtype=float)
        self.lower, self.upper = robot.limits.lower[self.columns], robot.limits.upper[self.columns]
        self.model = self.geometry_model()
        self.data = self.model.createData()
        for i, pose in enumerate(self.parts.poses(self.q[None])[0]):
            self.data.oMg[i] = pin.SE3(pose)
        manager = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager
        self.broad_phase = manager(pin.Model(), self.model, self.data)
        self.checks = 0

    def geometry_model(self) -> Any:
        model = self.pin.GeometryModel()
        for i, part in enumerate(self.parts.parts):
            geometry = exact_geometry(part.shape).coal
            model.addGeometryObject(self.pin.GeometryObject(str(i), 0, self.pin.SE3.Identity(), geometry))
        for pair in self.parts.pairs:
            model.addCollisionPair(self.pin.CollisionPair(*pair))
        return model

    def is_free(self, values: Sequence[float]) -> bool:
        """Return whether a configuration of the moving joints is free."""
        self.q[self.columns] = values
        self.checks += 1
        for i, pose in zip(self.parts.moving, self.parts.moving_poses(self.q), strict=True):
            self.data.oMg[i] = self.pin.SE3(pose)
        self.broad_phase.update(False)
        return not self.pin.computeCollisions(self.broad_phase, True)


def missing() -> str:
    """Return why the peer cannot run; "" if it can."""
    try:
        import coal  # noqa: F401
        import ompl  # noqa: F401
        import pinocchio  # noqa: F401
    except ImportError as error:
        return f"{error.name} is not installed: pip install pin 'kinodyn[planning]'"
    return ""


class Solution(NamedTuple):
    """Processor times [s] of the search and of the whole plan (checker, search, simplification); checks; success."""

    planning: float
    whole: float
    checks: int
    success: bool


def solve(robot: kd.Robot, problem: Problem, seed: int) -> Solution:
    """Plan once, as MoveIt does it: a checker for the scene, RRTConnect, OMPL's simplification."""
    from ompl import base, geometric, util

    util.setLogLevel(util.LOG_NONE)
    util.RNG.setSeed(seed + 1)
    begin = time.thread_time()
    checker = CoalChecker(robot, problem)
    setup = geometric.SimpleSetup(state_space(base, checker))
    setup.setStateValidityChecker(lambda state: checker.is_free([state[k] for k in range(len(checker.columns))]))
    setup.getSpaceInformation().setStateValidityCheckingResolution(FRACTION)
    goals = base.GoalStates(setup.getSpaceInformation())
    for goal in np.atleast_2d(problem.goal):
        goals.addState(state_of(setup, checker, goal))
    setup.addStartState(state_of(setup, checker, np.array(problem.start)))
    setup.setGoal(goals)
    setup.setPlanner(geometric.RRTConnect(setup.getSpaceInformation()))
    setup.setup()
    searching = time.thread_time()
    setup.solve(TIME_BUDGET)
    planning = time.thread_time() - searching
    success, checks = setup.haveExactSolutionPath(), checker.checks
    if success:
        setup.simplifySolution()
    return Solution(planning, time.thread_time() - begin, checks, success)


def state_space(base: Any, checker: CoalChecker) -> Any:
    """Return the joints that move as coordinates within their limits."""
    space, bounds = base.RealVectorStateSpace(len(checker.columns)), base.RealVectorBounds(len(checker.columns))
    for k, (low, high) in enumerate(zip(checker.lower.tolist(), checker.upper.tolist(), strict=True)):
        bounds.setLow(k, max(low, -np.pi))
        bounds.setHigh(k, min(high, np.pi))
    space.setBounds(bounds)
    return space


def state_of(setup: Any, checker: CoalChecker, q: Array) -> Any:
    """Return a configuration (nq,) as a state, within the limits."""
    state = setup.getStateSpace().allocState()
    for k, value in enumerate(np.clip(q[checker.columns], checker.lower, checker.upper).tolist()):
        state[k] = value
    return state
