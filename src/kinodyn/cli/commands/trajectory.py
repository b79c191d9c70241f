"""kinodyn trajectory: generate a trajectory through configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from kinodyn.arrays import Array
from kinodyn.cli import args
from kinodyn.cli.args import labels
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, RobotName, Seed, option
from kinodyn.cli.result import CommandResult, Table
from kinodyn.errors import InputError, KinodynError

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot
    from kinodyn.trajectory import LimitCheck

PEAKS = "largest velocity [rad/s, m/s] and acceleration [rad/s^2, m/s^2]"
Kind = Literal["cubic", "quintic", "trapezoid", "jerk-limited", "time-optimal"]


@command(
    "trajectory",
    examples=[
        "kinodyn trajectory panda --from ready --to random --duration 3",
        "kinodyn trajectory ur5 --to random --kind jerk-limited --out motion.csv",
        "kinodyn trajectory panda --through random:4 --seed 1 --kind time-optimal",
    ],
)
def trajectory(
    robot: RobotName,
    start: Annotated[str | None, option("initial configuration, as --q of fk", "--from")] = None,
    end: Annotated[str | None, option("final configuration, as --q of fk", "--to")] = None,
    through: Annotated[str | None, option("waypoints: a file of rows, or random:n; instead of --from and --to")] = None,
    kind: Annotated[Kind, option("type of trajectory")] = "quintic",
    duration: Annotated[float | None, option("duration [s]; by default the shortest that the limits allow")] = None,
    velocity: Annotated[float | None, option("velocity limit of each joint [rad/s, m/s]; default: the robot's")] = None,
    acceleration: Annotated[float, option("acceleration limit of each joint [rad/s^2, m/s^2]")] = 5.0,
    jerk: Annotated[float, option("jerk limit of each joint [rad/s^3, m/s^3]")] = 50.0,
    dt: Annotated[float, option("time between samples [s]")] = 0.01,
    base: Base = None,
    seed: Seed = 0,
) -> CommandResult:
    """Generate a trajectory through configurations and sample q, velocity and acceleration.

    cubic and quintic are polynomials, or splines through waypoints; trapezoid and jerk-limited take the least time
    within the limits; time-optimal is the fastest along the path, torque limits included. The trajectory is checked
    against all limits over its whole duration; the exit code is 1 if it violates one. For ball joints and a floating
    base only torques are limited.
    """
    from kinodyn import trajectory as tr

    loaded = args.load(robot, base)
    q = _waypoints(loaded, start, end, through, seed)
    motion = plan(loaded, q, kind, duration, velocity, acceleration, jerk)
    checked: dict[str, Any] = {
        "velocity": velocity,
        "acceleration": acceleration,
        "jerk": jerk if kind == "jerk-limited" else None,
    }
    inputs = {"robot": robot, "waypoints": q, "kind": kind, "dt": dt, "seed": seed, **checked}
    return _result(loaded, motion, tr.check(loaded, motion, **checked), inputs)


def _result(robot: Robot, motion: Any, report: LimitCheck, inputs: dict[str, Any]) -> CommandResult:
    samples, names = motion.sample(inputs["dt"]), labels(robot)
    violations = [str(violation) for violation in report.violations]
    peaks = np.abs(samples.v).max(axis=0), np.abs(samples.a).max(axis=0)
    rows = list(zip(names.v, *(peak.tolist() for peak in peaks), robot.limits.velocity.tolist(), strict=True))
    verdict = "within limits" if report.ok else "beyond limits"
    return CommandResult(
        f"{robot.name}: {inputs['kind']}, {motion.duration:.4g} s, {verdict}",
        {
            "duration": motion.duration,
            "ok": report.ok,
            "violations": violations,
            **samples._asdict(),
            "names": names.q,
        },
        inputs,
        [Table(PEAKS, ("joint", "velocity", "acceleration", "velocity limit"), rows, 60)],
        samples=samples._asdict(),
        columns={"q": names.q, "v": names.v, "a": names.v},
        figures={"Motion": lambda: motion.plot(torque=robot.base == "fixed")},
        notes=violations,
        ok=report.ok,
    )


def plan(
    robot: Robot,
    q: Array,
    kind: str,
    duration: float | None,
    velocity: float | None,
    acceleration: float,
    jerk: float,
) -> Any:
    """Make a motion of a kind through configurations (n, nq)."""
    from kinodyn import trajectory as tr

    limits: dict[str, Any] = {"velocity": velocity, "acceleration": acceleration, "robot": robot}
    if kind in ("cubic", "quintic"):
        spline = tr.cubic_spline if kind == "cubic" else tr.quintic_spline
        return _with_duration(spline(q, **limits), duration)
    if kind == "time-optimal":
        found = tr.time_optimal(q, **limits)
        if found.trajectory is None:
            raise KinodynError(f"there is no such trajectory: {found.reason} ({found.status})")
        return _with_duration(found.trajectory, duration)
    if kind == "trapezoid":
        if len(q) > 2:
            raise InputError("trapezoid connects two configurations; use jerk-limited for waypoints")
        return tr.trapezoid(q[0], q[1], duration=duration, **limits)
    if len(q) > 2:
        return _with_duration(tr.jerk_limited_waypoints(q, jerk=jerk, **limits).trajectory, duration)
    return tr.jerk_limited(q[0], q[1], jerk=jerk, duration=duration, **limits)


def _with_duration(motion: Any, duration: float | None) -> Any:
    """Stretch the fastest trajectory to the requested duration; shorter is an error."""
    if duration is None:
        return motion
    if duration < motion.duration:
        raise InputError(f"--duration {duration:g} s is too short: the limits need at least {motion.duration:.4g} s")
    return motion.stretched(duration / motion.duration)


def _waypoints(robot: Robot, start: str | None, end: str | None, through: str | None, seed: int) -> Array:
    if through is not None:
        if start is not None or end is not None:
            raise InputError("--through replaces --from and --to; use one or the other")
        q = np.atleast_2d(args.configurations(robot, through, seed=seed, what="--through"))
        if len(q) < 2:
            raise InputError(f"--through needs at least two waypoints, got {len(q)}; random:4 draws four")
        return q
    if end is None:
        raise InputError("the final configuration is missing: give --to, or --through for waypoints")
    ends = [
        args.configurations(robot, text, seed=seed + k, what=what)
        for k, (text, what) in enumerate(((start or "neutral", "--from"), (end, "--to")))
    ]
    if any(q.ndim > 1 for q in ends):
        raise InputError("--from and --to take one configuration each; use --through for several")
    return np.stack(ends)
