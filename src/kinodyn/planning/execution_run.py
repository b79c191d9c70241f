"""One run of a motion on a simulator or robot: follow, brake, replan, wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import vector
from kinodyn.control.controller import ControlFunction, Controller
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.state import State
from kinodyn.planning.connection import connected, within_torques
from kinodyn.planning.curves import remaining, until
from kinodyn.planning.joint_motions import JointMotions
from kinodyn.planning.motion_monitor import MotionMonitor
from kinodyn.planning.result import Plan
from kinodyn.planning.timing import motion_limits
from kinodyn.recording import Recording
from kinodyn.sim.protocol import Diverged, Simulator
from kinodyn.sim.recorder import Recorder
from kinodyn.trajectory.online import OnlineTrajectory
from kinodyn.trajectory.piecewise import PiecewisePolynomial, joined
from kinodyn.trajectory.space import Space

RETRY_INTERVAL = 0.25  # [s] between attempts to plan while waiting

Phase = Literal["moving", "braking", "waiting", "halting", "aborting", "end"]
Status = Literal["done", "stopped", "aborted"]


@displayed
@dataclass(frozen=True, eq=False)
class Execution:
    """Result of `execute`.

    Attributes
    ----------
    status : str
        "done": at the goal; "stopped": at rest before the goal, because the motion is obstructed; "aborted": the
        tracking error was too large, or the simulation diverged or was interrupted.
    reason : str
        Why the goal was not reached; empty if it was.
    replans : int
        How often the robot continued on another path.
    replans_in_motion : int
        How many of these replans succeeded without coming to rest.
    tracking_error : float
        Maximum distance of a joint from its reference [rad or m].
    goal_error : float
        Maximum distance of a joint from the goal at the end [rad or m].
    unsafe_stops : int
        Stops whose braking motion was not collision-free: the obstacle appeared too near.
    planning_times : tuple of float
        Times of all attempts to replan, time parameterisation included [s]. The simulation does not advance meanwhile.
    recording : Recording
        Recording with the signals "q_reference" and "error".
    """

    status: Literal["done", "stopped", "aborted"]
    reason: str
    replans: int
    replans_in_motion: int
    tracking_error: float
    goal_error: float
    unsafe_stops: int
    planning_times: tuple[float, ...]
    recording: Recording

    @property
    def success(self) -> bool:
        """Whether the robot is at the goal."""
        return self.status == "done"

    def __repr__(self) -> str:
        why = f": {self.reason}" if self.reason else ""
        return f"Execution({self.status}{why}, {self.replans} replans, tracking error {self.tracking_error:.2g})"


class Reference:
    """The reference of the controller: a motion that can be replaced during a run."""

    def __init__(self, motion: PiecewisePolynomial) -> None:
        self.motion, self.start = motion, 0.0

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Compute q, v or a of the reference at a time [s]."""
        return self.motion(np.maximum(np.asarray(t) - self.start, 0.0), order)

    @property
    def end(self) -> float:
        """Time at which the reference comes to rest [s]."""
        return self.start + self.motion.duration


ControllerFactory = Callable[[Reference], Controller | ControlFunction]


@dataclass(frozen=True, eq=False)
class ExecutionOptions:
    """Options of `execute`: functions that plan and make the controller, limits, periods and tolerances."""

    replan: Callable[[Array], Plan]
    limits: dict[str, Any]
    controller: ControllerFactory
    control_steps: int
    check_dt: float
    on_check: Callable[[float], object] | None
    max_error: float
    max_replans: int
    wait: float
    settling_time: float


