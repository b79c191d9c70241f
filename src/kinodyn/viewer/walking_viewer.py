"""WalkingViewer: the part of the viewer that makes the robot walk."""

from __future__ import annotations

from abc import abstractmethod

from numpy.typing import ArrayLike

from kinodyn.errors import InputError, KinodynError
from kinodyn.viewer.display import Display
from kinodyn.viewer.protocol import Mode
from kinodyn.viewer.walker import Walker


class WalkingViewer(Display):
    """A page with a robot that a walking controller moves, in simulation."""

    walker: Walker | None

    @abstractmethod
    def _enter(self, mode: Mode) -> None:
        """Change what moves the robot."""

    def walk(self, velocity: ArrayLike | None = None) -> None:
        """Simulate walking in MuJoCo, starting from standing at the origin.

        Parameters
        ----------
        velocity : (3,) array, optional
            Forward, sideways [m/s] and turning [rad/s].

        Raises
        ------
        KinodynError
            If the robot cannot walk or has fallen.
        """
        walker = self.walker or Walker(self.robot)  # takes a second, therefore not under the lock
        if walker.problem:
            raise KinodynError(f"{walker.problem}; stand_up() puts the robot back on its feet")
        if velocity is not None:
            walker.command(velocity)
        with self._lock:
            self.walker = self.walker or walker
            self._enter("walk")
            walker.start()
            self._page.show_velocity(walker.velocity)

    def steer(self, velocity: ArrayLike) -> None:
        """Change the commanded velocity of a walk; zeros stop it.

        Parameters
        ----------
        velocity : (3,) array
            Forward, sideways [m/s] and turning [rad/s]; beyond the robot's limits it raises InputError.
        """
        if self.walker is None or self.walker.problem:
            return
        try:
            self.walker.command(velocity)
        finally:
            self._page.show_velocity(self.walker.velocity)  # the previous command if the new one was rejected

    def push(self, force: ArrayLike, duration: float = 0.1) -> None:
        """Push the base of a walking robot.

        Parameters
        ----------
        force : (3,) array
            World axes [N].
        duration : float
            [s]
        """
        if self.walker is None:
            raise InputError("there is no walking robot to push; call walk() first")
        self.walker.push(force, duration)

    def stop_walking(self) -> None:
        """Pause a walk; `walk` continues it."""
        with self._lock:
            self._enter("pose")

    def stand_up(self) -> None:
        """Put a robot that walked or fell back on its feet, at the origin."""
        if self.walker is None:
            return
        self.walker.stop()
        self.walker.reset()
        with self._lock:
            self._enter("walk")
            self.walker.start()
