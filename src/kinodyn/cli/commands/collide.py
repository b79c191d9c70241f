"""kinodyn collide: collisions of a robot with itself and with the objects of a scene."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.cli import args, terminal
from kinodyn.cli.args import labels
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, Packages, Q, Resolution, RobotName, Seed, option
from kinodyn.cli.plan_plots import plot_distances, plot_scene
from kinodyn.cli.progress import progress_bar
from kinodyn.cli.result import CommandResult, Table
from kinodyn.cli.scenes import SceneFile, SrdfFile, Surroundings, read_surroundings
from kinodyn.tables import check_writable

if TYPE_CHECKING:
    from kinodyn.collision import Distance, NearPair
    from kinodyn.model.robot import Robot

CHUNK = 100  # configurations between two updates of the progress bar


@command(
    "collide",
    examples=[
        "kinodyn collide panda --q ready --scene scene.yaml",
        "kinodyn collide humanoid --q walk.npz --out distances.csv",
        "kinodyn collide ur5 --spheres --write-srdf ur5.srdf",
    ],
)
def collide(
    robot: RobotName,
    q: Q = "",
    scene: SceneFile = None,
    near: Annotated[float, option("maximum distance of the pairs to list [m]", min=1e-6)] = 0.1,
    spheres: Annotated[bool, option("also list the spheres that cover each link", "--spheres")] = False,
    write_srdf: Annotated[
        Path | None, option("write the allowed collision pairs to an SRDF file", "--write-srdf", metavar="FILE")
    ] = None,
    srdf: SrdfFile = None,
    packages: Packages = None,
    resolution: Resolution = None,
    base: Base = None,
    seed: Seed = 0,
) -> CommandResult:
    """Report collisions of a robot with itself and with a scene, their penetration depths, and the smallest distance.

    For many configurations, such as a recording, it counts those that are free and lists the colliding pairs. Allowed
    pairs are not checked: those of the SRDF file and the scene, neighbours, and pairs that always or never collide.
    The exit code is 1 if a configuration is in collision.
    """
    from kinodyn import collision

    check_writable(write_srdf, (".srdf", ".xml"))
    loaded = args.load(robot, base, srdf=srdf, packages=packages or ())
    around = read_surroundings(loaded, scene, packages=packages or ())
    configurations = args.configurations(loaded, q, seed=seed) if q else around.q
    inputs = {
        "robot": robot,
        "q": q or "neutral, or as in the scene",
        "scene": scene,
        "srdf": srdf,
        "resolution": resolution,
        "seed": seed,
    }
    if write_srdf is not None:
        collision.write_srdf(loaded, write_srdf)
        terminal.say(f"written: {write_srdf}", "dim")
    if configurations.ndim == 1:
        result = _one(loaded, configurations, around, near, inputs)
    else:
        result = _many(loaded, configurations.reshape(-1, loaded.nq), around, inputs)
    if spheres:
        table, summary = _spheres(loaded, resolution)
        result.tables.append(table)
        result.values = {**result.values, "spheres": summary}
    return result


def _one(robot: Robot, q: Array, around: Surroundings, near: float, inputs: dict[str, Any]) -> CommandResult:
    from kinodyn import collision
    from kinodyn.collision import exact

    settings: dict[str, Any] = {"allowed": around.allowed, "exact": exact.is_available()}
    settings["resolution"] = inputs["resolution"]
    touching = collision.contacts(robot, q, around.world, **settings)
    pairs = collision.near_pairs(robot, q, around.world, max_distance=near, **settings)
    if not pairs:
        pairs = _smallest(collision.distance(robot, q, around.world, **settings))
    rows = [(*pair.names, 1e3 * pair.distance) for pair in pairs]
    return CommandResult(
        f"{robot.name}: {_summary(len(touching), pairs)}",
        {
            "free": not touching,
            "distance": pairs[0].distance if pairs else None,
            "shapes": "exact" if settings["exact"] else "spheres",
            "contacts": [part._asdict() for part in touching],
            "near": [pair._asdict() for pair in pairs],
            "q": q,
            "names": labels(robot).q,
        },
        inputs,
        [Table("distance of pairs, below 0 if they touch", ("part", "other part", "distance [mm]"), rows, 40)]
        * bool(rows),
        samples={
            "part": np.array([row[0] for row in rows]),
            "other_part": np.array([row[1] for row in rows]),
            "distance": np.array([pair.distance for pair in pairs]),
        },
        figures={"Robot": lambda: plot_scene(robot, q[None], around.world, np.array([pair.points for pair in pairs]))},
        ok=not touching,
    )


def _smallest(measured: Distance) -> list[NearPair]:
    """Return the one pair of a smallest distance; nothing if there is no pair."""
    from kinodyn.collision import NearPair

    first, second = (str(name) for name in measured.names)
    return [NearPair((first, second), float(measured.distance), measured.points)] if first else []


def _summary(touching: int, pairs: list[NearPair]) -> str:
    if not pairs:
        return "free, and no pair to measure"
    first, second = pairs[0].names
    if not touching:
        return f"free, {1e3 * pairs[0].distance:.3g} mm between {first} and {second}"
    count = "1 pair touches" if touching == 1 else f"{touching} pairs touch"
    return f"{count}, {first} and {second} are {-1e3 * pairs[0].distance:.3g} mm deep"


def _many(robot: Robot, q: Array, around: Surroundings, inputs: dict[str, Any]) -> CommandResult:
    from kinodyn import collision

    settings: dict[str, Any] = {"allowed": around.allowed, "resolution": inputs["resolution"]}
    counts: dict[tuple[str, ...], int] = defaultdict(int)
    depths: dict[tuple[str, ...], float] = defaultdict(float)
    free = collision.free(robot, q, around.world, **settings)
    unsure = np.flatnonzero(~free)  # their spheres touch; the exact shapes decide
    done = 0
    with progress_bar("exact shapes") as progress:
        for done, i in enumerate(unsure, start=1):
            touching = collision.contacts(robot, q[i], around.world, **settings)
            free[i] = not touching
            for part in touching:
                names = tuple(sorted(part.names))
                counts[names], depths[names] = counts[names] + 1, max(depths[names], part.depth)
            if (done % CHUNK == 0 or done == len(unsure)) and not progress(done, len(unsure)):
                break
    if progress.interrupted:
        rest = unsure[done] if done < len(unsure) else len(q)
        q, free = q[:rest], free[:rest]
    bound = collision.distance(robot, q, around.world, **settings)
    k = int(np.argmin(bound.distance))
    nearest = [("smallest distance of spheres [mm]", 1e3 * bound.distance[k]), ("at configuration", k)]
    nearest += [("between", " and ".join(bound.names[k]))] if bound.names[k][0] else []
    pairs = sorted(counts, key=lambda names: -counts[names])
    rows = [(*names, counts[names], 1e3 * depths[names]) for names in pairs]
    return CommandResult(
        f"{robot.name}: {int(free.sum())} of {len(q)} configurations are free",
        {
            "free": free,
            "free_count": int(free.sum()),
            "count": len(q),
            "distance": bound.distance,
            "pairs": [{"names": names, "count": counts[names], "depth": depths[names]} for names in pairs],
        },
        inputs,
        [
            Table("", ("quantity", "value"), [("configurations", len(q)), ("free", int(free.sum())), *nearest]),
            *(
                [Table("pairs that touch", ("part", "other part", "configurations", "deepest [mm]"), rows)]
                if rows
                else []
            ),
        ],
        samples={"free": free, "distance": bound.distance},
        figures={
            "Distances": lambda: plot_distances(
                np.arange(float(len(q))),
                {"spheres (lower bound)": bound.distance},
                ("Smallest distance", "configuration"),
            )
        },
        ok=bool(free.all()),
        interrupted=progress.interrupted,
    )


def _spheres(robot: Robot, resolution: float | None) -> tuple[Table, dict[str, Any]]:
    from kinodyn import collision

    fitted = collision.robot_spheres(robot, resolution)
    rows = [
        (link, len(fitted.of_link(link)), 1e3 * over.median, 1e3 * over.max)
        for link, over in zip(fitted.links, fitted.overshoot, strict=True)
    ]
    summary = {
        "count": len(fitted.fine),
        "resolution": max(fitted.resolutions, default=0.0),
        "links": {name: {"count": n, "overshoot": {"median": 1e-3 * m, "max": 1e-3 * top}} for name, n, m, top in rows},
    }
    title = f"{len(fitted.fine)} spheres; overshoot is how far they reach beyond the shapes"
    return Table(title, ("link", "spheres", "median overshoot [mm]", "largest [mm]"), rows, 60), summary
