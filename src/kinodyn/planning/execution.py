"""Execution of plans: a controller follows them, the world is monitored, the robot stops and replans."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import at_most, integer, nonnegative, positive
from kinodyn.collision.query import as_pairs
from kinodyn.collision.world import World
from kinodyn.control.computed_torque import ComputedTorque
from kinodyn.control.gains import Gains
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.planning.execution_run import ControllerFactory, Execution, ExecutionOptions, ExecutionRun
from kinodyn.planning.motion_monitor import MotionMonitor
from kinodyn.planning.plan import plan
from kinodyn.planning.result import Plan
from kinodyn.sim.native import NativeSimulator
from kinodyn.sim.protocol import Simulator
from kinodyn.trajectory.bounds import LimitLike
from kinodyn.trajectory.piecewise import PiecewisePolynomial

FREQUENCY = 20.0  # [rad/s] of the computed torque controller

MAX_TIME = 1e5  # [s] of waiting, settling and periods


@check_types
def execute(
    motion: Plan | PiecewisePolynomial,
    simulator: Simulator | Robot,
    *,
    world: World | None = None,
    controller: ControllerFactory | None = None,
    control_dt: float | None = None,
    check_dt: float = 0.02,
    on_check: Callable[[float], object] | None = None,
    max_error: float = 0.1,
    max_replans: int = 5,
    time_budget: float = 1.0,
    seed: int = 0,
    allowed: Iterable[Iterable[str]] | None = None,
    wait: float = 2.0,
    settling_time: float = 0.5,
    velocity: LimitLike | None = None,
    acceleration: LimitLike | None = None,
    jerk: LimitLike | None = None,
    torque: LimitLike | Literal[False] | None = None,
) -> Execution:
    """Follow a plan or a trajectory with a controller, monitor the world, stop and replan if the motion is obstructed.

    Parameters
    ----------
    motion
        A `Plan`, or a trajectory such as `Plan.trajectory` returns.
    simulator
        Any object that offers the protocol `kd.sim.Simulator`, at rest at the start of the motion: a simulator, or a
        driver of a real robot. A `Robot` is simulated by `kd.sim.NativeSimulator`, from the start of the motion.
    world
        The obstacles, which may change meanwhile, from another thread or by `on_check`; by default those of the plan.
    controller
        Function that returns a controller for a reference trajectory; by default computed torque with 20 rad/s.
    control_dt, check_dt
        Periods of the controller, by default the simulator's time step, and of the checks of the remaining motion
        after the world has changed [s].
    on_check
        Called with the time before each check [s]: moves obstacles in a simulation, or draws. If it returns True, the
        robot brakes and the execution ends with the status "stopped".
    max_error
        Tracking error of a joint above which the execution is aborted [rad or m].
    max_replans
        Maximum number of replans.
    time_budget, seed, allowed
        Arguments of each plan, see `plan`. The allowed pairs of a given plan stay.
    wait
        How long to wait at rest for a path [s].
    settling_time
        Time to come to rest at the goal [s].
    velocity, acceleration, jerk, torque
        Limits of braking and of new trajectories, see `Plan.trajectory`.

    Returns
    -------
    Execution

    Notes
    -----
    When the remaining motion is no longer free, the robot brakes as fast as the limits of acceleration and jerk allow,
    and plans from where it will be at rest. If the new path is available by the next check, and a motion within the
    limits leads to it from the state at that time, the robot follows it without coming to rest.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> start, goal = [0, -0.8, 0, -2.4, 0, 1.6, 0.8], [1, -0.2, 0, -2, 0, 1.6, 0.8]
    >>> kd.planning.execute(kd.planning.plan(robot, start, goal), robot).status
    'done'
    """
    limits = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk, "torque": torque}
    pairs, watched = as_pairs(allowed), world if world is not None else getattr(motion, "world", None)
    if isinstance(motion, Plan):
        first, joints, pairs = motion.trajectory(**limits), motion.group, pairs | motion.allowed  # type: ignore[arg-type]
    elif isinstance(motion, PiecewisePolynomial) and motion.robot is not None:
        first, joints = motion, _moving_joints(motion, motion.robot)
    else:
        raise InputError(f"motion must be a Plan or a PiecewisePolynomial of a robot, got {type(motion).__name__}")
    if isinstance(simulator, Robot):
        simulator = NativeSimulator(simulator)
        simulator.reset(first(0.0))
    robot, goal = simulator.robot, first(first.duration)
    if robot is not first.robot:
        raise InputError("the motion belongs to another robot than the simulator")

    def replan(q: Array) -> Plan:
        return plan(robot, q, goal, watched, group=joints, time_budget=time_budget, seed=seed, allowed=pairs)

    options = ExecutionOptions(
        replan,
        limits,
        _computed_torque(robot) if controller is None else controller,
        1 if control_dt is None else _control_steps(control_dt, simulator.dt),
        at_most("check_dt", positive("check_dt", check_dt), MAX_TIME),
        on_check,
        positive("max_error", max_error),
        integer("max_replans", max_replans),
        at_most("wait", nonnegative("wait", wait), MAX_TIME),
        at_most("settling_time", nonnegative("settling_time", settling_time), MAX_TIME),
    )
    return ExecutionRun(simulator, first, MotionMonitor(robot, watched, pairs, joints, first(0.0)), options).run()


def _control_steps(control_dt: float, dt: float) -> int:
    return max(1, round(at_most("control_dt", positive("control_dt", control_dt), MAX_TIME) / dt))


def _computed_torque(robot: Robot) -> ControllerFactory:
    return lambda reference: ComputedTorque(robot, reference, Gains.from_frequency(FREQUENCY))


def _moving_joints(motion: PiecewisePolynomial, robot: Robot) -> tuple[str, ...]:
    moves = (motion.coefficients[1:] != 0.0).any(axis=(0, 1))
    return tuple(joint.name for joint in robot.joints if joint.mimic is None and moves[joint.v].any())
