"""From a pose goal to a trajectory: plan, timing within all limits, checks of collision, torques."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import kinodyn as kd
from motion_planning_problems import Problem

PARTS = ("plan", "trajectory", "whole")


def measure(robot: kd.Robot, problems: Sequence[Problem], rounds: int, seed: int, time_budget: float) -> dict[str, Any]:
    """Return the times of plans to a pose of the end effector and of their trajectories; the best of each problem."""
    given = [problem for problem in problems if isinstance(problem.goal, np.ndarray)]
    runs = [best(robot, problem, rounds, seed, time_budget) for problem in given]
    solved = [run for run in runs if run is not None]
    found: dict[str, Any] = {"problems": len(given), "solved": len(solved)}
    for name in (*PARTS, "duration") if solved else ():
        values = [run[name] for run in solved]
        found[name] = {"median": float(np.median(values)), "95 %": float(np.percentile(values, 95))}
    return found


def best(robot: kd.Robot, problem: Problem, rounds: int, seed: int, time_budget: float) -> dict[str, float] | None:
    """Return the times of the fastest round [us] and the duration of the trajectory [s]; None without a path."""
    found = [once(robot, problem, seed, time_budget) for _ in range(rounds)]
    solved = [run for run in found if run is not None]
    return min(solved, key=lambda run: run["whole"]) if solved else None


def once(robot: kd.Robot, problem: Problem, seed: int, time_budget: float) -> dict[str, float] | None:
    """Plan to the pose that the end effector has at the goal, and time the path."""
    world = problem.world()
    planner = kd.planning.MotionPlanner(
        robot, problem.group, world=world, q=problem.start, allowed=problem.allowed, seed=seed, time_budget=time_budget
    )
    T = kd.kinematics.pose(robot, np.atleast_2d(problem.goal)[0], planner.frame)
    begin = time.perf_counter()
    plan = planner.plan_to_pose(T)
    planned = time.perf_counter()
    if not plan.success:
        return None
    trajectory = plan.trajectory()
    end = time.perf_counter()
    times = {"plan": planned - begin, "trajectory": end - planned, "whole": end - begin}
    return {**{name: 1e6 * seconds for name, seconds in times.items()}, "duration": trajectory.duration}
