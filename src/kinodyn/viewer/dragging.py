"""Dragging: gizmos at hands, feet and the centre of mass, and the whole body that follows them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import viser

from kinodyn import kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.balance import Foot
from kinodyn.balance.polygon import hull
from kinodyn.balance.support import sole_points
from kinodyn.checks import as_pose, numbers
from kinodyn.errors import InputError, unknown_name
from kinodyn.ik import WholeBody
from kinodyn.ik.whole_body import Limit
from kinodyn.limits import ComLimit, PositionLimit, VelocityLimit
from kinodyn.model.robot import Robot
from kinodyn.spatial import log
from kinodyn.spatial.poses import inverse_pose
from kinodyn.tasks import ComTask, FrameTask, PostureTask
from kinodyn.tasks.task import Task
from kinodyn.viewer.limbs import Limb, limbs
from kinodyn.viewer.moment import pose_of, wxyz_of
from kinodyn.viewer.stage import WORLD

COM = "com"
GAIN = 0.35  # share of the way that one step takes
FASTEST = 4.0  # rad/s or m/s where the robot has no limit, so that it follows and does not jump
GROUND = 0.03  # a foot that is lower than this stands on the ground [m]
CLOSE = 2e-3  # m and rad within which a target counts as reached


class Dragging:
    """Targets that can be moved by hand, and a robot that follows them.

    Feet stay where they are; whatever was dragged stays where it was put until it is released. The mass is kept above
    the feet that stand.

    Parameters
    ----------
    robot
    frames
        What can be dragged; by default hands, feet and tools are found.
    feet
        The soles that the mass is kept above.

    Attributes
    ----------
    limbs : tuple of Limb
    held : dict of name -> target
        Poses (4, 4) or positions (3,) that are asked for now; "com" is the centre of mass.
    """

    def __init__(self, robot: Robot, frames: Sequence[str] | None = None, feet: Sequence[Foot] = ()) -> None:
        self.robot, self.feet = robot, tuple(feet)
        self.limbs = {limb.frame: limb for limb in limbs(robot, frames)}
        self.held: dict[str, Array] = {}
        self._solver: WholeBody | None = None
        self._tasks: dict[str, Task] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Name everything that can be dragged."""
        return (*self.limbs, COM) if self.robot.mass > 0 else tuple(self.limbs)

    def measure(self, name: str, q: Array) -> Array:
        """Find where a target is at q: a pose (4, 4) of frames, a position (3,) of the centre of mass."""
        if name == COM:
            return kinematics.com(self.robot, q)
        return kinematics.pose(self.robot, q, name)

    def drag(self, name: str, target: MatrixLike, q: Array) -> None:
        """Ask a frame to be at a pose (4, 4) or position (3,), or the centre of mass at a position."""
        if name not in self.names:
            raise unknown_name("target", name, self.names)
        goal = self._goal(name, target, q)
        if name not in self.held:
            self._solver = None
        self.held[name] = goal
        if self._solver is not None:
            self._tasks[name].target = goal

    def release(self, name: str | None = None) -> None:
        """Let go of a target, or of all."""
        if name is None:
            self.held.clear()
        elif name not in self.names:
            raise unknown_name("target", name, self.names)
        else:
            self.held.pop(name, None)
        self._solver = None

    def step(self, q: Array, dt: float) -> Array:
        """Move by one step of `dt` seconds towards the targets: the next q (nq,)."""
        if self._solver is None:
            self._solver = self._solve(q)
        return np.array(self._solver.step(q, dt).q)

    def reached(self, q: Array) -> bool:
        """Tell whether everything that is held is where it should be."""
        for name, goal in self.held.items():
            now = self.measure(name, q)
            apart = goal - (now if name == COM else now[:3, 3]) if goal.shape == (3,) else log(inverse_pose(now) @ goal)
            if not (np.abs(apart) < CLOSE).all():
                return False
        return True

    def _goal(self, name: str, target: MatrixLike, q: Array) -> Array:
        """Write a target as its task wants it: point or pose."""
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

    def _solve(self, q: Array) -> WholeBody:
        """Put tasks and limits together for what is held now."""
        robot, self._tasks = self.robot, {}
        for limb in self.limbs.values():
            if limb.frame in self.held:
                self._tasks[limb.frame] = self._frame_task(limb, self.held[limb.frame])
            elif limb.foot:
                self._tasks[limb.frame] = self._frame_task(limb, self._goal(limb.frame, self.measure(limb.frame, q), q))
        if COM in self.held:
            self._tasks[COM] = ComTask(self.held[COM], priority=1, gain=GAIN)
        weights = np.ones(robot.nv)
        if robot.base == "floating" and not any(limb.foot for limb in self.limbs.values()):
            weights[:6] = 10.0  # nothing holds it, so it stays
        elif robot.base == "floating":
            weights[:6] = [0.0, 0.0, 0.0, 5.0, 5.0, 1.0]  # upright, if it can
        posture = PostureTask(q, weights=weights, priority=3, gain=0.2)
        return WholeBody(robot, [*self._tasks.values(), posture], self._limits(q))

    def _frame_task(self, limb: Limb, target: Array) -> FrameTask:
        # feet first, for what stands must not slip while others are dragged
        return FrameTask(limb.frame, target, priority=0 if limb.foot else 2, gain=GAIN)

    def _limits(self, q: Array) -> list[Limit]:
        fastest = np.minimum(self.robot.limits.velocity, FASTEST)
        found: list[Limit] = [PositionLimit(), VelocityLimit(fastest)]
        standing = [
            foot
            for foot in self.feet
            if foot.frame not in self.held and sole_points(self.robot, q, [foot])[:, 2].min() < GROUND
        ]
        if standing:
            corners = hull(sole_points(self.robot, q, standing)[:, :2])
            if len(corners) >= 3:
                found.append(ComLimit(corners, priority=1))
        return found


