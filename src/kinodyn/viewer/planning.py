"""Planning in the viewer: a world, a goal that can be dragged, and a plan that is updated after every change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import viser

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.checks import as_pose
from kinodyn.collision.query import snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.errors import InputError
from kinodyn.model.chain import moving_joints
from kinodyn.model.robot import Robot
from kinodyn.planning import Plan, PoseRegion
from kinodyn.planning.groups import Group, group_joints
from kinodyn.recording import Recording
from kinodyn.viewer.distance_lines import DistanceLines
from kinodyn.viewer.gizmos import Gizmo
from kinodyn.viewer.limbs import limbs
from kinodyn.viewer.markers import Markers
from kinodyn.viewer.overlays import main_frame
from kinodyn.viewer.playback import Player, Track
from kinodyn.viewer.replanner import Outcome, Problem, Replanner, recorded
from kinodyn.viewer.robot_visual import RobotVisual
from kinodyn.viewer.snapshot import check_configuration
from kinodyn.viewer.stage import WORLD
from kinodyn.viewer.world_visual import WorldVisual

GHOST = (84, 150, 110)
TRACE = (44, 104, 190)
TRACE_POINTS = 200
GIZMO = 1.5  # size relative to the gizmos of the robot: the camera is farther away


class Planning:
    """What the viewer plans and draws of it; all calls are under the viewer's lock.

    Parameters
    ----------
    scene : viser.SceneApi
    robot : Robot
    size : float
        The robot's height or reach [m].
    world : World, WorldSnapshot or None

    Attributes
    ----------
    world : World
        Its changes are drawn, and planned again.
    live : bool
        Whether each change is planned again.
    problem : Problem or None
        What is planned.
    outcome : Outcome or None
        The latest plan.
    player : Player
        The clock of the plan.
    selected : str or None
        The object that has a gizmo.
    goals : dict of frame -> Gizmo
    object_gizmo : Gizmo
        Of the selected object.
    distances : DistanceLines
    """

    def __init__(
        self, scene: viser.SceneApi, robot: Robot, size: float, world: World | WorldSnapshot | None = None
    ) -> None:
        self.robot, self.live = robot, True
        self.selected: str | None = None
        self.world = as_world(world)
        self.problem: Problem | None = None
        self.outcome: Outcome | None = None
        self.player = Player(())
        self._scene, self._size, self._version = scene, size, -1
        self.distances = DistanceLines(scene, robot, size)
        self._objects = WorldVisual(scene, robot, self._clicked)
        self._markers = Markers(scene, f"{WORLD}/plan", size)
        self.object_gizmo = Gizmo(scene, f"{WORLD}/plan object", GIZMO * size)
        self.object_gizmo.handle.visible = False
        self.goals: dict[str, Gizmo] = {}
        self._poses: dict[str, Array] = {}
        self._ghost: RobotVisual | None = None
        self._replanner: Replanner | None = None
        self._shown = False
        self._click: str | None = None

    # What is planned

    def start(self, q: Array, goal: Any, settings: Mapping[str, Any]) -> None:
        """Plan from a configuration (nq,) to a goal; without one, to where the frames of the group are at q."""
        if isinstance(goal, Mapping) and not _is_configuration(goal):
            frames = list(goal)
        else:
            frames = goal_frames(self.robot, settings.get("group"))
        self._set_goal_frames(frames)
        self.problem = Problem(q, goal, self.world.snapshot(), dict(settings))
        self._poses = self._goal_poses(q if goal is None else goal)
        self._clear()
        if goal is not None:
            self.replan()

    def show(self, plan: Plan) -> None:
        """Show a plan that exists, with its world."""
        self.world, self._version = as_world(plan.world), -1
        q = plan.path[0] if plan.success else self.robot.neutral()
        self._set_goal_frames(goal_frames(self.robot, plan.group))
        goal = plan.path[-1] if plan.success else q
        self.problem = Problem(q, goal, self.world.snapshot(), {"group": plan.group, "allowed": plan.allowed})
        self._poses = self._goal_poses(goal)
        self._clear()
        self._accept(Outcome(self.problem, plan, recorded(plan) if plan.success else None, "", _time(plan)))

    def replan(self, *, start: Array | None = None, goal: Any = None) -> None:
        """Plan again in the current world, from another start (nq,) or to another goal if they are given."""
        if self.problem is None:
            raise InputError("there is no goal yet; call plan(goal)")
        if goal is not None:
            self._poses = self._goal_poses(goal)
        wanted = self.problem.goal if goal is None else goal
        begin = self.problem.start if start is None else start
        self.problem = Problem(
            begin, dict(self._poses) if wanted is None else wanted, self.world.snapshot(), self.problem.settings
        )
        self._replanner = self._replanner or Replanner(self.robot)
        self._replanner.submit(self.problem)

    @property
    def busy(self) -> bool:
        """Whether it is planning."""
        return self._replanner is not None and self._replanner.busy

    @property
    def allowed(self) -> Any:
        """Pairs that may touch, as in `planning.plan`."""
        return None if self.problem is None else self.problem.settings.get("allowed")

    @property
    def configuration(self) -> Array | None:
        """The configuration (nq,) at the time of the player, or the start; None without a problem."""
        if self.player.tracks:
            return self.player.snapshots()[0].q
        return None if self.problem is None else self.problem.start

    def select(self, name: str | None) -> None:
        """Give an object of the world a gizmo; None takes it away."""
        if name is not None and self.world[name].attached_to is not None:
            raise InputError(f"the object {name!r} is attached to the robot and cannot be dragged")
        self.selected = name
        self._version = -1

    def close(self) -> None:
        """Stop planning."""
        if self._replanner is not None:
            self._replanner.close()

    # The viewer's thread

    def update(self) -> bool:
        """Read gizmos, the world and the planner; return whether there is something to draw."""
        if self._click is not None and self._click in self.world:
            self.select(self._click)
        self._click = None
        changed = self._read_gizmos()
        if self.world.version != self._version:
            changed, self._version = True, self.world.version
            if self.live and self._outdated():
                self.replan()
        outcome = None if self._replanner is None else self._replanner.take()
        if outcome is not None:
            self._accept(outcome)
        return changed or outcome is not None or self.distances.due

    def draw(self, q: Array, shown: bool, distances: bool) -> None:
        """Draw the world with the robot at q (nq,), and on request the plan (`shown`) and the distances."""
        snapshot = self.world.snapshot()
        if distances:
            self.distances.draw(q, snapshot, self.allowed)
        else:
            self.distances.hide()
        self._objects.draw(snapshot, q, self.distances.colliding)
        for frame, gizmo in self.goals.items():
            gizmo.place(self._poses[frame])
        if self.selected is not None and self.selected not in self.world:
            self.selected = None
        if self.selected is not None:
            self.object_gizmo.place(self.world[self.selected].pose)
        self.object_gizmo.handle.visible = self.selected is not None
        if shown != self._shown:
            self._shown = shown
            for gizmo in self.goals.values():
                gizmo.handle.visible = shown
            self._draw_plan()
        self._draw_ghost(q)

    def bounding_box(self) -> Array | None:
        """Return the corners (2, 3) of a box around the objects [m]; None without any."""
        return self._objects.bounding_box()

    def summary(self) -> str:
        """Describe the state for the page."""
        if self.busy:
            return "Planning ..."
        if self.outcome is None:
            return "Drag the goal, or choose one." if self.problem is not None else "There is no goal."
        return self.outcome.summary()

    def _outdated(self) -> bool:
        """Whether there is a plan, or one in the making, for another state of the world."""
        planned = self.outcome is not None or self.busy
        return planned and self.problem is not None and self.problem.world is not self.world.snapshot()

    def _read_gizmos(self) -> bool:
        moved = {frame: T for frame, gizmo in self.goals.items() if (T := gizmo.take_move()) is not None}
        pushed = self.object_gizmo.take_move()
        if pushed is not None and self.selected is not None and self.selected in self.world:
            self.world.move(self.selected, pushed)
        if moved and self.problem is not None:
            self._poses |= moved
            self.problem = Problem(self.problem.start, dict(self._poses), self.problem.world, self.problem.settings)
            if self.live:
                self.replan()
        return bool(moved) or pushed is not None

    def _accept(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.player.replace([] if outcome.motion is None else [Track("plan", self.robot, outcome.motion)])
        self._draw_plan()

    def _clear(self) -> None:
        self.outcome = None
        self.player.replace(())
        self.player.seek(0.0)
        self.player.play()
        self._draw_plan()

    def _draw_plan(self) -> None:
        """Draw the traces of the frames."""
        motion = self._motion
        if motion is not None:
            rows = np.linspace(0, len(motion.q) - 1, min(TRACE_POINTS, len(motion.q))).astype(int)
            points = kinematics.poses(self.robot, motion.q[rows], frames=list(self.goals))[..., :3, 3]
            segments = np.concatenate([np.stack([line[:-1], line[1:]], axis=1) for line in np.moveaxis(points, 1, 0)])
            self._markers.lines("trace", segments, TRACE, 0.006)
        self._markers.set_visible("trace", motion is not None)

    def _draw_ghost(self, q: Array) -> None:
        """Draw the robot at the goal, where it is not at q (nq,)."""
        motion = self._motion
        if motion is not None:
            if self._ghost is None:
                self._ghost = RobotVisual(self._scene, self.robot, f"{WORLD}/goal", ghost=GHOST)
            self._ghost.pose(motion.q[-1])
        if self._ghost is not None:
            self._ghost.show(() if motion is None else self._ghost.differing(motion.q[-1], q))

    @property
    def _motion(self) -> Recording | None:
        """The motion that is drawn."""
        return None if self.outcome is None or not self._shown else self.outcome.motion

    def _set_goal_frames(self, frames: list[str]) -> None:
        for gizmo in self.goals.values():
            gizmo.handle.remove()
        self.goals = {}
        for k, frame in enumerate(frames):
            self.goals[frame] = Gizmo(
                self._scene, f"{WORLD}/plan goal {k} {frame.replace('/', '|')}", GIZMO * self._size
            )
            self.goals[frame].handle.visible = self._shown

    def _goal_poses(self, goal: Any) -> dict[str, Array]:
        """Return the poses of the goal frames: those that are given, or at the first configuration of the goal."""
        if isinstance(goal, Mapping) and not _is_configuration(goal):
            centres = {frame: T.pose if isinstance(T, PoseRegion) else T for frame, T in goal.items()}
            return {frame: as_pose(T, f"goal of {frame}").reshape(-1, 4, 4)[0] for frame, T in centres.items()}
        frames = list(self.goals)
        return dict(
            zip(frames, kinematics.poses(self.robot, self._goal_configuration(goal), frames=frames), strict=True)
        )

    def _goal_configuration(self, goal: Any) -> Array:
        """Return the first configuration (nq,) of a goal that gives configurations, as in `planning.plan`."""
        several = isinstance(goal, Sequence) and not isinstance(goal, str) and isinstance(goal[0], str)
        first = goal[0] if several else goal
        if isinstance(first, str):
            return self.robot.configuration(first)
        if isinstance(first, Mapping):
            assert self.problem is not None
            q: Array = self.problem.start.copy()
            for name, value in first.items():
                q[self.robot.joint(name).q] = value
            return q
        return check_configuration(self.robot, np.atleast_2d(np.asarray(first, dtype=float))[0])

    def _clicked(self, name: str) -> None:
        self._click = name  # viser's thread; the viewer's thread reads it


def as_world(world: World | WorldSnapshot | None) -> World:
    """Return a world itself; a new world with the objects of a snapshot; an empty one for None."""
    if isinstance(world, World):
        return world
    made = World()
    for thing in snapshot_of(world):
        made.add(thing.name, thing.shape, thing.pose)
        if thing.attached_to is not None:
            made.attach(thing.name, thing.attached_to, thing.pose, thing.touch_links)
    return made


def _is_configuration(goal: Mapping[str, Any]) -> bool:
    """Whether a goal gives positions of joints, not poses of frames."""
    return all(isinstance(value, Real) for value in goal.values())


def goal_frames(robot: Robot, group: Group) -> list[str]:
    """Return the frames of a goal: ends of the limbs that joints of the group move, without feet."""
    moving = {joint.name for joint in group_joints(robot, group)}
    ends = [limb.frame for limb in limbs(robot) if not limb.foot]
    moved = [frame for frame in ends if moving & {joint.name for joint in moving_joints(robot, frame)}]
    return moved or [main_frame(robot)]


def _time(plan: Plan) -> float:
    return plan.planning_time + plan.simplification_time
