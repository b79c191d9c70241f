"""kinodyn walk: simulate a walk, actuated by joint torques alone."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from kinodyn.cli import args, terminal, walk_plots
from kinodyn.cli.command import command
from kinodyn.cli.gait import EngineOption, GaitOption, gait_settings
from kinodyn.cli.launch import open_viewer
from kinodyn.cli.options import Base, RobotOrHumanoid, Seed, option
from kinodyn.cli.result import CommandResult
from kinodyn.cli.walk_tables import walk_tables
from kinodyn.errors import InputError
from kinodyn.tables import check_writable

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot
    from kinodyn.sim import Load, Push
    from kinodyn.walking import WalkResult

_PUSH = re.compile(r"(?P<force>[^@]+)@(?P<start>[^+@]+)(\+(?P<duration>[^+@]+))?$")
PUSH_DURATION = 0.1  # [s]

PUSH_TEXT = (
    "push the trunk: 'FX@T', 'FX,FY@T' or 'FX,FY,FZ@T', force [N] in world axes from time T [s] on, for 0.1 s unless "
    "'+SECONDS' follows; 60@3 pushes forward, 0,60@3+0.2 to the left; repeatable"
)


@command(
    "walk",
    examples=[
        "kinodyn walk humanoid --speed 0.2 --push 0,60@1 --duration 4 --save walk.npz",
        "kinodyn walk humanoid --terrain slope:5 --goal 1.5 0 0",
    ],
    without=("out",),
)
def walk(
    robot: RobotOrHumanoid = "humanoid",
    speed: Annotated[float | None, option("forward speed [m/s]; by default derived from the robot")] = None,
    sideways: Annotated[float, option("speed to the left [m/s]")] = 0.0,
    turn: Annotated[float | None, option("turn rate to the left [rad/s]")] = None,
    turn_deg: Annotated[float | None, option("turn rate to the left [degrees/s], instead of --turn")] = None,
    distance: Annotated[float | None, option("stop after this distance [m]")] = None,
    goal: Annotated[
        tuple[float, float, float] | None, option("walk to this pose instead: x y [m] yaw [rad]", metavar="X Y YAW")
    ] = None,
    terrain: Annotated[
        str | None,
        option(
            "ground: 'stairs:RISE,TREAD,COUNT', 'slope:DEGREES', 'slope:DEGREES,across', 'stones:SIZE,GAP', "
            "'boxes:HEIGHT', 'field:HEIGHT', or a file: map.png, world.xml, hills.stl",
            metavar="KIND:VALUES",
        ),
    ] = None,
    map: Annotated[  # noqa: A002 - the name of the option
        Literal["known", "noisy", "blind"], option("what the planner knows of the terrain")
    ] = "known",
    duration: Annotated[float | None, option("total time, from standing to standing [s]")] = None,
    push: Annotated[list[str] | None, option(PUSH_TEXT, metavar="F@T")] = None,
    gait: GaitOption = None,
    engine: EngineOption = "mujoco",
    seed: Seed = 0,
    noise: Annotated[
        str | None, option("standard deviation of measured q [rad, m] and v, one or two numbers: 'Q' or 'Q,V'")
    ] = None,
    friction: Annotated[float | None, option("friction coefficient of the ground; the controller assumes 0.5")] = None,
    mass_scale: Annotated[float | None, option("factor on all masses, unknown to the controller")] = None,
    carry: Annotated[
        float | None, option("carry a box of this mass level in both hands [kg], known to the controller")
    ] = None,
    payload: Annotated[
        float | None, option("mass fixed to the trunk [kg], unknown to the controller", metavar="KG")
    ] = None,
    estimate: Annotated[bool, option("estimate the state from IMU, encoders and foot forces", "--estimate")] = False,
    height: Annotated[float | None, option("height of the bundled humanoid [m]")] = None,
    mass: Annotated[float | None, option("mass of the bundled humanoid [kg]")] = None,
    base: Base = None,
    save: Annotated[Path | None, option("write the recording to a file: .npz, .parquet or .csv")] = None,
    video: Annotated[Path | None, option("write a video, rendered by MuJoCo: .mp4, .gif or .webp")] = None,
    fps: Annotated[float, option("images per second of the video")] = 30.0,
    size: Annotated[str, option("width and height of the video [pixels]", metavar="WxH")] = "640x480",
    view: Annotated[bool, option("show the walk in the viewer afterwards", "--view")] = False,
) -> CommandResult:
    """Simulate a walk of a humanoid, actuated by joint torques alone, and report its metrics.

    Feet, legs, stance, step lengths and gains are derived from the robot; --set changes single settings of the gait.
    The exit code is 0 only if the robot stays on its feet. For a robot that cannot walk, the reason is reported before
    the simulation starts.
    """
    import kinodyn as kd

    check_writable(save, (".npz", ".parquet", ".csv"))
    pixels = _size(size)
    if video is not None:
        kd.sim.require_video(video, fps=fps, size=pixels)
    loaded = args.load(robot, base or "floating", height=height, mass=mass)
    chosen = gait_settings(loaded, gait or [])
    forward = kd.walking.default_speed(loaded, chosen) if speed is None else speed
    velocity = (forward, sideways, _turn(turn, turn_deg))
    options: dict[str, Any] = {
        "duration": duration,
        "distance": distance,
        "goal": goal,
        "terrain": terrain,
        "map": None if terrain is None else map,
        "carry": carry,
        "loads": None if payload is None else [trunk_load(loaded, payload)],
        "estimate": estimate or None,
        "friction": friction,
        "mass_scale": mass_scale,
        "noise": None if noise is None else read_noise(noise),
    }
    given = {name: value for name, value in options.items() if value is not None}
    terminal.say(f"{loaded.name}: planning and simulating", "dim")
    result = kd.walking.walk(
        loaded,
        velocity,
        settings=chosen,
        engine=engine,
        pushes=pushes(loaded, push or []),
        seed=seed,
        progress=True,
        **given,
    )
    if save is not None:
        result.recording.save(save)
        terminal.say(f"written: {save}", "dim")
    if video is not None:
        terminal.say(f"{loaded.name}: rendering", "dim")
        kd.sim.render_video(result.body.robot, result.recording, video, fps=fps, size=pixels, progress=True)
        terminal.say(f"written: {video}", "dim")
    summary = result.summary()
    inputs = {"robot": robot, "velocity": velocity, "engine": engine, "seed": seed, "push": push or []}
    given.pop("loads", None)
    inputs |= {"set": gait or [], "payload": payload, **given}
    command_result = _result(result, summary, inputs)
    if view:
        command_result.on_finish = lambda: open_viewer(loaded, recording=result.recording)
    return command_result


def _result(result: WalkResult, summary: dict[str, Any], inputs: dict[str, Any]) -> CommandResult:
    return CommandResult(
        _title(result, summary),
        summary,
        inputs,
        walk_tables(summary),
        figures={
            "From above and over time": result.plot,
            "The robot": lambda: walk_plots.strip(result),
            "Margins": lambda: walk_plots.margins(result),
            "Torques": lambda: walk_plots.torques(result),
        },
        ok=bool(result.walked),
        interrupted=result.recording.status == "interrupted",
    )


def pushes(robot: Robot, texts: list[str], frame: str | None = None) -> list[Push]:
    """Parse pushes on a frame, by default the base: `FX[,FY[,FZ]]@T[+SECONDS]`."""
    from kinodyn.sim import Push

    found = []
    for text in texts:
        match = _PUSH.match(text)
        if match is None:
            raise InputError(f"--push {text!r} must be newtons@seconds, such as 60@3.0, 0,60@3.0 or 60@3.0+0.2")
        force = args.numbers(match["force"], "the force of --push", (1, 2, 3))
        start = args.numbers(match["start"], "the time of --push", (1,))[0]
        duration = (
            args.numbers(match["duration"], "the duration of --push", (1,))[0] if match["duration"] else PUSH_DURATION
        )
        whole = [*force, *[0.0] * (3 - len(force))]
        found.append(Push(frame or robot.joints[0].child, whole, start=float(start), duration=float(duration)))
    return found


def trunk_load(robot: Robot, mass: float) -> Load:
    """Make a load at the origin of the base."""
    from kinodyn.sim import Load

    return Load(mass, (0.2, 0.2, 0.2), {robot.joints[0].child: np.eye(4)})


def _size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)x(\d+)", text.strip())
    if match is None:
        raise InputError(f"--size {text!r} must be width and height in pixels, such as 640x480")
    return int(match[1]), int(match[2])


def _turn(turn: float | None, turn_deg: float | None) -> float:
    if turn is not None and turn_deg is not None:
        raise InputError("--turn and --turn-deg are alternatives; give one of them")
    return math.radians(turn_deg) if turn_deg is not None else turn or 0.0


def read_noise(text: str) -> dict[str, float]:
    """Read standard deviations of q and v."""
    found = args.numbers(text, "--noise", (1, 2))
    return dict(zip(("q", "v"), map(float, found), strict=False))


def _title(result: WalkResult, summary: dict[str, Any]) -> str:
    name = summary["robot"]
    if result.recording.status == "interrupted":
        return f"{name}: interrupted after {result.recording.duration:.2f} s"
    if result.walked:
        return f"{name} walked {summary['distance']:.2f} m in {summary['steps']} steps"
    return f"{name} did not walk: {result.reason}"