class Gizmos:
    """The handles in the scene that are grabbed, one for each target."""

    def __init__(self, scene: viser.SceneApi, dragging: Dragging, q: Array, size: float) -> None:
        self._dragging, self._grabbed = dragging, set[str]()
        self._wanted = self._allowed = True
        self._moved: dict[str, Array] = {}
        self.handles: dict[str, viser.TransformControlsHandle] = {}
        for k, name in enumerate(dragging.names):
            self.handles[name] = self._add(scene, f"{WORLD}/drag/{k} {name.replace('/', '|')}", name, size)
        self.show(q)

    def take(self) -> dict[str, Array]:
        """Take the poses (4, 4) to which gizmos were dragged since the last call, by name."""
        moved = {}
        while self._moved:
            name, T = self._moved.popitem()
            moved[name] = T
        return moved

    @property
    def visible(self) -> bool:
        """Whether they are wanted; they are hidden all the same while something else than a hand moves the robot."""
        return self._wanted

    @visible.setter
    def visible(self, wanted: bool) -> None:
        self._wanted = bool(wanted)
        self.allow(self._allowed)

    def allow(self, allowed: bool) -> None:
        """Say whether they may be seen now."""
        self._allowed = allowed
        for handle in self.handles.values():
            handle.visible = self._wanted and allowed

    def show(self, q: Array) -> None:
        """Put each where its target is: what is held where it was put, the others at the body."""
        for name, handle in self.handles.items():
            if name in self._grabbed:
                continue  # it is in somebody's hand
            place = self._dragging.held.get(name)
            if place is None:
                place = self._dragging.measure(name, q)
            if place.shape == (3,):
                handle.position = place
            else:
                handle.wxyz, handle.position = wxyz_of(place[:3, :3]), place[:3, 3]

    def _add(self, scene: viser.SceneApi, node: str, name: str, size: float) -> viser.TransformControlsHandle:
        turns = name != COM and self._dragging.limbs[name].pose
        handle = scene.add_transform_controls(
            node, scale=0.11 * size, line_width=3.0, disable_rotations=not turns, disable_sliders=True, depth_test=False
        )

        # async: viser then keeps the order of start, update and end; the loop takes what is left here
        async def on_update(event: viser.TransformControlsEvent) -> None:
            if event.phase == "end":
                self._grabbed.discard(name)
            else:
                self._grabbed.add(name)
            if event.phase == "update":
                self._moved[name] = pose_of(event.target.wxyz, event.target.position)

        handle.on_update(on_update)
        return handle
