"""kinodyn workspace: reachable positions of a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from kinodyn.cli import args
from kinodyn.cli.command import command
from kinodyn.cli.jobs import JobEngine, JobOption, job_options
from kinodyn.cli.options import Base, Frame, RobotName, Seed, option
from kinodyn.cli.progress import progress_bar
from kinodyn.cli.result import CommandResult, Table

if TYPE_CHECKING:
    from kinodyn.kinematics.workspaces import Workspace


@command(
    "workspace",
    examples=[
        "kinodyn workspace planar2r --samples 20000",
        "kinodyn workspace panda --samples 10000 --plot reach.png --out reach.npz",
        "kinodyn workspace ur5 --poses 1e8 --resolution 0.025 --job reach --out reach.npz",
        "kinodyn workspace ur5 --poses 1e8 --engine dask --approach x --directions 200",
    ],
)
def workspace(
    robot: RobotName,
    frame: Frame = None,
    samples: Annotated[float, option("number of configurations, such as 1e8", "--samples", "--poses", min=1)] = 2**18,
    resolution: Annotated[float | None, option("edge of a voxel [m]; by default a sixteenth of the reach")] = None,
    joint: Annotated[list[str] | None, option("joints to vary, repeatable; by default all that move the frame")] = None,
    q0: Annotated[str, option("configuration of the other joints, as --q of fk")] = "neutral",
    approach: Annotated[str, option("axis of the frame whose directions are counted for dexterity: x, y or z")] = "z",
    directions: Annotated[int, option("number of directions distinguished for dexterity", min=1)] = 50,
    job: JobOption = None,
    engine: JobEngine = None,
    base: Base = None,
    seed: Seed = 0,
) -> CommandResult:
    """Map the reachable positions of a frame by sampling configurations evenly within the joint limits.

    Reports reach, volume and voids; --out writes the whole map to NPZ (read it with `Workspace.load`), or the points.
    Ctrl-C stops it and keeps the samples so far. With --job or --engine it runs on all cores or on Dask workers; the
    same command with --job resumes a job that was stopped.
    """
    from kinodyn import jobs, kinematics

    loaded = args.load(robot, base)
    name = args.end_frame(loaded, frame)
    q_rest = args.configurations(loaded, q0, seed=seed, what="q0")
    number = args.whole_number(samples, "--samples")
    options: dict[str, Any] = {"resolution": resolution, "joints": joint, "q0": q_rest, "seed": seed}
    options |= {"approach": approach, "directions": directions}
    interrupted = False
    if job is not None or engine is not None:
        with job_options(job, engine) as run:
            space = jobs.workspace(loaded, name, samples=number, **run, **options)
    else:
        with progress_bar("sampling") as progress:
            space = kinematics.workspace(loaded, name, samples=number, progress=progress, **options)
        interrupted = progress.interrupted
    unit = {1: "m", 2: "m^2", 3: "m^3"}.get(space.dimension, "")
    points = space.points()
    properties = {
        "max_reach": space.max_reach,
        "volume": space.volume,
        "dimension": space.dimension,
        "voxels": len(points),
        "resolution": space.resolution,
        "enclosed_voids": int(space.voids().sum()),
        "largest_dexterity": float(space.dexterity.max(initial=0.0)),
        "samples": space.samples,
    }
    units = {"max_reach": "m", "volume": unit, "resolution": "m"}
    rows = [(key.replace("_", " "), value, units.get(key, "")) for key, value in properties.items()]
    return CommandResult(
        f"{loaded.name}: {name} reaches {space.max_reach:.4g} m",
        {
            **properties,
            "centre": space.centre,
            "q_max_reach": space.q_max_reach,
            "lower": points.min(axis=0),
            "upper": points.max(axis=0),
        },
        {"robot": robot, "frame": name, "samples": number, "joints": joint, "q0": q0, "seed": seed}
        | {"approach": approach, "directions": directions},
        [Table("", ("quantity", "value", "unit"), rows)],
        samples={
            "point": points,
            "probability": space.probability[space.reachable],
            "dexterity": space.dexterity[space.reachable],
        },
        columns={"point": ("x", "y", "z")},
        figures={"Workspace": lambda: _plot(space)},
        interrupted=interrupted,
        writers={".npz": space.save},
    )


def _plot(space: Workspace) -> Any:
    from matplotlib.figure import Figure

    flat = space.dimension < 3
    figure = Figure(figsize=(7.0, 6.0), layout="constrained")
    axes = figure.add_subplot(projection=None if flat else "3d")
    (space.plot_slice if flat else space.plot_cloud)(ax=axes)
    return figure
