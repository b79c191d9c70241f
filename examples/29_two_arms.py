"""Two arms at once: the hands of the humanoid cross over a table, around a post, without touching each other.

Planned one by one, each arm avoids the table and the other arm at its start; executed together they may
collide. Planned together they do not. --plot FILE draws the arms at the ends and the distances over time.
"""

import argparse
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

Array: TypeAlias = NDArray[np.float64]
robot = kd.load("humanoid")
ARMS = ["left_arm", "right_arm"]
SAMPLES = 200

world = kd.collision.World()
world.add_box("table", (0.5, 1.2, 0.03), ((0.45, 0.0, 0.85), None))
world.add_cylinder("post", 0.03, 0.5, ((0.42, 0.0, 1.1), None))


def at(x: float, y: float, z: float) -> kd.planning.PoseRegion:
    """Return a goal of a hand: a position, with any orientation."""
    return kd.planning.PoseRegion(kd.spatial.pose([x, y, z]), rotation_tolerance=np.full(3, np.pi))


def planned(start: Array, goal: object, group: list[str]) -> kd.planning.Plan:
    plan = kd.planning.plan(robot, start, goal, world, group=group)  # type: ignore[arg-type]
    if not plan.success:
        raise SystemExit(f"{plan.status}: {plan.message}")
    return plan


def sampled(plan: kd.planning.Plan) -> Array:
    """Return configurations at equal fractions of the duration."""
    motion = plan.trajectory()
    return np.asarray(motion(np.linspace(0.0, motion.duration, SAMPLES)))


def report(title: str, q: Array) -> Array:
    """Print whether a motion through configurations is free, and return the exact distances."""
    near = kd.collision.distance(robot, q, world, exact=True)
    k = int(np.argmin(near.distance))
    verdict = "free" if near.distance[k] > 0.0 else "collides"
    print(f"{title:24} {verdict:9} smallest distance {1e3 * near.distance[k]:6.1f} mm,", " and ".join(near.names[k]))
    return near.distance


def plot(file: str, ends: list[Array], curves: dict[str, Array]) -> None:
    """Draw the upper body at both ends, and the distances over time."""
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure = Figure(figsize=(11.0, 4.0), layout="constrained")
    grid = figure.add_gridspec(1, 3, width_ratios=(1.0, 1.0, 1.2))
    for k, q in enumerate(ends):
        space = figure.add_subplot(grid[k], projection="3d")
        parts = [(part.shape, part.pose, "tan", 0.5) for part in world]
        for part in kd.collision.robot_geometry(robot):
            colour = "tab:blue" if "left" in part.link else "tab:green" if "right" in part.link else "0.75"
            T = kd.kinematics.pose(robot, q, part.link) @ part.T_link_shape
            parts += [(part.shape, T, colour, 1.0)] if T[2, 3] > 0.75 else []
        for shape, T, colour, alpha in parts:
            mesh = shape.triangles(5e-3)  # type: ignore[union-attr]
            corners = (mesh.vertices @ T[:3, :3].T + T[:3, 3])[mesh.faces]
            space.add_collection3d(Poly3DCollection(corners, facecolors=colour, alpha=alpha, shade=True))
        space.set(xlim=(-0.2, 0.65), ylim=(-0.42, 0.43), zlim=(0.75, 1.6), title=("start", "goal")[k])
        space.view_init(elev=28.0, azim=25.0)
        space.set_box_aspect((1.0, 1.0, 1.0), zoom=1.25)
        space.locator_params(nbins=4)
    axes = figure.add_subplot(grid[2])
    for name, distance in curves.items():
        axes.plot(np.linspace(0.0, 1.0, SAMPLES), 1e3 * distance, label=name)
    axes.axhline(0.0, color="tab:red", lw=1)
    axes.set(title="smallest distance", xlabel="fraction of the duration", ylabel="[mm]")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

lift = planned(
    robot.configuration("standing"), {"left_palm": at(0.35, 0.25, 1.0), "right_palm": at(0.35, -0.25, 1.15)}, ARMS
)
start = lift.path[-1]
together = planned(start, {"left_palm": at(0.32, -0.1, 1.0), "right_palm": at(0.32, 0.1, 1.2)}, ARMS)
goal = together.path[-1]
print(
    f"both arms, {len(together.group)} joints: {len(together.path)} vertices, {together.trajectory().duration:.2f} s\n"
)

one_by_one = np.tile(start, (SAMPLES, 1))
for arm in ARMS:
    alone = planned(start, goal, [arm])
    columns = [robot.joint(name).q.start for name in alone.group]
    one_by_one[:, columns] = sampled(alone)[:, columns]

straight = np.array([robot.interpolate(start, goal, share) for share in np.linspace(0.0, 1.0, SAMPLES)])
curves = {
    "straight in joint space": report("straight in joint space", straight),
    "planned one by one": report("planned one by one", one_by_one),
    "planned together": report("planned together", sampled(together)),
}
if options.plot:
    plot(options.plot, [start, goal], curves)
