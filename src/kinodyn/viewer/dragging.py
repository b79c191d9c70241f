"""Dragging: targets for hands, feet and the CoM, and whole-body IK that follows them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinodyn import kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.balance import Foot
from kinodyn.balance.polygon import hull
from kinodyn.balance.support import sole_points
from kinodyn.checks import as_pose, numbers
from kinodyn.errors import InputError, unknown_name
from kinodyn.ik import WholeBody
from kinodyn.limits import ComLimit, Limit, PositionLimit, VelocityLimit
from kinodyn.model.robot import Robot
from kinodyn.spatial import log
from kinodyn.spatial.poses import inverse_pose
from kinodyn.tasks import ComTask, FrameTask, PostureTask
from kinodyn.tasks.task import Task
from kinodyn.viewer.limbs import Limb, limbs

COM = "com"
GAIN = 0.35  # fraction of the error that one step removes
MAX_SPEED = 4.0  # rad/s or m/s for joints without a velocity limit, so that the robot follows without jumps
STANCE_HEIGHT = 0.03  # a sole below this height supports the robot [m]
TARGET_TOLERANCE = 2e-3  # m and rad within which a target counts as reached


class Dragging:
    """Targets that can be moved interactively, and a robot that follows them.

    Feet stay where they are, and a target stays where it was put until it is released. The CoM is kept above the feet
    on the ground.

    Parameters
    ----------
    robot : Robot
    frames : sequence of str, optional
        What can be dragged; by default hands, feet and tools.
    feet : sequence of Foot
        The soles that the CoM is kept above.

    Attributes
    ----------
    limbs : dict of frame -> Limb
    targets : dict of name -> (4, 4) pose or (3,) position
        The current targets; "com" is the centre of mass.
    """

    def __init__(self, robot: Robot, frames: Sequence[str] | None = None, feet: Sequence[Foot] = ()) -> None:
        self.robot, self.feet = robot, tuple(feet)
        self.limbs = {limb.frame: limb for limb in limbs(robot, frames)}
        self.targets: dict[str, Array] = {}
        self._solver: WholeBody | None = None
        self._tasks: dict[str, Task] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of everything that can be dragged."""
        return (*self.limbs, COM) if self.robot.mass > 0 else tuple(self.limbs)

    def measure(self, name: str, q: Array) -> Array:
        """Return the current value of a target.

        Parameters
        ----------
        name : str
            A frame, or "com".
        q : (nq,) array

        Returns
        -------
        (4, 4) pose of a frame, or (3,) position of the CoM
        """
        if name == COM:
            return kinematics.com(self.robot, q)
        return kinematics.pose(self.robot, q, name)

    def drag(self, name: str, target: MatrixLike, q: Array) -> None:
        """Set a target.

        Parameters
        ----------
        name : str
            A frame, or "com".
        target : (4, 4) pose or (3,) position [m]
        q : (nq,) array
            Current configuration, whose orientation is kept if only a position is given.
        """
        if name not in self.names:
            raise unknown_name("target", name, self.names)
        goal = self._goal(name, target, q)
        if name not in self.targets:
            self._solver = None
        self.targets[name] = goal
        if self._solver is not None:
            self._tasks[name].target = goal

    def release(self, name: str | None = None) -> None:
        """Remove a target.

        Parameters
        ----------
        name : str, optional
            By default all targets.
        """
        if name is None:
            self.targets.clear()
        elif name not in self.names:
            raise unknown_name("target", name, self.names)
        else:
            self.targets.pop(name, None)
        self._solver = None

    def step(self, q: Array, dt: float) -> Array:
        """Take one step towards the targets.

        Parameters
        ----------
        q : (nq,) array
        dt : float
            Duration of the step [s].

        Returns
        -------
        (nq,) array
            The next configuration.
        """
        if self._solver is None:
            self._solver = self._build_solver(q)
        return np.array(self._solver.step(q, dt).q)

    def reached(self, q: Array) -> bool:
        """Check whether all targets are reached.

        Parameters
        ----------
        q : (nq,) array

        Returns
        -------
        bool
        """
        for name, goal in self.targets.items():
            now = self.measure(name, q)
            error = goal - (now if name == COM else now[:3, 3]) if goal.shape == (3,) else log(inverse_pose(now) @ goal)
            if not (np.abs(error) < TARGET_TOLERANCE).all():
                return False
        return True

    def _goal(self, name: str, target: MatrixLike, q: Array) -> Array:
        """Convert a target to what its task takes: a position or a pose."""
        given = as_pose(target, "target") if hasattr(target, "as_matrix") else np.asarray(target, dtype=float)
        what = f"target of {name!r}"
        if given.shape not in ((3,), (4, 4)):
            raise InputError(f"{what} must be one position (3,) or pose (4, 4), got {given.shape}")
        given = numbers(what, given, 3) if given.ndim == 1 else as_pose(given, what)
        if name == COM or not self.limbs[name].pose:
            return np.array(given if given.ndim == 1 else given[:3, 3])
        if given.ndim == 2:
            return np.array(given)
        goal = np.array(kinematics.pose(self.robot, q, name))
        goal[:3, 3] = given
        return goal

    def _build_solver(self, q: Array) -> WholeBody:
        """Make the tasks and limits for the current targets."""
        robot, self._tasks = self.robot, {}
        for limb in self.limbs.values():
            if limb.frame in self.targets:
                self._tasks[limb.frame] = self._frame_task(limb, self.targets[limb.frame])
            elif limb.foot:
                self._tasks[limb.frame] = self._frame_task(limb, self._goal(limb.frame, self.measure(limb.frame, q), q))
        if COM in self.targets:
            self._tasks[COM] = ComTask(self.targets[COM], priority=1, gain=GAIN)
        weights = np.ones(robot.nv)
        if robot.base == "floating" and not any(limb.foot for limb in self.limbs.values()):
            weights[:6] = 10.0  # no foot fixes the base: keep it in place
        elif robot.base == "floating":
            weights[:6] = [0.0, 0.0, 0.0, 5.0, 5.0, 1.0]  # upright if possible
        posture = PostureTask(q, weights=weights, priority=3, gain=0.2)
        return WholeBody(robot, [*self._tasks.values(), posture], self._limits(q))

    def _frame_task(self, limb: Limb, target: Array) -> FrameTask:
        # feet have the highest priority: they must not slip while something else is dragged
        return FrameTask(limb.frame, target, priority=0 if limb.foot else 2, gain=GAIN)

    def _limits(self, q: Array) -> list[Limit]:
        velocity = np.minimum(self.robot.limits.velocity, MAX_SPEED)
        found: list[Limit] = [PositionLimit(), VelocityLimit(velocity)]
        standing = [
            foot
            for foot in self.feet
            if foot.frame not in self.targets and sole_points(self.robot, q, [foot])[:, 2].min() < STANCE_HEIGHT
        ]
        if standing:
            corners = hull(sole_points(self.robot, q, standing)[:, :2])
            if len(corners) >= 3:
                found.append(ComLimit(corners, priority=1))
        return found
