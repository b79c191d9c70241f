"""Session: the state of MoveIt's move_group node: one robot, its state, its world, its execution."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.collision.checks import free
from kinodyn.collision.world import World
from kinodyn.description.packages import PackageFinder
from kinodyn.display import displayed
from kinodyn.errors import KinodynError
from kinodyn.interop.moveit.config import MoveItConfig
from kinodyn.interop.moveit.fields import Message
from kinodyn.interop.moveit.objects import Objects
from kinodyn.interop.moveit.poses import Frames
from kinodyn.interop.moveit.scene import Scene
from kinodyn.interop.ros.poses import pose_matrix_of
from kinodyn.model.loading import load
from kinodyn.model.robot import Robot
from kinodyn.planning.execution import execute
from kinodyn.planning.execution_run import Execution
from kinodyn.rosmsgs.messages import as_dict
from kinodyn.sim.protocol import Simulator
from kinodyn.trajectory.piecewise import PiecewisePolynomial

ROBOT, SEMANTICS = "KINODYN_ROBOT", "KINODYN_SRDF"  # environment variables with a name or a file


class MoveItCommanderException(KinodynError):  # noqa: N818  scripts catch it by this name
    """A request that cannot be carried out, under the name that MoveIt's scripts know."""


@displayed
class Session:
    """The robot, world and controllers that `MoveGroup`, `PlanningSceneInterface` and `RobotCommander` share.

    Parameters
    ----------
    robot
        A robot, a MoveIt configuration, the name of a bundled robot, or a file.
    q : (nq,), optional
        Where the robot is; by default neutral within limits, or the first named configuration if that collides.
    simulator
        Simulator or driver of the robot on which motions are executed; by default the native simulation.

    Attributes
    ----------
    robot : Robot
    world : World
    config : MoveItConfig or None
    last : Execution or None
        The result of the last execution.
    """

    @check_types
    def __init__(
        self,
        robot: Robot | MoveItConfig | str | os.PathLike[str],
        *,
        q: ArrayLike | None = None,
        simulator: Simulator | None = None,
    ) -> None:
        self.config = robot if isinstance(robot, MoveItConfig) else None
        if isinstance(robot, MoveItConfig):
            robot = robot.robot
        elif not isinstance(robot, Robot):
            robot = load(robot)
        self.robot: Robot = robot
        self._simulator = simulator
        self._q = _initial(self.robot) if q is None else np.array(numbers("q", q, self.robot.nq))
        self._objects = Objects(Frames(self.robot, self.q, np.eye(4)), PackageFinder(None, ()))
        self.world: World = self._objects.world
        self.last: Execution | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def q(self) -> Array:
        """The current configuration (nq,)."""
        return np.array(self._simulator.q if self._simulator is not None else self._q)

    @property
    def objects(self) -> Mapping[str, tuple[str, ...]]:
        """The names in the world of each object, which may have several shapes."""
        return self._objects.names

    def frames(self, q: Array | None = None) -> Frames:
        """Return the frames at a configuration, by default the current one.

        Parameters
        ----------
        q : (nq,), optional

        Returns
        -------
        frames : Frames
        """
        known = Frames(self.robot, self.q if q is None else q, np.eye(4))
        for name, parts in self.objects.items():
            if self.world[parts[0]].attached_to is None:
                known.add(name, self.world[parts[0]].pose)
        return known

    def pose_in_world(self, given: Any, frame: str = "", what: str = "pose") -> Array:
        """Return a pose (4, 4) in the world; `frame` is the one it is in unless it says so itself.

        Parameters
        ----------
        given
            Anything that `MoveGroup.set_pose_target` takes.
        frame
            Name of the frame.
        what
            Name in errors.

        Returns
        -------
        T : (4, 4) array
        """
        T, named = pose_matrix_of(given, what)
        return np.asarray(self.frames().pose(named or frame) @ T)

    def scene(self) -> Scene:
        """Return the current scene."""
        return Scene("", self.world, dict(self.objects), frozenset(), self.q, np.eye(4), {}, {})

    def add_object(self, message: Any) -> None:
        """Add a moveit_msgs/CollisionObject, or replace the one of its name.

        Parameters
        ----------
        message
            The message, of any library, or its fields.
        """
        fields = Message(message if isinstance(message, Mapping) else as_dict(message), "object")
        self.remove_object(fields.fields.text("id"), missing_ok=True)
        self._objects.frames = self.frames()
        self._objects.add(fields.fields)
        fields.warn()

    def attach_object(self, message: Any) -> None:
        """Attach a moveit_msgs/AttachedCollisionObject.

        Parameters
        ----------
        message
            The message, of any library, or its fields.
        """
        fields = Message(message if isinstance(message, Mapping) else as_dict(message), "object")
        self._objects.frames = self.frames()
        self._objects.attach(fields.fields)
        fields.warn()

    def detach_object(self, name: str) -> None:
        """Detach an object, which stays where it is.

        Parameters
        ----------
        name
            Name of the object.
        """
        for part in self.parts(name):
            thing = self.world[part]
            if thing.attached_to is not None:
                T_world_link = kinematics.pose(self.robot, self.q, thing.attached_to)
                self.world.detach(part, T_world_link @ thing.pose)

    def remove_object(self, name: str, missing_ok: bool = False) -> None:
        """Remove an object.

        Parameters
        ----------
        name
            Name of the object.
        missing_ok
            Whether it may be missing.
        """
        if missing_ok and name not in self.objects:
            return
        for part in self.parts(name):
            self.world.remove(part)
        del self._objects.names[name]

    @check_types
    def parts(self, name: str) -> tuple[str, ...]:
        """Return the names in the world of an object.

        Parameters
        ----------
        name
            Name of the object.

        Returns
        -------
        names : tuple of str
        """
        if name not in self.objects:
            raise MoveItCommanderException(f"there is no object {name!r}; known: {', '.join(self.objects) or 'none'}")
        return self.objects[name]

    @check_types
    def execute(self, motion: PiecewisePolynomial, wait: bool, **options: Any) -> bool:
        """Follow a motion; without waiting, in another thread until `stop`.

        Parameters
        ----------
        motion
            Trajectory from the current configuration.
        wait
            Whether to wait for the end.
        options
            Keyword arguments of `kd.planning.execute`.

        Returns
        -------
        success : bool
        """
        self.wait()
        self._stop.clear()
        if wait:
            return self._run(motion, options)
        self._thread = threading.Thread(target=self._run, args=(motion, options), name="kinodyn.execute", daemon=True)
        self._thread.start()
        return True

    def stop(self) -> None:
        """Brake, and wait until the robot is at rest."""
        self._stop.set()
        self.wait()

    def wait(self) -> None:
        """Wait for the end of a motion in another thread."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, motion: PiecewisePolynomial, options: dict[str, Any]) -> bool:
        target = self.robot if self._simulator is None else self._simulator
        given = {"world": self.world, "on_check": lambda _: self._stop.is_set(), **options}
        self.last = execute(motion, target, **given)
        self._q = np.array(self.last.recording.q[-1])
        return self.last.success


def _initial(robot: Robot) -> Array:
    """Return the neutral configuration, or the first named one if that is in collision."""
    neutral = np.clip(robot.neutral(), robot.limits.lower, robot.limits.upper)
    candidates = [neutral, *(robot.configuration(name) for name in robot.configurations)]
    return np.array(next((q for q in candidates if free(robot, q)), neutral))


_CURRENT: list[Session] = []


@check_types
def start(
    robot: Robot | MoveItConfig | str | os.PathLike[str],
    *,
    q: ArrayLike | None = None,
    simulator: Simulator | None = None,
) -> Session:
    """Start what a MoveIt script expects to run: a robot with planner and controllers, in this process.

    Parameters
    ----------
    robot
        A robot, a MoveIt configuration, the name of a bundled robot, or a file.
    q : (nq,), optional
        Where the robot is; by default neutral within limits, or the first named configuration if that collides.
    simulator
        Simulator or driver of the robot on which motions are executed; by default the native simulation.

    Returns
    -------
    Session
        The one that `MoveGroup`, `PlanningSceneInterface` and `RobotCommander` use from now on.
    """
    _CURRENT[:] = [Session(robot, q=q, simulator=simulator)]
    return _CURRENT[0]


def current_session(robot: Robot | MoveItConfig | str | os.PathLike[str] = "") -> Session:
    """Return the session that was started, or start one with a given robot or that of the environment.

    "robot_description", the name of a parameter of ROS, stands for the robot of the current session.
    """
    if robot not in ("", "robot_description"):
        known = _CURRENT and robot in (_CURRENT[0].robot, _CURRENT[0].config)
        return _CURRENT[0] if known else start(robot)
    if not _CURRENT:
        source = os.environ.get(ROBOT)
        if not source:
            raise MoveItCommanderException(
                f"there is no robot; call kd.interop.ros.start(robot) first, or set {ROBOT} to a name or a file"
            )
        return start(load(source, srdf=os.environ.get(SEMANTICS)))
    return _CURRENT[0]
