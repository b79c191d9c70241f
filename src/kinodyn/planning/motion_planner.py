"""MotionPlanner: plans for one group in one world, with an interface like MoveIt's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import numbers
from kinodyn.collision.query import as_pairs
from kinodyn.collision.world import World
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.compile import compile_tree
from kinodyn.model.robot import Robot
from kinodyn.planning.cartesian import CartesianPlan, plan_cartesian
from kinodyn.planning.execution import execute
from kinodyn.planning.execution_run import Execution
from kinodyn.planning.goals import Goal
from kinodyn.planning.groups import Group, group_columns, group_joints
from kinodyn.planning.plan import plan
from kinodyn.planning.regions import PoseRegion
from kinodyn.planning.result import Plan
from kinodyn.planning.settings import PlannerSettings
from kinodyn.sim.protocol import Simulator
from kinodyn.trajectory.bounds import LimitLike
from kinodyn.trajectory.piecewise import PiecewisePolynomial


@displayed
class MotionPlanner:
    """Plans and executes motions of a group of joints, as MoveIt's move group does.

    Parameters
    ----------
    robot
    group
        Joints that move, see `plan`.
    world
        Obstacles; a new, empty world by default. It may change at any time.
    frame
        Frame that pose goals are for; by default the end effector of the group, or the link of its last joint.
    q : (nq,), optional
        Current configuration, by default neutral within limits.
    time_budget, seed, allowed, settings, resolution
        Arguments of each plan, see `plan`.
    velocity, acceleration, jerk, torque
        Limits of trajectories, see `Plan.trajectory`.

    Attributes
    ----------
    robot : Robot
    group : tuple of str
        Names of the joints that move.
    world : World
    frame : str
    q : (nq,) array
        Current configuration, from which plans start; `execute` updates it.

    Examples
    --------
    >>> import kinodyn as kd
    >>> planner = kd.planning.MotionPlanner(kd.load("panda"), q=[0, -0.8, 0, -2.4, 0, 1.6, 0.8])
    >>> planner.world.add_box("table", (1.0, 1.0, 0.04), ((0.5, 0.0, -0.1), None))
    >>> plan = planner.plan_to_joint_values({"panda_joint1": 1.0})
    >>> planner.execute(plan).status
    'done'
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        group: Group = None,
        *,
        world: World | None = None,
        frame: str | None = None,
        q: ArrayLike | None = None,
        time_budget: float = 1.0,
        seed: int = 0,
        allowed: Iterable[Iterable[str]] | None = None,
        settings: PlannerSettings | None = None,
        resolution: float | None = None,
        velocity: LimitLike | None = None,
        acceleration: LimitLike | None = None,
        jerk: LimitLike | None = None,
        torque: LimitLike | Literal[False] | None = None,
    ) -> None:
        joints = group_joints(robot, group)
        self.robot, self.group = robot, tuple(joint.name for joint in joints)
        self.world = World() if world is None else world
        if not isinstance(self.world, World):
            raise InputError(f"world must be a kd.collision.World, got {type(world).__name__}")
        self.frame = frame if frame is not None else _end_effector(robot, self.group)
        neutral = np.clip(robot.neutral(), robot.limits.lower, robot.limits.upper)
        self.q: Array = neutral if q is None else np.array(numbers("q", q, robot.nq))
        self._columns = group_columns(joints)
        self._options: dict[str, Any] = {"time_budget": time_budget, "seed": seed, "allowed": as_pairs(allowed)}
        self._settings, self._resolution = settings, resolution
        self._limits: dict[str, Any] = {
            "velocity": velocity,
            "acceleration": acceleration,
            "jerk": jerk,
            "torque": torque,
        }

    @check_types
    def plan_to_pose(
        self, T: ArrayLike | PoseRegion, frame: str | None = None, *, start: ArrayLike | None = None
    ) -> Plan:
        """Plan to a pose of a frame.

        Parameters
        ----------
        T : (4, 4) or (n, 4, 4)
            Pose in the world; several are alternatives. A `PoseRegion` is allowed too.
        frame
            By default that of the planner.
        start : (nq,), optional
            By default the current configuration.

        Returns
        -------
        Plan
        """
        return self._plan({frame or self.frame: T}, start)

    def plan_to_joint_values(self, values: ArrayLike | Mapping[str, float], *, start: ArrayLike | None = None) -> Plan:
        """Plan to positions of joints.

        Parameters
        ----------
        values : (nq,), one for each joint of the group, or dict of joint -> position
            [rad, m]; joints that a dict does not mention stay.
        start : (nq,), optional
            By default the current configuration.

        Returns
        -------
        Plan
        """
        if isinstance(values, Mapping):
            return self._plan(dict(values), start)
        given = numbers("values", values)
        if given.shape not in ((self.robot.nq,), (len(self._columns),)):
            raise InputError(
                f"values must be ({self.robot.nq},), or one for each of the {len(self._columns)} coordinates of the "
                f"group, got shape {given.shape}"
            )
        goal = np.array(given)
        if len(given) != self.robot.nq:
            goal = self._start(start).copy()
            goal[self._columns] = given
        return self._plan(goal, start)

    @check_types
    def plan_to_named(self, name: str, *, start: ArrayLike | None = None) -> Plan:
        """Plan to a named configuration of the robot.

        Parameters
        ----------
        name
            Name of a configuration, such as a group state of the SRDF.
        start : (nq,), optional
            By default the current configuration.

        Returns
        -------
        Plan
        """
        return self._plan(name, start)

    @check_types
    def plan_cartesian(
        self,
        poses: MatrixLike,
        frame: str | None = None,
        *,
        start: ArrayLike | None = None,
        step: float = 0.01,
        angle_step: float = 0.05,
    ) -> CartesianPlan:
        """Plan a motion of a frame along straight lines.

        Parameters
        ----------
        poses : (4, 4) or (n, 4, 4)
            T_world_frame at the end of each line.
        frame
            By default that of the planner.
        start : (nq,), optional
            By default the current configuration.
        step, angle_step
            Maximum distance [m] and angle [rad] between configurations of the path.

        Returns
        -------
        CartesianPlan
            Its `fraction` is the part of the motion that is possible.
        """
        options = {"group": self.group, "step": step, "angle_step": angle_step, "allowed": self._options["allowed"]}
        return plan_cartesian(self.robot, self._start(start), poses, frame or self.frame, self.world, **options)

    @check_types
    def trajectory(self, found: Plan) -> PiecewisePolynomial:
        """Time a plan within the limits of the planner.

        Parameters
        ----------
        found
            A plan with a path.

        Returns
        -------
        PiecewisePolynomial
        """
        return found.trajectory(**self._limits)

    @check_types
    def execute(
        self, motion: Plan | PiecewisePolynomial, simulator: Simulator | None = None, **options: Any
    ) -> Execution:
        """Follow a plan, monitor the world, stop and replan; see `kd.planning.execute`.

        Parameters
        ----------
        motion
            A plan or a trajectory from the current configuration.
        simulator
            Simulator or driver of the robot; by default the native simulation.
        options
            Keyword arguments of `kd.planning.execute`.

        Returns
        -------
        Execution
        """
        given = {**self._limits, **self._options, "world": self.world, **options}
        result = execute(motion, self.robot if simulator is None else simulator, **given)
        self.q = np.array(result.recording.q[-1])
        return result

    def _start(self, start: ArrayLike | None) -> Array:
        return self.q if start is None else numbers("start", start, self.robot.nq)

    def _plan(self, goal: Goal, start: ArrayLike | None) -> Plan:
        options = {**self._options, "settings": self._settings, "resolution": self._resolution}
        return plan(self.robot, self._start(start), goal, self.world, group=self.group, **options)


def _end_effector(robot: Robot, group: tuple[str, ...]) -> str:
    """Return the one end effector that the last joint of a group carries, else the link of that joint."""
    last = robot.joint(group[-1]).child
    places = compile_tree(robot.description).places
    carried = [frame for frame in robot.description.end_effectors.values() if places[frame].body == places[last].body]
    return carried[0] if len(carried) == 1 else last
