"""A robot that walks in a simulator in a background thread, in real time, and takes commands meanwhile."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.checks import numbers, positive
from kinodyn.display import displayed
from kinodyn.errors import KinodynError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.sim import Simulator, observe
from kinodyn.viewer.snapshot import Snapshot
from kinodyn.walking import Biped, GaitSettings, WalkingController, make_simulator
from kinodyn.walking.engines import Engine

MAX_LAG = 0.1  # [s] behind the clock, beyond which the simulation does not catch up
REAL_TIME_WINDOW = 0.5  # [s] over which the real_time_factor is measured
FALL_TIME = 1.5  # [s] that a fall is shown before the simulation pauses
TICKS_PER_CLOCK_CHECK = 4  # control ticks between readings of the clock, 8 ms


@displayed
class Walker:
    """A walk that continues until it is stopped.

    Parameters
    ----------
    robot
        A biped with a floating base; others raise KinodynError with the reason.
    settings
        Settings of the gait, by default `GaitSettings.from_robot(robot)`.
    engine
        "mujoco", "native" or a simulator, as in `walking.walk`.
    options
        Options of the engine, such as friction.

    Attributes
    ----------
    velocity : (3,)
        The current command.
    pushes : int
        Number of pushes since the last reset.
    fallen : float or None
        Time of the fall [s of the simulation].
    real_time_factor : float
        Recent ratio of simulated to real time; 1 is real time.
    problem : str
        What ended the walk, if anything: a fall, or a simulation that diverged.

    Examples
    --------
    >>> import kinodyn as kd
    >>> walker = kd.viewer.Walker(kd.load("humanoid"))
    >>> walker.advance(0.1)  # 0.1 s at once, without a thread
    >>> round(walker.time, 3), walker.problem
    (0.1, '')
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        *,
        settings: GaitSettings | None = None,
        engine: Engine | Simulator = "mujoco",
        **options: Any,
    ) -> None:
        self.robot = robot
        self.body = Biped.from_robot(robot)
        self.settings = settings or GaitSettings.from_robot(self.body)
        self._simulator = make_simulator(self.body, engine, **options)
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.real_time_factor = 1.0
        self.reset()

    def reset(self) -> None:
        """Return to the stance at the start, without a command."""
        with self._lock:
            self._simulator.reset(self.body.q)
            self._controller = WalkingController(self.body, settings=self.settings)
            self._state = State(self.robot, self.body.q)
            self._ticks = 0
            self.velocity, self.pushes = np.zeros(3), 0
            self._push, self._push_left = np.zeros(6), 0
            self.problem = ""
            self.fallen: float | None = None
            self._publish()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._ticks * self._controller.dt

    @property
    def snapshot(self) -> Snapshot:
        """The latest state; consistent, whatever the thread does meanwhile."""
        return self._snapshot

    @property
    def running(self) -> bool:
        """Whether its thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def command(self, velocity: ArrayLike | None) -> None:
        """Set the walking velocity.

        Parameters
        ----------
        velocity : (3,) or None
            Forward, lateral [m/s], turn [rad/s]; None or zeros stop.

        Raises
        ------
        InputError
            For a velocity beyond the robot's limits; the previous command stays.
        """
        target = None if velocity is None else numbers("velocity", velocity, 3)
        if target is not None and not target.any():
            target = None
        with self._lock:
            self._controller.command(target, at=self.time)
            self.velocity = np.zeros(3) if target is None else target

    def push(self, force: ArrayLike, duration: float = 0.1) -> None:
        """Push the base from now on.

        Parameters
        ----------
        force
            (3,) [N], in world axes.
        duration
            [s]
        """
        wrench = np.concatenate([numbers("force", force, 3), np.zeros(3)])
        positive("duration of the push", duration)
        with self._lock:
            self.pushes += 1
            self._push, self._push_left = wrench, max(1, round(duration / self._controller.dt))

    def start(self) -> None:
        """Continue in real time, in a thread."""
        if not self.running:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, daemon=True, name="kinodyn walker")
            self._thread.start()

    def stop(self) -> None:
        """Pause the simulation."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None

    def advance(self, duration: float) -> None:
        """Simulate as fast as possible.

        Parameters
        ----------
        duration : float
            [s]
        """
        for _ in range(round(duration / self._controller.dt)):
            with self._lock:
                self._tick()
        self._publish()

    def _run(self) -> None:
        """Tick in real time; on a machine that is too slow, slower, which `real_time_factor` shows."""
        origin, window = time.perf_counter() - self.time, (time.perf_counter(), self.time)
        while not self._stop.is_set() and not self._resting():
            ahead = origin + self.time - time.perf_counter()
            if ahead > 0:
                self._stop.wait(ahead)
            elif ahead < -MAX_LAG:
                origin = time.perf_counter() - self.time
            for _ in range(TICKS_PER_CLOCK_CHECK):
                with self._lock:
                    self._tick()
            self._publish()
            now = time.perf_counter()
            if now - window[0] >= REAL_TIME_WINDOW:
                self.real_time_factor = (self.time - window[1]) / (now - window[0])
                window = (now, self.time)
            elif self.time < window[1]:  # it was reset
                origin, window = now - self.time, (now, self.time)

    def _resting(self) -> bool:
        return bool(self.problem) and (self.fallen is None or self.time > self.fallen + FALL_TIME)

    def _tick(self) -> None:
        """Sense, decide, act."""
        if self.problem and self.fallen is None:
            return
        simulator, controller = self._simulator, self._controller
        try:
            state = self._state.update(simulator.q, simulator.v)
            tau = controller.act(observe(simulator, state, self.time))
            tau = np.clip(tau, -self.robot.limits.effort, self.robot.limits.effort)
            wrenches = {self.robot.joints[0].child: self._push} if self._push_left > 0 else None
            simulator.step(tau, wrenches, steps=max(1, round(controller.dt / simulator.dt)))
        except KinodynError as cause:
            self.problem = f"the simulation stopped after {self.time:.2f} s: {cause}"
            return
        self._ticks += 1
        self._push_left = max(0, self._push_left - 1)
        if controller.fallen is not None and self.fallen is None:
            self.fallen = controller.fallen
            self.problem = f"the robot fell after {self.fallen:.2f} s"

    def _publish(self) -> None:
        simulator = self._simulator
        with self._lock:
            forces = simulator.contact_forces()
            self._snapshot = Snapshot(simulator.q.copy(), simulator.v.copy(), None, forces)