class ExecutionRun:
    """A run: sense, check, decide, act, record."""

    def __init__(
        self, simulator: Simulator, motion: PiecewisePolynomial, monitor: MotionMonitor, options: ExecutionOptions
    ) -> None:
        self.simulator, self.monitor, self.options, self.robot = simulator, monitor, options, simulator.robot
        self.reference, self.goal = Reference(motion), motion(motion.duration)
        self.controller = options.controller(self.reference)
        if not callable(self.controller):
            raise InputError(f"controller must return a function of (t, state), got {self.controller!r}")
        self.recorder = Recorder(self.robot, {})
        self.phase: Phase = "moving"
        self.status: Status = "stopped"
        self.reason, self.error = "", 0.0
        self.replans = self.replans_in_motion = self.unsafe_stops = 0
        self.began = simulator.time
        self.limits = motion_limits(self.robot, **options.limits)
        self.joints = JointMotions(Space(self.robot), motion(0.0), monitor.columns, self.limits.bounds)
        self.planning_times: list[float] = []
        self.give_up = self.next_attempt = 0.0

    def run(self) -> Execution:
        """Run to the end, or until something stops it."""
        simulator, began = self.simulator, self.began
        state, next_check = State(self.robot, simulator.q, simulator.v), 0.0
        try:
            while True:
                t = simulator.time - began
                if t >= next_check - 1e-9:
                    self._check(t)
                    next_check = t + self.options.check_dt
                if self.phase == "end":
                    break
                self._step(t, state.update(simulator.q, simulator.v))
        except Diverged as cause:
            self.status, self.reason = "aborted", str(cause)
        except KeyboardInterrupt:
            self.status, self.reason = "aborted", f"interrupted at {simulator.time - began:.6g} s"
        return self._result()

    def _step(self, t: float, state: State) -> None:
        """Follow the reference for a control period."""
        tau = vector("the torques from the controller", self.controller(t, state), self.robot.nv)
        tau = np.clip(tau, -self.robot.limits.effort, self.robot.limits.effort)
        target = self.reference(t)
        error = float(np.abs(self.robot.difference(state.q, target)).max(initial=0.0))
        self.error = max(self.error, error)
        if error > self.options.max_error and self.phase != "aborting":
            self._abort(t, state, error)
        signals: dict[str, ArrayLike] = {"q_reference": target, "error": error}
        self.recorder.add(t, state.q, state.v, tau, self.simulator.contact_forces(), signals)
        self.simulator.step(tau, steps=self.options.control_steps)

    def _check(self, t: float) -> None:
        """Decide what happens until the next check."""
        asked_to_stop = self.options.on_check is not None and self.options.on_check(t) is True
        if asked_to_stop and self.phase in ("moving", "braking", "waiting"):
            self.reason = f"stop requested at {t:.3g} s"
            self._follow(t, self._stop(*(self.reference(t, order) for order in range(3))), "halting")
        changed, at_rest = self.monitor.changed(), t >= self.reference.end
        if self.phase == "moving" and changed and not at_rest:
            reason = self.monitor.blocking(remaining(self.reference.motion, t - self.reference.start))
            if reason:
                self._brake(t, reason)
        elif self.phase == "moving" and t >= self.reference.end + self.options.settling_time:
            self._finish("done", "")
        elif self.phase == "braking" and at_rest:
            self.give_up = t + self.options.wait
            self._replan(t)
        elif self.phase == "waiting":
            self._wait(t)
        elif self.phase == "halting" and t >= self.reference.end + self.options.settling_time:
            self._finish("stopped", self.reason)
        elif self.phase == "aborting" and t >= self.reference.end + self.options.settling_time:
            self._finish("aborted", self.reason)

    def _brake(self, t: float, reason: str) -> None:
        """Begin to brake, and search for another path meanwhile."""
        stop = self._stop(*(self.reference(t, order) for order in range(3)))
        self.reason = f"at {t:.3g} s the motion would collide: {reason}"
        self._follow(t, stop, "braking")
        if self.monitor.blocking(stop):
            self.unsafe_stops += 1
        elif self.replans < self.options.max_replans:
            self._replan_in_motion(t, stop)

    def _replan_in_motion(self, t: float, stop: PiecewisePolynomial) -> None:
        """Switch from braking to a free path at the next check; keep braking if there is none by then."""
        delay, begin = min(self.options.check_dt, stop.duration), time.perf_counter()
        found = self.options.replan(stop(stop.duration))
        after = None
        if found.success and len(found.path) > 1:
            after = connected(
                self.joints, self.joints.state(stop, delay), found.path, self._is_free, self._timer(found)
            )
        self.planning_times.append(time.perf_counter() - begin)
        # the time of a simulation stands still meanwhile, that of a robot does not
        if after is not None and self.simulator.time - self.began <= t + delay:
            self.replans, self.replans_in_motion = self.replans + 1, self.replans_in_motion + 1
            self._follow(t, joined([until(stop, delay), after]) if delay > 0.0 else after, "moving")

    def _is_free(self, motion: PiecewisePolynomial) -> bool:
        return within_torques(self.robot, motion, self.limits) and not self.monitor.blocking(motion)

    def _timer(self, found: Plan) -> Callable[[Array], PiecewisePolynomial]:
        return lambda path: replace(found, path=path).trajectory(**self.options.limits)

    def _replan(self, t: float) -> None:
        """Plan from rest; wait if there is no path."""
        if self.replans >= self.options.max_replans:
            return self._finish("stopped", f"{self.reason}; all {self.replans} replans are used")
        begin = time.perf_counter()
        found = self.options.replan(self.reference(t))
        motion = found.trajectory(**self.options.limits) if found.success else None
        self.planning_times.append(time.perf_counter() - begin)
        if motion is not None:
            self.replans += 1
            self._follow(t, motion, "moving")
        else:
            self.reason = f"{found.status}: {found.message}"
            self.phase, self.next_attempt = "waiting", t + RETRY_INTERVAL
        return None

    def _wait(self, t: float) -> None:
        if t >= self.next_attempt:
            self._replan(t)
        if self.phase == "waiting" and t >= self.give_up:
            self._finish("stopped", self.reason)

    def _abort(self, t: float, state: State, error: float) -> None:
        """Come to rest from the measured state."""
        self.reason = f"at {t:.3g} s a joint was {error:.3g} rad or m from its reference"
        self._follow(t, self._stop(state.q.copy(), state.v.copy(), np.zeros(self.robot.nv)), "aborting")

    def _stop(self, q: Array, v: Array, a: Array) -> PiecewisePolynomial:
        """Return the motion that comes to rest in the least time."""
        limits = {name: getattr(self.limits.bounds, name) for name in ("velocity", "acceleration", "jerk")}
        return OnlineTrajectory(q, v0=v, a0=a, **limits, robot=self.robot).plan()

    def _follow(self, t: float, motion: PiecewisePolynomial, phase: Phase) -> None:
        self.reference.motion, self.reference.start, self.phase = motion, t, phase

    def _finish(self, status: Status, reason: str) -> None:
        self.status, self.reason, self.phase = status, reason, "end"

    def _result(self) -> Execution:
        if not len(self.recorder):
            self.recorder.add(0.0, self.simulator.q, self.simulator.v, np.zeros(self.robot.nv), {}, {})
        goal_error = float(np.abs(self.robot.difference(self.simulator.q, self.goal)).max(initial=0.0))
        if self.status == "done" and goal_error > self.options.max_error:
            self.status, self.reason = "aborted", f"a joint stayed {goal_error:.3g} rad or m from the goal"
        recording = self.recorder.recording("complete" if self.status == "done" else "interrupted", self.reason)
        times = tuple(self.planning_times)
        return Execution(
            self.status,
            self.reason,
            self.replans,
            self.replans_in_motion,
            self.error,
            goal_error,
            self.unsafe_stops,
            times,
            recording,
        )
