"""kinodyn identify: masses, inertias and friction from a recording."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from kinodyn.cli import reading, show
from kinodyn.cli.answer import Answer, Table
from kinodyn.cli.command import command
from kinodyn.cli.files import check_target
from kinodyn.cli.options import Base, RobotName, Seed, argument, option
from kinodyn.cli.working import working
from kinodyn.errors import InputError

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
        Path | None, argument("recording: .csv, .npz or .parquet with time, q.<joint>, tau.<joint>")
    ] = None,
    excite: Annotated[bool, option("make an exciting motion and its recording instead", "--excite")] = False,
    method: Annotated[Literal["consistent", "weighted", "ordinary"], option("how to fit")] = "consistent",
    term: Annotated[
        list[str] | None,
        option("fitted besides inertias: viscous, coulomb, armature, offset; repeatable; the first two unless given"),
    ] = None,
    held_out: Annotated[float, option("share of the samples, at the end, to judge by", min=0.0, max=0.9)] = 0.25,
    cutoff: Annotated[float | None, option("low-pass filter for raw recordings [Hz]")] = None,
    prior_spread: Annotated[float, option("how far the robot's numbers may be off, as a share")] = 1.0,
    urdf: Annotated[Path | None, option("write the robot that was found")] = None,
    period: Annotated[float, option("of the exciting motion [s]")] = 5.0,
    margin: Annotated[float, option("share of each limit that it uses")] = 0.9,
    rate: Annotated[float, option("samples per second of its recording")] = 100.0,
    noise: Annotated[float, option("on its torques, as a share")] = 0.01,
    base: Base = None,
    seed: Seed = 0,
) -> Answer:
    """Find the masses, inertias and friction of a robot from a recording of its motion and torques.

    The fit is judged on samples that it has not seen. With --excite: find a motion that tells the parameters well and
    write its recording with --out, computed from the robot's own numbers, to try the way before the real robot moves.
    """
    check_target(urdf, (".urdf", ".xml"))
    if excite and urdf is not None:
        raise InputError("--excite fits nothing that --urdf could hold; fit the recording that it makes")
    loaded = reading.load(robot, base)
    terms = tuple(term or ("viscous", "coulomb"))
    if excite:
        if data is not None:
            raise InputError("--excite makes a recording and takes none; leave the file out")
        return _excite(loaded, period, margin, rate, noise, terms, seed)
    if data is None:
        raise InputError("give a recording, such as run.csv; --excite --out run.csv makes one to try")
    return _fit(loaded, data, cutoff, urdf, method=method, terms=terms, held_out=held_out, prior_spread=prior_spread)


def _excite(
    robot: Robot, period: float, margin: float, rate: float, noise: float, terms: tuple[str, ...], seed: int
) -> Answer:
    from kinodyn import identification as ident

    with working("exciting motion") as work:
        motion = ident.exciting_trajectory(
            robot, period=period, margin=margin, starts=20, iterations=5, terms=terms, seed=seed, progress=work
        )
    time = motion.times(rate)
    data = ident.simulate(robot, time, *motion(time), noise=noise, seed=seed)
    figures = [
        ("condition number", motion.condition),
        ("largest torque, share of its limit", motion.effort),
        ("status", motion.status),
        ("samples", len(time)),
    ]
    return Answer(
        f"{robot.name}: an exciting motion of {period:g} s, {motion.status}",
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
        [Table("", ("figure", "value"), figures)],
        savers=dict.fromkeys((".csv", ".npz", ".parquet"), data.save),
        pictures={"Motion": lambda: _motion_picture(robot, time, np.asarray(data.q))},
        good=motion.success,
        interrupted=work.interrupted,
    )


def _fit(robot: Robot, file: Path, cutoff: float | None, urdf: Path | None, **settings: Any) -> Answer:
    import kinodyn as kd
    from kinodyn import identification as ident

    data = ident.read(file, robot)
    if cutoff is not None or data.v is None or data.a is None:
        data = ident.prepare(data, cutoff=cutoff)
    result = ident.fit(robot, data, **settings)
    if urdf is not None:
        kd.write_urdf(result.robot.description, urdf)
        show.say(f"written: {urdf}", "dim")
    before, after = result.prior_residuals(), result.residuals()
    torques = list(zip(result.labels(), before.tolist(), after.tolist(), result.noise.tolist(), strict=True))
    values = list(
        zip(result.names, result.before.tolist(), result.after.tolist(), result.standard_errors.tolist(), strict=True)
    )
    good = result.status == "converged"
    return Answer(
        f"{robot.name}: {result.method} fit {result.status}, rank {result.rank} of {result.base.rank}",
        {
            "status": result.status,
            "possible": result.possible,
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
        pictures={"Torques": result.plot},
        notes=[f"not told by these data: {', '.join(result.unidentified[:6])}"] if result.unidentified else [],
        good=good,
    )


def _motion_picture(robot: Robot, time: Any, q: Any) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(time, q)
    axes.set(xlabel="time [s]", ylabel="q [rad, m]", title=robot.name)
    axes.grid(alpha=0.3)
    return figure
