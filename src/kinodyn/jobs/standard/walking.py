"""Monte-Carlo simulation of walks over speeds, pushes and friction, as a job."""

from __future__ import annotations

import functools
import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, nonnegative, numbers, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError, KinodynError
from kinodyn.jobs.result import JobResult
from kinodyn.jobs.run import map
from kinodyn.jobs.standard.common import as_columns, job_parameters
from kinodyn.model.robot import Robot
from kinodyn.walking import Biped, impulse_push, walk

NOISE = {"q": 1e-4, "v": 1e-2}  # standard deviations of the measured state [rad, m] and [rad/s, m/s]
MAX_TEXT = 200  # characters of a reason


@displayed
@dataclass(frozen=True, eq=False)
class WalkingEnvelope:
    """How often a robot walks without a fall, by speed, push and friction.

    Attributes
    ----------
    speeds : (i,)
        Forward [m/s].
    pushes : (j,)
        Change of the CoM velocity by the push [m/s].
    frictions : (k,)
        Coefficients of friction.
    rate : (i, j, k)
        Fraction of the runs that walked to their end.
    runs : dict of str -> (n,)
        All runs: speed, push, friction, seed, walked, reason, measured_speed [m/s], fallen [s], slip [m].
    """

    speeds: Array
    pushes: Array
    frictions: Array
    rate: Array
    runs: dict[str, NDArray[Any]]

    def plot(self) -> Any:
        """Draw the rates over speed and push, a panel for each friction.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from matplotlib.figure import Figure

        panels = len(self.frictions)
        figure = Figure(figsize=(1.5 + 3.2 * panels, 3.6), layout="constrained")
        all_axes = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
        for k, axes in enumerate(all_axes):
            image = axes.imshow(self.rate[:, :, k].T, origin="lower", vmin=0.0, vmax=1.0, cmap="RdYlGn", aspect="auto")
            axes.set_xticks(range(len(self.speeds)), [f"{speed:g}" for speed in self.speeds])
            axes.set_yticks(range(len(self.pushes)), [f"{push:g}" for push in self.pushes])
            axes.set(xlabel="speed [m/s]", title=f"friction {self.frictions[k]:g}")
            for i, j in np.ndindex(self.rate.shape[:2]):
                axes.text(i, j, f"{self.rate[i, j, k]:.0%}", ha="center", va="center", fontsize=8)
        all_axes[0].set_ylabel("push [m/s]")
        figure.colorbar(image, ax=list(all_axes), label="walks without a fall")
        return figure


@check_types
def walking_envelope(
    robot: Robot,
    speeds: ArrayLike,
    pushes: ArrayLike = (0.0,),
    frictions: ArrayLike = (0.8,),
    *,
    out: str | os.PathLike[str],
    seeds: int = 5,
    duration: float = 10.0,
    mass_error: float = 0.05,
    engine: Any = "processes",
    workers: int | None = None,
    progress: bool = False,
) -> WalkingEnvelope:
    """Simulate walks over a grid of speeds, pushes and frictions, by a job that can be resumed.

    Each run has noise on the measured state, a random error of all masses, and one push in a random direction at a
    random time; they depend on the seed alone.

    Parameters
    ----------
    robot : Robot
    speeds, pushes, frictions : (n,) or float
        Forward [m/s]; change of the CoM velocity by the push [m/s]; coefficients.
    out
        Folder of the job; see `jobs.map`.
    seeds : int
        Runs for each combination.
    duration : float
        Of each walk [s].
    mass_error : float
        Largest relative error of the masses.
    engine, workers, progress
        See `jobs.map`.

    Returns
    -------
    WalkingEnvelope

    Raises
    ------
    KinodynError
        If the robot cannot walk, or the job was interrupted: call it again to continue.
    """
    axes = [
        np.atleast_1d(numbers(name, value)).ravel()
        for name, value in (("speeds", speeds), ("pushes", pushes), ("frictions", frictions))
    ]
    if any(len(axis) == 0 for axis in axes):
        raise InputError("speeds, pushes and frictions must have at least one value each")
    if (axes[1] < 0.0).any() or (axes[2] <= 0.0).any():
        raise InputError("pushes must be nonnegative and frictions positive")
    integer("seeds", seeds, 1, 100_000)
    if not 5.0 <= positive("duration", duration) <= 3600.0:
        raise InputError(f"duration must be from 5 to 3600 s, got {duration:g}")
    if nonnegative("mass_error", mass_error) >= 1.0:
        raise InputError(f"mass_error must be below 1, got {mass_error:g}")
    Biped.from_robot(robot)  # a robot without feet fails before the job starts
    grid = np.meshgrid(*axes, np.arange(seeds), indexing="ij")
    inputs = {name: each.ravel() for name, each in zip(("speed", "push", "friction", "seed"), grid, strict=True)}
    job = map(
        functools.partial(simulate_walks, robot=robot, duration=duration, mass_error=mass_error),
        inputs,
        out=out,
        engine=engine,
        workers=workers,
        shard=1,
        parameters=job_parameters(robot, {"duration": duration, "mass_error": mass_error}),
        progress=progress,
    )
    return _envelope(job, axes, seeds)


def _envelope(job: JobResult, axes: list[Array], seeds: int) -> WalkingEnvelope:
    if job.status != "complete":
        raise KinodynError(f"the envelope is not complete: {job.reason}; call it again with the same out= to continue")
    runs = job.read()
    rate = runs["walked"].reshape(*(len(axis) for axis in axes), seeds).mean(axis=-1)
    return WalkingEnvelope(speeds=axes[0], pushes=axes[1], frictions=axes[2], rate=rate, runs=runs)


def simulate_walks(
    conditions: dict[str, NDArray[Any]], robot: Robot, duration: float, mass_error: float
) -> dict[str, NDArray[Any]]:
    """Simulate the walks of a shard."""
    body = Biped.from_robot(robot)
    names = list(conditions)
    rows = [dict(zip(names, values, strict=True)) for values in zip(*conditions.values(), strict=True)]
    return as_columns([_simulate(body, row, duration, mass_error) for row in rows])


def _simulate(body: Biped, row: dict[str, Any], duration: float, mass_error: float) -> dict[str, Any]:
    seed = int(row["seed"])
    rng = np.random.default_rng(seed)
    mass_scale = 1.0 + rng.uniform(-mass_error, mass_error)
    angle, start = rng.uniform(0.0, 2.0 * math.pi), round(rng.uniform(2.0, duration - 2.5), 3)
    impulse = float(row["push"]) * body.robot.mass
    try:
        result = walk(
            body,
            (float(row["speed"]), 0.0, 0.0),
            duration=duration,
            friction=float(row["friction"]),
            mass_scale=mass_scale,
            noise=NOISE,
            seed=seed,
            pushes=[impulse_push(body, angle, impulse, start=start)] if impulse else [],
        )
    except KinodynError as error:  # such as a speed beyond the limits of the robot
        outcome = {"walked": False, "reason": str(error)[:MAX_TEXT]}
        return {**row, **outcome, "measured_speed": math.nan, "fallen": math.nan, "slip": math.nan}
    return {
        **row,
        "walked": bool(result.walked),
        "reason": result.reason[:MAX_TEXT],
        "measured_speed": float(result.speed),
        "fallen": math.nan if result.fallen is None else float(result.fallen),
        "slip": float(result.slip),
    }
