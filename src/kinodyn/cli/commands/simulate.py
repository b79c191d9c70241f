"""kinodyn simulate: simulate a robot with the native engine or MuJoCo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from kinodyn.cli import args, terminal
from kinodyn.cli.command import command
from kinodyn.cli.commands.walk import pushes, read_noise
from kinodyn.cli.launch import open_viewer
from kinodyn.cli.options import Q_TEXT, V_TEXT, Base, RobotName, Seed, option
from kinodyn.cli.result import CommandResult, Table
from kinodyn.errors import InputError

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot
    from kinodyn.recording import Recording

PEAKS = "largest velocity [rad/s, m/s] and torque [N m, N]"
Control = Literal["none", "hold", "pd", "computed-torque"]


@command(
    "simulate",
    examples=[
        "kinodyn simulate planar2r --q0 0.5,0.2 --duration 2 --out fall.csv",
        "kinodyn simulate panda --q0 ready --control pd --target random",
        "kinodyn simulate humanoid --engine mujoco --q0 standing --duration 1",
    ],
)
def simulate(
    robot: RobotName,
    duration: Annotated[float, option("simulated time [s]")] = 5.0,
    q0: Annotated[str, option(f"initial {Q_TEXT}")] = "neutral",
    v0: Annotated[str, option(f"initial velocity: {V_TEXT}")] = "zero",
    engine: Annotated[Literal["mujoco", "native"], option("native engine without contacts, or MuJoCo")] = "native",
    control: Annotated[
        Control, option("none: no torques; hold: gravity compensation and damping; others: move to --target")
    ] = "none",
    target: Annotated[
        str | None, option("target configuration of pd and computed-torque; by default the initial one")
    ] = None,
    frequency: Annotated[float, option("natural frequency of the controller [rad/s]")] = 8.0,
    dt: Annotated[float, option("time step of the integration [s]")] = 1e-3,
    record_dt: Annotated[float, option("time between recorded rows [s]")] = 1e-2,
    integrator: Annotated[str | None, option("native: semi-implicit, rk4; mujoco: euler, implicitfast, ...")] = None,
    push: Annotated[list[str] | None, option("push F@T as in `kinodyn walk`, at --push-frame", metavar="F@T")] = None,
    push_frame: Annotated[
        str | None, option("frame where pushes act; by default the first end effector, or the last frame")
    ] = None,
    noise: Annotated[str | None, option("standard deviation of the measured q and v: 'Q' or 'Q,V'")] = None,
    base: Base = None,
    seed: Seed = 0,
    view: Annotated[bool, option("open the recording in the viewer afterwards", "--view")] = False,
) -> CommandResult:
    """Simulate a robot and record time, q, velocity, torques and contact forces.

    Recordings (.npz, .parquet) can be read by `kinodyn view --recording` and `kinodyn identify`. Ctrl-C keeps the
    recording so far. The exit code is 1 if the simulation diverges.
    """
    from kinodyn import sim

    if target is not None and control not in ("pd", "computed-torque"):
        raise InputError(f"--target needs --control pd or computed-torque; --control is {control}")
    if push_frame is not None and not push:
        raise InputError("--push-frame needs a --push, such as --push 20@1")
    loaded = args.load(robot, base)
    start = _single(args.configurations(loaded, q0, seed=seed, what="q0"), "--q0")
    goal = start if target is None else _single(args.configurations(loaded, target, seed=seed + 1), "--target")
    options: dict[str, Any] = {} if integrator is None else {"integrator": integrator}
    terminal.say(f"{loaded.name}: simulating", "dim")
    recording = sim.simulate(
        loaded,
        _controller(loaded, control, goal, frequency),
        duration,
        q0=start,
        v0=args.vectors(loaded, v0, seed=seed, what="v0"),
        engine=engine,
        dt=dt,
        record_dt=record_dt,
        pushes=pushes(loaded, push or [], args.end_frame(loaded, push_frame)),
        noise=None if noise is None else read_noise(noise),
        seed=seed,
        progress=True,
        **options,
    )
    inputs = {"robot": robot, "duration": duration, "q0": start, "engine": engine, "control": control, "dt": dt}
    inputs |= {"target": goal, "push": push or [], "seed": seed}
    result = _result(loaded, recording, inputs)
    if view:
        result.on_finish = lambda: open_viewer(loaded, recording=recording)
    return result


def _result(robot: Robot, recording: Recording, inputs: dict[str, Any]) -> CommandResult:
    from kinodyn import dynamics

    energy = dynamics.kinetic_energy(robot, recording.q, recording.v) + dynamics.potential_energy(robot, recording.q)
    rows = [
        (name, *values)
        for name, *values in zip(
            recording.v_names,
            np.abs(recording.v).max(axis=0).tolist(),
            np.abs(recording.tau).max(axis=0).tolist(),
            robot.limits.effort.tolist(),
            strict=True,
        )
    ]
    figures = {
        "status": recording.status,
        "reason": recording.reason or None,
        "duration": recording.duration,
        "rows": len(recording),
        "energy_start": float(energy[0]),
        "energy_end": float(energy[-1]),
    }
    units = {"duration": " [s]", "energy_start": " [J]", "energy_end": " [J]"}
    shown = [
        (name.replace("_", " ") + units.get(name, ""), value) for name, value in figures.items() if value is not None
    ]
    return CommandResult(
        f"{robot.name}: {recording.duration:.4g} s simulated, {recording.status}",
        {
            **figures,
            "q_end": recording.q[-1],
            "v_end": recording.v[-1],
            "names": recording.q_names,
            "time": recording.time,
            "q": recording.q,
            "v": recording.v,
            "tau": recording.tau,
        },
        inputs,
        [Table("", ("quantity", "value"), shown), Table(PEAKS, ("joint", "velocity", "torque", "limit"), rows, 60)],
        writers=dict.fromkeys((".npz", ".csv", ".parquet"), recording.save),
        figures={"Over time": lambda: recording.plot(*(("q",) if robot.nv > 10 else ("q", "v", "tau")))},
        ok=recording.status == "complete",
        interrupted=recording.status == "interrupted",
    )


def _controller(robot: Robot, control: str, goal: Any, frequency: float) -> Any:
    from kinodyn import control as controllers
    from kinodyn import dynamics

    if control == "none":
        return None
    if control == "hold":
        if robot.base == "floating":
            raise InputError(
                "--control hold compensates gravity at the base too, which has no motor; use pd for a floating base"
            )
        damping = 2.0 * controllers.joint_inertia(robot, goal)
        return lambda t, state: dynamics.gravity(robot, state.q) - damping * state.v
    gains = controllers.Gains.from_frequency(frequency)
    kind = controllers.PDGravity if control == "pd" else controllers.ComputedTorque
    return kind(robot, goal, gains)


def _single(q: Any, what: str) -> Any:
    if q.ndim > 1:
        raise InputError(f"{what} must be one configuration, got {len(q)} rows")
    return q
