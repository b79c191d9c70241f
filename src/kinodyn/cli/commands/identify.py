"""kinodyn identify: inertial parameters and friction from a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from kinodyn.cli import args, terminal
from kinodyn.cli.command import command
from kinodyn.cli.jobs import JobEngine, JobOption, job_options, skipped
from kinodyn.cli.options import Base, RobotName, Seed, argument, option
from kinodyn.cli.progress import progress_bar
from kinodyn.cli.result import CommandResult, Table
from kinodyn.errors import InputError
from kinodyn.tables import check_writable

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot


@command(
    "identify",
    examples=[
        "kinodyn identify planar2r --excite --out run.csv",
        "kinodyn identify planar2r run.csv --urdf fitted.urdf --plot torques.png",
    ],
)
def identify(
    robot: RobotName,
    data: Annotated[
        list[Path] | None,
        argument("recordings, or folders of them: .csv, .npz or .parquet with time, q.<joint>, tau.<joint>"),
    ] = None,
    excite: Annotated[
        bool, option("design an exciting trajectory and simulate its recording instead", "--excite")
    ] = False,
    method: Annotated[Literal["consistent", "weighted", "ordinary"], option("least-squares method")] = "consistent",
    term: Annotated[
        list[str] | None,
        option(
            "parameters besides inertias: viscous, coulomb, armature, offset; repeatable; default: viscous, coulomb"
        ),
    ] = None,
    held_out: Annotated[
        float, option("fraction of the samples, at the end, reserved for validation", min=0.0, max=0.9)
    ] = 0.25,
    cutoff: Annotated[float | None, option("low-pass filter for raw recordings [Hz]")] = None,
    prior_spread: Annotated[float, option("relative standard deviation of the prior parameters")] = 1.0,
    urdf: Annotated[Path | None, option("write the identified robot to this file")] = None,
    period: Annotated[float, option("period of the exciting trajectory [s]")] = 5.0,
    margin: Annotated[float, option("fraction of each limit that the exciting trajectory may use")] = 0.9,
    rate: Annotated[float, option("sampling rate of the simulated recording [Hz]")] = 100.0,
    noise: Annotated[float, option("standard deviation of the simulated torques, relative to their rms")] = 0.01,
    job: JobOption = None,
    engine: JobEngine = None,
    base: Base = None,
    seed: Seed = 0,
) -> CommandResult:
    """Identify masses, inertias and friction of a robot from a recording of its motion and torques.

    The fit is validated on held-out samples. Several recordings are fitted separately, on all cores, and the
    spread of the estimates is reported. With --excite: design an exciting trajectory and write a simulated recording of
    it with --out, to try the procedure before the real robot moves.
    """
    check_writable(urdf, (".urdf", ".xml"))
    if excite and urdf is not None:
        raise InputError("--excite does not fit a robot that --urdf could write; fit the recording that it writes")
    loaded = args.load(robot, base)
    terms = tuple(term or ("viscous", "coulomb"))
    if excite:
        if data:
            raise InputError("--excite writes a recording and reads none; leave the file out")
        return _excite(loaded, period, margin, rate, noise, terms, seed)
    if not data:
        raise InputError("a recording is needed, such as run.csv; --excite --out run.csv simulates one")
    settings = {"method": method, "terms": terms, "held_out": held_out, "prior_spread": prior_spread}
    if len(data) == 1 and not data[0].is_dir() and job is None and engine is None:
        return _fit(loaded, data[0], cutoff, urdf, **settings)
    if urdf is not None:
        raise InputError("--urdf needs a single recording: each recording gives its own robot")
    with job_options(job, engine) as run:
        return _fit_many(loaded, data, cutoff, run, settings)


def _fit_many(
    robot: Robot, data: list[Path], cutoff: float | None, run: dict[str, Any], settings: dict[str, Any]
) -> CommandResult:
    from kinodyn import jobs, tables

    files = jobs.Files(data, tables.SUFFIXES).paths
    found = jobs.identify(robot, files, cutoff=cutoff, **run, **settings)
    if found.done == 0:
        raise InputError(found.reason)
    columns = found.read()
    names = list(dict.fromkeys(columns["name"].tolist()))
    estimates = columns["after"].reshape(-1, len(names))
    errors = columns["standard_error"].reshape(-1, len(names))
    spread = estimates.std(axis=0, ddof=1) if len(estimates) > 1 else np.full(len(names), np.nan)
    before, mean, error = columns["before"][: len(names)], estimates.mean(axis=0), errors.mean(axis=0)
    residuals = columns["residual"][:: len(names)]
    rows = list(zip(names, before.tolist(), mean.tolist(), spread.tolist(), error.tolist(), strict=True))
    fits = list(zip(columns["file"][:: len(names)].tolist(), residuals.tolist(), strict=True))
    heading = ("name", "before", "mean", "standard deviation", "mean standard error")
    return CommandResult(
        f"{robot.name}: {len(estimates)} recordings fitted",
        {"names": names, "before": before, "mean": mean, "standard_deviation": spread, "residual": residuals},
        {"robot": robot.name, "data": [str(file) for file in files], "cutoff": cutoff, **settings},
        [
            Table("held-out torques, root mean square relative to before", ("file", "residual"), fits),
            Table("parameters", heading, rows),
            *skipped(found, [file.name for file in files]),
        ],
        samples=columns,
        ok=found.status == "complete",
        interrupted=found.status == "interrupted",
    )


def _excite(
    robot: Robot, period: float, margin: float, rate: float, noise: float, terms: tuple[str, ...], seed: int
) -> CommandResult:
    from kinodyn import identification as ident

    with progress_bar("exciting trajectory") as progress:
        motion = ident.exciting_trajectory(
            robot, period=period, margin=margin, starts=20, iterations=5, terms=terms, seed=seed, progress=progress
        )
    time = motion.times(rate)
    data = ident.simulate(robot, time, *motion(time), noise=noise, seed=seed)
    figures = [
        ("condition number", motion.condition),
        ("largest torque, fraction of its limit", motion.effort),
        ("status", motion.status),
        ("samples", len(time)),
    ]
    return CommandResult(
        f"{robot.name}: exciting trajectory of {period:g} s, {motion.status}",
        {
            "condition": motion.condition,
            "effort": motion.effort,
            "status": motion.status,
            "time": time,
            "q": data.q,
            "tau": data.tau,
        },
        {
            "robot": robot.name,
            "period": period,
            "margin": margin,
            "rate": rate,
            "noise": noise,
            "terms": terms,
            "seed": seed,
        },
        [Table("", ("quantity", "value"), figures)],
        writers=dict.fromkeys((".csv", ".npz", ".parquet"), data.save),
        figures={"Motion": lambda: _motion_picture(robot, time, np.asarray(data.q))},
        ok=motion.success,
        interrupted=progress.interrupted,
    )


def _fit(robot: Robot, file: Path, cutoff: float | None, urdf: Path | None, **settings: Any) -> CommandResult:
    import kinodyn as kd
    from kinodyn import identification as ident

    data = ident.read(file, robot)
    if cutoff is not None or data.v is None or data.a is None:
        data = ident.prepare(data, cutoff=cutoff)
    result = ident.fit(robot, data, **settings)
    if urdf is not None:
        kd.write_urdf(result.robot.description, urdf)
        terminal.say(f"written: {urdf}", "dim")
    before, after = result.prior_residuals(), result.residuals()
    torques = list(zip(result.labels(), before.tolist(), after.tolist(), result.noise.tolist(), strict=True))
    values = list(
        zip(result.names, result.before.tolist(), result.after.tolist(), result.standard_errors.tolist(), strict=True)
    )
    return CommandResult(
        f"{robot.name}: {result.method} fit {result.status}, rank {result.rank} of {result.base.rank}",
        {
            "status": result.status,
            "physically_consistent": result.is_physically_consistent,
            "rank": result.rank,
            "names": result.names,
            "before": result.before,
            "after": result.after,
            "standard_errors": result.standard_errors,
            "residual_before": before,
            "residual_after": after,
            "noise": result.noise,
            "unidentified": result.unidentified,
            "without_effect": result.without_effect,
        },
        {"robot": robot.name, "data": file, "cutoff": cutoff, **settings},
        [
            Table("held-out torques, root mean square [N m, N]", ("joint", "before", "after", "noise"), torques, 60),
            Table("parameters", ("name", "before", "after", "standard error"), values),
        ],
        samples={
            "name": np.array(result.names),
            "before": result.before,
            "after": result.after,
            "standard_error": result.standard_errors,
        },
        figures={"Torques": result.plot},
        notes=[f"not identifiable from these data: {', '.join(result.unidentified[:6])}"]
        if result.unidentified
        else [],
        ok=result.status == "converged",
    )


def _motion_picture(robot: Robot, time: Any, q: Any) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(time, q)
    axes.set(xlabel="time [s]", ylabel="q [rad, m]", title=robot.name)
    axes.grid(alpha=0.3)
    return figure
