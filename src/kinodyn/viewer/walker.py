"""A robot that walks in MuJoCo in a thread of its own, at the pace of the clock, and takes commands meanwhile."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.checks import numbers
from kinodyn.errors import InputError, KinodynError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State
from kinodyn.sim import MujocoSimulator
from kinodyn.viewer.snapshot import Snapshot
from kinodyn.walking import Biped, WalkingController

LATE = 0.1  # s by which it may be behind the clock before it gives up catching up
BEAT = 0.5  # s over which the pace is measured
LYING = 1.5  # s that a fall is shown before the simulation rests


class Walker:
    """A walk that goes on until it is stopped.

    Parameters
    ----------
    robot
        A biped with a floating base; others raise KinodynError with the reason.
    settings
        Of `sim.MujocoSettings`, such as friction.

    Attributes
    ----------
    velocity : (3,)
        The command that holds.
    pushes : int
        How many there were since it stood up.
    fallen : float or None
        When it fell [s of the simulation].
    pace : float
        Simulated over real time, lately; 1 is as fast as the clock.
    problem : str
        What ended the walk, if anything did: a fall, a simulation that diverged.

    Example
    -------
    >>> import kinodyn as kd
    >>> walker = kd.viewer.Walker(kd.load("humanoid"))
    >>> walker.advance(0.1)  # 0.1 s at once, without a thread
    >>> round(walker.time, 3), walker.problem
    (0.1, '')
    """

    def __init__(self, robot: Robot, **settings: Any) -> None:
        self.robot = robot
        self.body = Biped.of(robot)
        frames = [foot.frame for foot in self.body.feet.values()]
        self._simulator = MujocoSimulator(robot, frames=frames, **settings)
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.pace = 1.0
        self.reset()

    def reset(self) -> None:
        """Stand it up again at the start, without a command."""
        with self._lock:
            self._simulator.reset(self.body.q)
            self._controller = WalkingController(self.body, forces=self._simulator.contact_forces)
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
        """The latest state; a whole one, whatever the thread does meanwhile."""
        return self._snapshot

    @property
    def running(self) -> bool:
        """Whether its thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def command(self, velocity: ArrayLike | None) -> None:
        """Walk at a velocity (3,): forward, sideways [m/s], turn [rad/s]; None or zeros: stop.

        A velocity beyond the robot's limits raises InputError, and the command before stays.
        """
        wanted = None if velocity is None else numbers("velocity", velocity, 3)
        if wanted is not None and not wanted.any():
            wanted = None
        with self._lock:
            self._controller.command(wanted, at=self.time)
            self.velocity = np.zeros(3) if wanted is None else wanted

    def push(self, force: ArrayLike, duration: float = 0.1) -> None:
        """Push the base with a force (3,) [N], in world axes, for `duration` seconds from now on."""
        wrench = np.concatenate([numbers("force", force, 3), np.zeros(3)])
        if not isinstance(duration, int | float | np.number) or not 0 < duration < np.inf:
            raise InputError(f"duration of the push must be a positive number of seconds, got {duration!r}")
        with self._lock:
            self.pushes += 1
            self._push, self._push_left = wrench, max(1, round(duration / self._controller.dt))

    def start(self) -> None:
        """Let it go on at the pace of the clock, in a thread."""
        if not self.running:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, daemon=True, name="kinodyn walker")
            self._thread.start()

    def stop(self) -> None:
        """Halt it where it is."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None

    def advance(self, duration: float) -> None:
        """Simulate so many seconds at once, as fast as it goes."""
        for _ in range(round(duration / self._controller.dt)):
            with self._lock:
                self._tick()
        self._publish()

    def _run(self) -> None:
        """Tick at the pace of the clock; where the machine is too slow, slower, and the pace tells so."""
        origin, beat = time.perf_counter() - self.time, (time.perf_counter(), self.time)
        while not self._stop.is_set() and not self._resting():
            ahead = origin + self.time - time.perf_counter()
            if ahead > 0:
                self._stop.wait(ahead)
            elif ahead < -LATE:
                origin = time.perf_counter() - self.time
            for _ in range(4):  # 8 ms between looks at the clock
                with self._lock:
                    self._tick()
            self._publish()
            now = time.perf_counter()
            if now - beat[0] >= BEAT:
                self.pace = (self.time - beat[1]) / (now - beat[0])
                beat = (now, self.time)
            elif self.time < beat[1]:  # it was reset
                origin, beat = now - self.time, (now, self.time)

    def _resting(self) -> bool:
        return bool(self.problem) and (self.fallen is None or self.time > self.fallen + LYING)

    def _tick(self) -> None:
        """Sense, decide, act."""
        if self.problem and self.fallen is None:
            return
        simulator, controller = self._simulator, self._controller
        try:
            self._state.update(simulator.q, simulator.v)
            tau = np.clip(controller(self.time, self._state), -self.robot.limits.effort, self.robot.limits.effort)
            wrenches = {self.robot.joints[0].child: self._push} if self._push_left > 0 else None
            simulator.step(tau, wrenches, steps=max(1, round(controller.dt / simulator.dt)))
        except KinodynError as cause:
            self.problem = f"the simulation stopped after {self.time:.2f} s: {cause}"
            return
        self._ticks += 1
        self._push_left = max(0, self._push_left - 1)
        if controller.fallen is not None and self.fallen is None:
            self.fallen = controller.fallen
            self.problem = f"it fell after {self.fallen:.2f} s"

    def _publish(self) -> None:
        simulator = self._simulator
        with self._lock:
            forces = simulator.contact_forces()
            self._snapshot = Snapshot(simulator.q.copy(), simulator.v.copy(), None, forces)
