"""A Panda in a shelf: it reaches into one compartment, grasps a carton and puts it into another.

Each motion is planned around the boards, with the carton attached to the hand once it is grasped, and timed within the
joint limits; distances are measured on the exact shapes. --plot FILE draws the arm in the shelf and its distances over
time.
"""

import argparse
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

Array: TypeAlias = NDArray[np.float64]
BOARD = 0.02  # thickness [m]
robot, hand = kd.load("panda"), "panda_hand_tcp"
carton = kd.collision.Box(np.array([0.06, 0.06, 0.12]))


def shelf() -> kd.collision.World:
    """Three boards, two sides, a back and a partition: four compartments in front of the arm."""
    world = kd.collision.World()
    for name, height in {"bottom": 0.10, "middle": 0.45, "top": 0.80}.items():
        world.add_box(name, (0.30, 0.84, BOARD), ((0.60, 0.0, height), None))
    for name, y in {"left side": 0.42, "partition": 0.0, "right side": -0.42}.items():
        world.add_box(name, (0.30, BOARD, 0.72), ((0.60, y, 0.45), None))
    world.add_box("back", (BOARD, 0.86, 0.72), ((0.76, 0.0, 0.45), None))
    return world


def forward(x: float, y: float, z: float) -> Array:
    """Return a pose of the hand that points forward."""
    return kd.spatial.pose([x, y, z], kd.spatial.rot_y(np.pi / 2))


def move(title: str, start: Array, goal: Any, world: kd.collision.World) -> tuple[str, kd.planning.Plan, Any]:
    """Plan and time a motion."""
    plan = kd.planning.plan(robot, start, goal, world)
    if not plan.success:
        raise SystemExit(f"{title}: {plan.status}: {plan.message}")
    motion = plan.trajectory()
    time, q, _, _ = motion.sample(0.02)
    near = kd.collision.distance(robot, q, plan.world, exact=True)
    k = int(np.argmin(near.distance))
    where = " and ".join(near.names[k])
    print(f"{title:22} {len(plan.path):3} vertices {motion.duration:6.2f} s", end="")
    print(f"   nearest {1e3 * near.distance[k]:5.1f} mm, between {where}")
    assert kd.trajectory.check(robot, motion)
    return title, plan, motion


def plot(file: str, moves: list[tuple[str, kd.planning.Plan, Any]]) -> None:
    """Draw the arm among the boards at the ends of the motions, and the distances over time."""
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure = Figure(figsize=(10.0, 4.4), layout="constrained")
    grid = figure.add_gridspec(1, 2, width_ratios=(1.1, 1.0))
    space, axes = figure.add_subplot(grid[0], projection="3d"), figure.add_subplot(grid[1])
    boxes = [(part.shape, part.pose, "tan") for part in moves[0][1].world if part.name in shelf()]
    for (_, plan, _), colour in zip(moves[:2], ("tab:blue", "tab:green"), strict=False):
        for part in kd.collision.robot_geometry(robot):
            T = kd.kinematics.pose(robot, plan.path[-1], part.link) @ part.T_link_shape
            boxes.append((part.shape, T, colour))
        boxes.append((carton, kd.kinematics.pose(robot, plan.path[-1], hand) @ T_hand_carton, "tab:red"))
    for shape, T, colour in boxes:
        mesh = shape.triangles(5e-3)  # type: ignore[union-attr]
        corners = (mesh.vertices @ T[:3, :3].T + T[:3, 3])[mesh.faces]
        alpha = 0.25 if colour == "tan" else 1.0
        space.add_collection3d(Poly3DCollection(corners, facecolors=colour, alpha=alpha, shade=True))
    space.set(xlim=(-0.1, 0.8), ylim=(-0.45, 0.45), zlim=(0.0, 0.9), xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    space.view_init(elev=24.0, azim=-150.0)
    space.set_box_aspect((1.0, 1.0, 1.0), zoom=1.15)
    space.locator_params(nbins=4)
    begin = 0.0
    for title, plan, motion in moves:
        time, q, _, _ = motion.sample(0.02)
        for exact, style in ((True, "-"), (False, ":")):
            distance = kd.collision.distance(robot, q, plan.world, exact=exact).distance
            (line,) = axes.plot(begin + time, 1e3 * distance, style, color="0.5" if not exact else None)
            line.set_label(title if exact else "")
        begin += motion.duration
    axes.set(title="smallest distance, dotted: of the spheres", xlabel="time [s]", ylabel="[mm]", ylim=(0.0, None))
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

world = shelf()
world.add("carton", carton, ((0.62, 0.2, 0.17 + BOARD / 2), None))
ready = robot.configuration("ready")
print(f"{len(world)} objects; {len(kd.collision.robot_spheres(robot).fine)} spheres cover the arm\n")

reach = move("reach for the carton", ready, {hand: forward(0.57, 0.2, 0.18)}, world)
q = reach[1].path[-1]
T_hand_carton = kd.spatial.inverse(kd.kinematics.pose(robot, q, hand)) @ world["carton"].pose
world.attach("carton", hand, T_hand_carton, touch_links=["panda_link7"])
place = move("carry it upwards", q, {hand: forward(0.57, -0.2, 0.56)}, world)
q = place[1].path[-1]
world.detach("carton", kd.kinematics.pose(robot, q, hand) @ T_hand_carton)
back = move("return", q, ready, world)

if options.plot:
    plot(options.plot, [reach, place, back])
