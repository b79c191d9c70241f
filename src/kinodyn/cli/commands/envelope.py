"""kinodyn envelope: the range of speeds, pushes and friction in which a robot walks without falling."""

from __future__ import annotations

from typing import Annotated

from kinodyn.cli import args
from kinodyn.cli.command import command
from kinodyn.cli.jobs import JobEngine, JobOption, job_options
from kinodyn.cli.options import Base, RobotOrHumanoid, option
from kinodyn.cli.result import CommandResult, Table


@command(
    "envelope",
    examples=["kinodyn envelope humanoid --speed 0.3 --seeds 1 --duration 5 --plot envelope.png"],
)
def envelope(
    robot: RobotOrHumanoid = "humanoid",
    speed: Annotated[str, option("forward speeds 'V,V,...' [m/s]")] = "0.2,0.4,0.6",
    push: Annotated[str, option("pushes, as changes of the CoM velocity 'V,V,...' [m/s]")] = "0",
    friction: Annotated[str, option("coefficients of friction 'F,F,...'")] = "0.8",
    seeds: Annotated[int, option("runs for each combination", min=1)] = 5,
    duration: Annotated[float, option("duration of each walk [s]")] = 10.0,
    mass_error: Annotated[float, option("largest relative error of the masses")] = 0.05,
    job: JobOption = None,
    engine: JobEngine = None,
    base: Base = None,
) -> CommandResult:
    """Simulate many walks over speeds, pushes and frictions, and report how many end without a fall.

    Each run has noise on the measured state, a random error of the masses, and one push in a random direction at a
    random time. With --job the same command resumes a job that was stopped.
    """
    import kinodyn as kd

    loaded = args.load(robot, base or "floating")
    axes = [args.numbers(text, what) for text, what in ((speed, "--speed"), (push, "--push"), (friction, "--friction"))]
    with job_options(job, engine) as options:
        found = kd.jobs.walking_envelope(
            loaded, *axes, seeds=seeds, duration=duration, mass_error=mass_error, **options
        )
    rows = [
        (float(found.speeds[i]), float(found.pushes[j]), float(found.frictions[k]), float(found.rate[i, j, k]))
        for i in range(len(found.speeds))
        for j in range(len(found.pushes))
        for k in range(len(found.frictions))
    ]
    reasons = sorted({reason for reason in found.runs["reason"].tolist() if reason})
    return CommandResult(
        f"{loaded.name}: {found.runs['walked'].mean():.0%} of {len(found.runs['walked'])} walks without a fall",
        {"rate": found.rate, "speeds": found.speeds, "pushes": found.pushes, "frictions": found.frictions},
        {"robot": robot, "speed": speed, "push": push, "friction": friction, "seeds": seeds, "duration": duration},
        [Table("", ("speed [m/s]", "push [m/s]", "friction", "walked"), rows)],
        samples=found.runs,
        figures={"Walks without a fall": found.plot},
        notes=reasons[:5],
    )
