"""Plan among point clouds of the scenes of a set of problems, and compare with the shapes themselves.

    python benchmarks/motion_planning_clouds.py                           # a Panda among boxes
    python benchmarks/motion_planning_clouds.py --problems FOLDER --robot panda.urdf --srdf panda.srdf --limit 70

The obstacles of each problem become one cloud: points at random on their surfaces. Set-up is the time to add the cloud
to a world and to prepare it for checks. Times are compared on the problems that are solved in both worlds: the cloud
is thicker by the radius of its points.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision.obstacles import obstacles
from motion_planning import Run, plan_all
from motion_planning_problems import Problem, problem_parser, selected_problems

TOLERANCE = 5e-4  # [m] of the triangles of round shapes
PARTS = ("planning", "simplification", "call")


def surface_points(problem: Problem, count: int, rng: np.random.Generator) -> Array:
    """Return points (count, 3), uniform on the surfaces of the obstacles."""
    triangles = []
    for thing in problem.objects:
        if thing.attached_to is None:
            mesh = thing.shape.triangles(TOLERANCE)  # type: ignore[union-attr]
            corners = mesh.vertices[mesh.faces]
            triangles.append(corners @ thing.pose[:3, :3].T + thing.pose[:3, 3])
    a, b, c = np.concatenate(triangles).transpose(1, 0, 2)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    k = rng.choice(len(areas), count, p=areas / areas.sum())
    u, v = rng.uniform(size=(2, count))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    return np.asarray(a[k] + u[:, None] * (b[k] - a[k]) + v[:, None] * (c[k] - a[k]))


def as_cloud(problem: Problem, count: int, radius: float) -> tuple[Problem, float]:
    """Return the problem with a cloud instead of its obstacles, and the time to set it up [s]."""
    points = surface_points(problem, count, np.random.default_rng(0))
    begin = time.perf_counter()
    world = kd.collision.World()
    world.add_points("cloud", points, radius)
    obstacles(world.snapshot())
    setup = time.perf_counter() - begin
    held = [thing for thing in problem.objects if thing.attached_to is not None]
    fixed = {thing.name for thing in problem.objects} - {thing.name for thing in held}
    # pairs of links and obstacles that may touch are those of the cloud
    allowed = frozenset(tuple("cloud" if name in fixed else name for name in pair) for pair in problem.allowed)
    return replace(problem, objects=(*held, *world), allowed=allowed), setup  # type: ignore[arg-type]


def compared(shapes: Sequence[Run], clouds: Sequence[Run]) -> dict[str, Any]:
    """Compare times on the problems that are solved in both worlds [us]."""
    both = [(a.row(), b.row()) for a, b in zip(shapes, clouds, strict=True) if a.plan.success and b.plan.success]
    found: dict[str, Any] = {"problems": len(shapes), "solved in both": len(both)}
    for part in PARTS:
        a, b = np.array([(first[part], second[part]) for first, second in both]).T
        found[part] = {
            name: {"shapes": float(np.percentile(a, p)), "clouds": float(np.percentile(b, p))}
            for name, p in (("median", 50), ("95 %", 95))
        }
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the report."""
    parser = problem_parser(__doc__)
    parser.add_argument("--points", type=int, default=100_000, help="of each cloud")
    parser.add_argument("--radius", type=float, default=0.005, help="of each point [m]")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is planned; the best time counts")
    options = parser.parse_args(arguments)
    robot, problems = selected_problems(options, 20)
    kd.set_threads(1)
    made = [as_cloud(problem, options.points, options.radius) for problem in problems]
    shapes = plan_all(robot, problems, options.rounds, options.seed, options.time_budget)
    clouds = plan_all(robot, [cloud for cloud, _ in made], options.rounds, options.seed, options.time_budget)
    setup = 1e3 * np.array([seconds for _, seconds in made])
    report = {
        "points": options.points,
        "set-up ms": {"median": float(np.median(setup)), "95 %": float(np.percentile(setup, 95))},
        **compared(shapes, clouds),
    }
    if options.json:
        print(
            json.dumps({**report, "shapes": [r.row() for r in shapes], "clouds": [r.row() for r in clouds]}, indent=2)
        )
        return
    print(f"{report['solved in both']} of {report['problems']} problems are solved in both worlds")
    print(f"set-up of {options.points} points: " + ", ".join(f"{k} {v:.2f} ms" for k, v in report["set-up ms"].items()))
    for part in PARTS:
        cells = (
            f"{name} {value['shapes']:.0f} us with shapes, {value['clouds']:.0f} us with clouds "
            f"({value['clouds'] / value['shapes']:.2f}x)"
            for name, value in report[part].items()
        )
        print(f"{part}: " + "; ".join(cells))


if __name__ == "__main__":
    main()
