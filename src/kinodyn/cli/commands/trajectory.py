"""kinodyn trajectory: motion in time from one configuration to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from kinodyn.arrays import Array
from kinodyn.cli import reading
from kinodyn.cli.answer import Answer, Table
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, RobotName, Seed, option
from kinodyn.cli.reading import labels
from kinodyn.errors import InputError, KinodynError

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot
    from kinodyn.trajectory import LimitCheck

LARGEST = "largest velocity [rad/s, m/s] and acceleration [rad/s^2, m/s^2]"
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
    start: Annotated[str | None, option("configuration to start from, as --q of fk", "--from")] = None,
    end: Annotated[str | None, option("configuration to go to, as --q of fk", "--to")] = None,
    through: Annotated[str | None, option("waypoints: a file of rows, or random:n; instead of --from and --to")] = None,
    kind: Annotated[Kind, option("how to go")] = "quintic",
    duration: Annotated[float | None, option("[s]; as short as the limits allow unless given")] = None,
    velocity: Annotated[float | None, option("limit for each joint [rad/s, m/s]; the robot's unless given")] = None,
    acceleration: Annotated[float, option("limit for each joint [rad/s^2, m/s^2]")] = 5.0,
    jerk: Annotated[float, option("limit for each joint [rad/s^3, m/s^3]")] = 50.0,
    dt: Annotated[float, option("time between samples [s]")] = 0.01,
    base: Base = None,
    seed: Seed = 0,
) -> Answer:
    """Plan a motion through configurations and sample it: q, velocity and acceleration over time.

    cubic and quintic are polynomials, splines through waypoints; trapezoid and jerk-limited keep the limits in the
    least time; time-optimal is the fastest along the path, torque limits included. The motion is checked against all
    limits over its whole length; the exit code is 1 if it breaks one. Of ball joints and a floating base only torques
    are limited.
    """
    from kinodyn import trajectory as tr

    loaded = reading.load(robot, base)
    q = _waypoints(loaded, start, end, through, seed)
    motion = plan(loaded, q, kind, duration, velocity, acceleration, jerk)
    checked: dict[str, Any] = {
        "velocity": velocity,
        "acceleration": acceleration,
        "jerk": jerk if kind == "jerk-limited" else None,
    }
    inputs = {"robot": robot, "waypoints": q, "kind": kind, "dt": dt, "seed": seed, **checked}
    return _answer(loaded, motion, tr.check(loaded, motion, **checked), inputs)


def _answer(robot: Robot, motion: Any, report: LimitCheck, inputs: dict[str, Any]) -> Answer:
    samples, names = motion.sample(inputs["dt"]), labels(robot)
    excesses = [str(excess) for excess in report.excesses]
    peaks = np.abs(samples.v).max(axis=0), np.abs(samples.a).max(axis=0)
    rows = list(zip(names.v, *(peak.tolist() for peak in peaks), robot.limits.velocity.tolist(), strict=True))
    verdict = "within limits" if report.ok else "beyond limits"
    return Answer(
        f"{robot.name}: {inputs['kind']}, {motion.duration:.4g} s, {verdict}",
        {
            "duration": motion.duration,
            "ok": report.ok,
            "excesses": excesses,
            **samples._asdict(),
            "names": names.q,
        },
        inputs,
        [Table(LARGEST, ("joint", "velocity", "acceleration", "velocity limit"), rows, 60)],
        samples=samples._asdict(),
        columns={"q": names.q, "v": names.v, "a": names.v},
        pictures={"Motion": lambda: motion.plot(torque=robot.base == "fixed")},
        notes=excesses,
        good=report.ok,
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
        return _lasting(spline(q, **limits), duration)
    if kind == "time-optimal":
        found = tr.time_optimal(q, **limits)
        if found.trajectory is None:
            raise KinodynError(f"there is no such motion: {found.reason} ({found.status})")
        return _lasting(found.trajectory, duration)
    if kind == "trapezoid":
        if len(q) > 2:
            raise InputError("trapezoid goes from one configuration to another; through waypoints take jerk-limited")
        return tr.trapezoid(q[0], q[1], duration=duration, **limits)
    if len(q) > 2:
        return _lasting(tr.jerk_limited_waypoints(q, jerk=jerk, **limits).trajectory, duration)
    return tr.jerk_limited(q[0], q[1], jerk=jerk, duration=duration, **limits)


def _lasting(motion: Any, duration: float | None) -> Any:
    """Stretch a motion that is as fast as its limits allow; shorter than that it cannot be."""
    if duration is None:
        return motion
    if duration < motion.duration:
        raise InputError(f"--duration {duration:g} s is too short: the limits allow {motion.duration:.4g} s")
    return motion.stretched(duration / motion.duration)


def _waypoints(robot: Robot, start: str | None, end: str | None, through: str | None, seed: int) -> Array:
    if through is not None:
        if start is not None or end is not None:
            raise InputError("--through takes the place of --from and --to; give one or the other")
        q = np.atleast_2d(reading.configurations(robot, through, seed=seed, what="--through"))
        if len(q) < 2:
            raise InputError(f"--through needs two waypoints at least, got {len(q)}; random:4 draws four")
        return q
    if end is None:
        raise InputError("where to? give --to, or --through for waypoints")
    ends = [
        reading.configurations(robot, text, seed=seed + k, what=what)
        for k, (text, what) in enumerate(((start or "neutral", "--from"), (end, "--to")))
    ]
    if any(one.ndim > 1 for one in ends):
        raise InputError("--from and --to are one configuration each; --through takes many")
    return np.stack(ends)
