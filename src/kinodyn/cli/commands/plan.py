"""kinodyn plan: plan a motion among obstacles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.cli import args
from kinodyn.cli.args import labels
from kinodyn.cli.command import command
from kinodyn.cli.launch import open_viewer
from kinodyn.cli.options import Base, Packages, Resolution, RobotName, Seed, option
from kinodyn.cli.plan_plots import plot_distances, plot_scene
from kinodyn.cli.result import CommandResult, Table
from kinodyn.cli.scenes import GOAL_TEXT, SceneFile, SrdfFile, read_goal, read_surroundings
from kinodyn.errors import InputError

if TYPE_CHECKING:
    from kinodyn.planning import Plan
    from kinodyn.recording import Recording

EXACT_SAMPLES = 60  # of the motion, at which the distance of the exact shapes is measured
FIGURES = 9  # configurations in the picture


@command(
    "plan",
    examples=[
        "kinodyn plan panda --from ready --to 0.9,-0.2,0,-2,0,1.6,0.8",
        "kinodyn plan panda --from ready --to panda_hand_tcp=0.5,0.25,0.3,3.14159,0,0 --scene scene.yaml",
        "kinodyn plan panda --scene scene.yaml --request request.yaml --out motion.csv",
    ],
)
def plan(
    robot: RobotName,
    to: Annotated[list[str] | None, option(GOAL_TEXT, "--to", metavar="GOAL")] = None,
    start: Annotated[
        str | None, option("start, as --q of fk; by default that of the request or the scene, or neutral", "--from")
    ] = None,
    scene: SceneFile = None,
    request: Annotated[
        Path | None,
        option("start, goal, group and budget: a YAML file with a MotionPlanRequest of MoveIt", metavar="FILE"),
    ] = None,
    group: Annotated[str | None, option("joints that move: a group of the SRDF file; by default all")] = None,
    planner: Annotated[
        str, option("rrt_connect; anytime, the shortest path within the budget; ompl:NAME, a planner of OMPL")
    ] = "rrt_connect",
    time_budget: Annotated[
        float | None, option("maximum planning time [s]; by default 1, or that of the request")
    ] = None,
    resolution: Resolution = None,
    velocity: Annotated[float | None, option("velocity limit of each joint [rad/s, m/s]; default: the robot's")] = None,
    acceleration: Annotated[float | None, option("acceleration limit of each joint [rad/s^2, m/s^2]")] = None,
    jerk: Annotated[float | None, option("jerk limit of each joint [rad/s^3, m/s^3]")] = None,
    dt: Annotated[float, option("time between samples [s]", min=1e-6)] = 0.01,
    srdf: SrdfFile = None,
    packages: Packages = None,
    base: Base = None,
    seed: Seed = 0,
    view: Annotated[bool, option("show the plan in the viewer afterwards", "--view")] = False,
) -> CommandResult:
    """Plan a collision-free motion of a robot in a scene, and time it.

    The path is checked continuously, not only at samples, and the timed motion is within the limits of velocity,
    acceleration, jerk and torque. The exit code is 1 if there is no path: the start or the goal is in collision, the
    goal is out of reach, or the time budget is used up; the reason is printed. Ctrl-C stops the search.
    """
    from kinodyn import planning
    from kinodyn.interop.moveit import path_constraints, requested_goal

    loaded = args.load(robot, base, srdf=srdf, packages=packages or ())
    if (to is None) == (request is None):
        raise InputError("no unique goal: give either --to or --request")
    around = read_surroundings(loaded, scene, request, packages or ())
    asked = around.request
    q = around.q if start is None else _single(args.configurations(loaded, start, seed=seed, what="--from"))
    goal = requested_goal(asked, loaded) if asked is not None else read_goal(loaded, to or [], seed=seed + 1)
    settings: dict[str, Any] = {
        "group": group or (asked.group or None if asked is not None else None),
        "time_budget": time_budget or (asked.time_budget if asked is not None else 0.0) or 1.0,
    }
    settings |= {"planner": planner, "resolution": resolution}
    if asked is not None:
        settings["constraints"] = path_constraints(asked)
    found = planning.plan(loaded, q, goal, around.world, **settings, seed=seed, allowed=around.allowed)
    inputs: dict[str, Any] = {
        "robot": robot,
        "start": q,
        "goal": ", ".join(to) if to else str(request),
        "scene": scene,
        "srdf": srdf,
        "seed": seed,
    }
    inputs |= settings | {"constraints": [str(constraint) for constraint in settings.get("constraints", ())]}
    limits: dict[str, Any] = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    if not found.success:
        return _no_path(found, inputs)
    result = _result(found, limits, dt, inputs)
    if view:
        result.on_finish = lambda: open_viewer(loaded, plan=found)
    return result


def _single(q: Array) -> Array:
    if q.ndim > 1:
        raise InputError(f"--from takes one configuration, got {len(q)} rows")
    return q


def _no_path(found: Plan, inputs: dict[str, Any]) -> CommandResult:
    return CommandResult(
        f"{found.robot.name}: {found.status.replace('_', ' ')}: {found.message}",
        _key_figures(found),
        inputs,
        figures={"Start": lambda: plot_scene(found.robot, np.atleast_2d(inputs["start"]), found.world)},
        ok=False,
        interrupted=found.status == "interrupted",
    )


def _key_figures(found: Plan) -> dict[str, Any]:
    return {
        "status": found.status,
        "message": found.message,
        "planning_time": found.planning_time,
        "simplification_time": found.simplification_time,
        "iterations": found.iterations,
        "length": found.length,
        "path": found.path,
        "group": found.group,
        "names": labels(found.robot).q,
    }


def _result(found: Plan, limits: dict[str, Any], dt: float, inputs: dict[str, Any]) -> CommandResult:
    robot, names = found.robot, labels(found.robot)
    recording = _recorded(found, limits, dt)
    near = _Distances(found, recording)
    nearest = int(np.argmin(near.distance))
    figures = _key_figures(found) | {
        "duration": recording.duration,
        "smallest_distance": float(near.distance[nearest]),
        "smallest_distance_time": float(near.time[nearest]),
        "smallest_distance_pair": tuple(near.names[nearest]),
        "smallest_distance_shapes": near.shapes,
    }
    rows = [
        ("planning [ms]", 1e3 * found.planning_time),
        ("simplification [ms]", 1e3 * found.simplification_time),
        ("samples of the planner", found.iterations),
        ("vertices", len(found.path)),
        ("length in joint space [rad, m]", found.length),
        ("duration [s]", recording.duration),
        (f"smallest distance, {near.shapes} [mm]", 1e3 * figures["smallest_distance"]),
        ("between", " and ".join(near.names[nearest]) or "nothing near"),
        ("at time [s]", figures["smallest_distance_time"]),
    ]
    moving = [i for i, name in enumerate(names.q) if np.ptp(found.path[:, i]) > 0.0]
    vertices = [(k, *row) for k, row in enumerate(found.path[:, moving].tolist())]
    chosen = recording.q[np.linspace(0, len(recording.q) - 1, FIGURES).astype(int)]
    return CommandResult(
        f"{robot.name}: solved in {1e3 * (found.planning_time + found.simplification_time):.3g} ms, "
        f"{len(found.path)} vertices, {recording.duration:.3g} s",
        figures | {"time": recording.time, "q": recording.q, "v": recording.v, "distance": near.bound},
        inputs,
        [
            Table("", ("quantity", "value"), rows),
            Table("path [rad, m]", ("vertex", *(names.q[i] for i in moving)), vertices),
        ],
        samples={"time": recording.time, "q": recording.q, "v": recording.v, "distance": near.bound},
        columns={"q": names.q, "v": names.v},
        writers=dict.fromkeys((".npz", ".parquet"), recording.save),
        figures={
            "Over time": lambda: recording.plot("q", "v"),
            "Distances": near.plot,
            "Motion": lambda: plot_scene(robot, chosen, found.world),
        },
    )


def _recorded(found: Plan, limits: dict[str, Any], dt: float) -> Recording:
    """Time a plan and return the motion as a recording, with the torques that it needs on a fixed base."""
    from kinodyn import dynamics
    from kinodyn.recording import Recording

    samples = found.trajectory(**limits).sample(dt)
    robot = found.robot
    tau = (
        np.zeros_like(samples.v)
        if robot.base == "floating"
        else dynamics.inverse(robot, samples.q, samples.v, samples.a)
    )
    return Recording.from_robot(robot, samples.time, samples.q, samples.v, tau)


class _Distances:
    """Smallest distances along a motion.

    Attributes
    ----------
    bound : (n,)
        At every row of the recording, of the spheres that cover the shapes [m]: a lower bound.
    time, distance, names : (m,), (m,), (m, 2)
        Times, distances and names of the nearest pair, of the exact shapes where coal is installed, otherwise of the
        spheres.
    """

    def __init__(self, found: Plan, recording: Recording) -> None:
        from kinodyn import collision
        from kinodyn.collision import exact

        settings: dict[str, Any] = {"allowed": found.allowed}
        spheres = collision.distance(found.robot, recording.q, found.world, **settings)
        self.bound, self._recording = spheres.distance, recording
        self.shapes = "exact shapes" if exact.is_available() else "spheres"
        self.time, self.distance, self.names = recording.time, spheres.distance, spheres.names
        if exact.is_available():
            rows = np.unique(np.linspace(0, len(recording.q) - 1, EXACT_SAMPLES).astype(int))
            precise = collision.distance(found.robot, recording.q[rows], found.world, exact=True, **settings)
            self.time, self.distance, self.names = recording.time[rows], precise.distance, precise.names

    def plot(self) -> Any:
        """Plot the distances over time."""
        from matplotlib.figure import Figure

        figure: Figure = plot_distances(
            self._recording.time, {"spheres (lower bound)": self.bound}, ("Smallest distance", "time [s]")
        )
        axes = figure.axes[0]
        if self.shapes == "exact shapes":
            axes.plot(self.time, 1e3 * self.distance, "o-", ms=2.5, lw=1, label="exact shapes")
            axes.legend(loc="best", fontsize="small")
        return figure
