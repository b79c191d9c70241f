"""PlanningViewer: the part of the viewer that plans among obstacles."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.collision.world import World
from kinodyn.planning import Plan
from kinodyn.planning.goals import Goal
from kinodyn.viewer.display import Display
from kinodyn.viewer.planning import Planning
from kinodyn.viewer.protocol import Mode
from kinodyn.viewer.snapshot import check_configuration


class PlanningViewer(Display):
    """A page with a robot among obstacles, and a plan that follows the goal and the obstacles."""

    mode: Mode

    @property
    @abstractmethod
    def q(self) -> Array:
        """The configuration (nq,) that is shown."""

    @abstractmethod
    def pause(self) -> None:
        """Pause the playback."""

    @abstractmethod
    def _enter(self, mode: Mode) -> None:
        """Change what moves the robot."""

    @property
    def planning(self) -> Planning:
        """The plan and the world that are shown."""
        return self._page.planning

    @property
    def world(self) -> World:
        """The obstacles that are shown; they are drawn again whenever the world changes."""
        return self.planning.world

    def plan(self, goal: Goal | None = None, **settings: Any) -> None:
        """Plan to a goal from the configuration that is shown, and again whenever the goal or the world changes.

        Planning runs in a background thread; `planning.outcome` is the latest result.

        Parameters
        ----------
        goal
            As in `planning.plan`. It can be dragged in the page; by default it is where the robot is.
        **settings
            Keyword arguments of `planning.plan`, such as `group` and `time_budget`.
        """
        with self._lock:
            self.planning.start(self.q, goal, settings)
            self._page.add_plan_panel(self)
            self._enter("plan")

    def show_plan(self, plan: Plan) -> None:
        """Show a plan with its world and a timeline.

        Parameters
        ----------
        plan : Plan
        """
        with self._lock:
            self.planning.show(plan)
            self._page.add_plan_panel(self)
            self._enter("plan")

    def replan(self, *, start: ArrayLike | None = None, goal: Any = None) -> None:
        """Plan again.

        Parameters
        ----------
        start : (nq,) array, optional
            By default as before.
        goal
            As in `planning.plan`; by default as before.
        """
        begin = None if start is None else check_configuration(self.robot, start)
        with self._lock:
            if self.planning.problem is None:
                self.planning.start(self.q if begin is None else begin, None, {})
            self.planning.replan(start=begin, goal=goal)
            self._enter("plan")

    def play_plan(self) -> None:
        """Play the plan."""
        with self._lock:
            self._enter("plan")
            self.planning.player.play()

    def seek_plan(self, t: float) -> None:
        """Go to a time of the plan.

        Parameters
        ----------
        t : float
            Time after the start [s].
        """
        with self._lock:
            self._enter("plan")
            self.planning.player.pause()
            self.planning.player.seek(t)

    def select(self, name: str | None) -> None:
        """Give an object of the world a gizmo, by which it can be moved.

        Parameters
        ----------
        name : str or None
            None takes the gizmo away.
        """
        with self._lock:
            self.planning.select(name)
