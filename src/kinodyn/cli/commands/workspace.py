"""kinodyn workspace: where a frame can get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from kinodyn.cli import reading
from kinodyn.cli.answer import Answer, Table
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, Frame, RobotName, Seed, option
from kinodyn.cli.working import working

if TYPE_CHECKING:
    from kinodyn.kinematics.workspaces import Workspace


@command(
    "workspace",
    examples=[
        "kinodyn workspace planar2r --samples 20000",
        "kinodyn workspace panda --samples 10000 --plot reach.png --out reach.npz",
    ],
)
def workspace(
    robot: RobotName,
    frame: Frame = None,
    samples: Annotated[int, option("configurations to try", min=1)] = 2**18,
    resolution: Annotated[float | None, option("edge of a voxel [m]; a sixteenth of the reach unless given")] = None,
    joint: Annotated[list[str] | None, option("joints that move, repeatable; all below the frame unless given")] = None,
    q0: Annotated[str, option("where the other joints stand, as --q of fk")] = "neutral",
    base: Base = None,
    seed: Seed = 0,
) -> Answer:
    """Map where a frame can get, by configurations spread evenly within the joint limits.

    Gives reach, volume and voids; an NPZ file holds the whole map (`Workspace.load` reads it), other files the points.
    Ctrl-C ends it with the samples that are done.
    """
    from kinodyn import kinematics

    loaded = reading.load(robot, base)
    name = reading.end_frame(loaded, frame)
    held = reading.configurations(loaded, q0, seed=seed, what="q0")
    with working("sampling") as work:
        space = kinematics.workspace(
            loaded, name, samples=samples, resolution=resolution, joints=joint, q0=held, seed=seed, progress=work
        )
    unit = {1: "m", 2: "m^2", 3: "m^3"}.get(space.dimension, "")
    points = space.points()
    figures = {
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
    rows = [(key.replace("_", " "), value, units.get(key, "")) for key, value in figures.items()]
    return Answer(
        f"{loaded.name}: {name} reaches {space.max_reach:.4g} m",
        {
            **figures,
            "centre": space.centre,
            "q_max_reach": space.q_max_reach,
            "lower": points.min(axis=0),
            "upper": points.max(axis=0),
        },
        {"robot": robot, "frame": name, "samples": samples, "joints": joint, "q0": q0, "seed": seed},
        [Table("", ("figure", "value", "unit"), rows)],
        samples={
            "point": points,
            "share": space.probability[space.reachable],
            "dexterity": space.dexterity[space.reachable],
        },
        columns={"point": ("x", "y", "z")},
        pictures={"Where it gets": lambda: _picture(space)},
        interrupted=work.interrupted,
        savers={".npz": space.save},
    )


def _picture(space: Workspace) -> Any:
    from matplotlib.figure import Figure

    flat = space.dimension < 3
    figure = Figure(figsize=(7.0, 6.0), layout="constrained")
    axes = figure.add_subplot(projection=None if flat else "3d")
    (space.plot_slice if flat else space.plot_cloud)(ax=axes)
    return figure
