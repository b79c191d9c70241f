"""OMPL's RRTConnect with coal on the original shapes, what MoveIt does by default.

Pinocchio checks a configuration in one compiled call: coal's tree of bounding boxes, then coal on the pairs that
overlap, until the first collision.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.planning.groups import group_joints
from motion_planning_parts import Parts
from motion_planning_problems import Problem

FRACTION = 0.01  # of the extent of the joint space, between checks of a motion: OMPL's default
TIME_BUDGET = 20.0  # [s]


class CoalChecker:
    """Configurations and motions of the moving joints, checked by coal at intervals as OMPL does it."""

    def __init__(self, robot: kd.Robot, problem: Problem) -> None:
        import pinocchio as pin

        self.robot, self.parts, self.pin = robot, Parts(robot, problem), pin
        self.columns = [joint.q.start for joint in group_joints(robot, problem.group)]
        self.q = np.array(problem.start, dtype=float)
        self.lower, self.upper = robot.limits.lower[self.columns], robot.limits.upper[self.columns]
        extent = np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, np.pi)
        self.step = FRACTION * float(np.linalg.norm(extent))
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
            geometry = exact._geometry(part.shape).coal
            model.addGeometryObject(self.pin.GeometryObject(str(i), 0, self.pin.SE3.Identity(), geometry))
        for pair in self.parts.pairs:
            model.addCollisionPair(self.pin.CollisionPair(*pair))
        return model

    def is_free(self, values: Array) -> bool:
        """Tell whether a configuration of the moving joints is free."""
        self.q[self.columns] = values
        self.checks += 1
        for i, pose in zip(self.parts.moving, self.parts.moving_poses(self.q), strict=True):
            self.data.oMg[i] = self.pin.SE3(pose)
        self.broad_phase.update(False)
        return not self.pin.computeCollisions(self.broad_phase, True)

    def motion_free(self, first: Array, second: Array) -> bool:
        """Check the end of a motion, whose start is free, and then its points in the order of bisection."""
        count = max(1, int(np.ceil(np.linalg.norm(second - first) / self.step)))
        if not self.is_free(second):
            return False
        intervals = [(1, count - 1)]
        for low, high in intervals:
            if low <= high:
                middle = (low + high) // 2
                if not self.is_free(first + (second - first) * (middle / count)):
                    return False
                intervals += [(low, middle - 1), (middle + 1, high)]
        return True


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
    """Time of a plan [s], without that to build the checker; configurations checked; whether a path was found."""

    seconds: float
    checks: int
    success: bool


def solve(robot: kd.Robot, problem: Problem, seed: int) -> Solution:
    """Plan once."""
    checker = CoalChecker(robot, problem)
    start, goals = np.array(problem.start)[checker.columns], np.atleast_2d(problem.goal)[:, checker.columns]
    begin = time.perf_counter()
    path = kd.planning.plan_with_ompl(
        "RRTConnect",
        np.clip(start, checker.lower, checker.upper),
        np.clip(goals, checker.lower, checker.upper),
        checker.lower,
        checker.upper,
        checker.is_free,
        checker.motion_free,
        time_budget=TIME_BUDGET,
        seed=seed,
    )
    return Solution(time.perf_counter() - begin, checker.checks, path is not None)
