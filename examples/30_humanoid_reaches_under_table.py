"""A humanoid reaches under a table: the whole body bends, the feet stay, the CoM stays above them, nothing is touched.

The floating base moves too: its pose follows from the stance feet. --plot FILE draws the motion from the side.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

HAND = "right_hand"
HEIGHT, EDGE, DEPTH = 0.66, 0.28, 0.6  # of the table top, of its front edge, and how far it reaches [m]
BOXES = {  # size and centre [m]
    "ground": ((4.0, 4.0, 0.1), (0.0, 0.0, -0.05)),
    "table": ((DEPTH, 1.2, 0.03), (EDGE + 0.5 * DEPTH, 0.0, HEIGHT)),
    "left leg": ((0.05, 0.05, HEIGHT), (EDGE + DEPTH - 0.05, 0.55, 0.5 * HEIGHT)),
    "right leg": ((0.05, 0.05, HEIGHT), (EDGE + DEPTH - 0.05, -0.55, 0.5 * HEIGHT)),
}


def plot(file: str, robot: kd.Robot, shown: dict[str, NDArray[np.float64]]) -> None:
    """Draw the collision spheres from the side at some configurations, and the path of the hand."""
    from matplotlib.collections import PatchCollection
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle, Rectangle

    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    spheres = kd.collision.robot_spheres(robot)
    hand = kd.kinematics.pose(robot, trajectory(np.linspace(0.0, trajectory.duration, 200)), HAND)[:, :3, 3]
    for ax, (title, q) in zip(figure.subplots(1, len(shown), sharey=True), shown.items(), strict=True):
        for link in spheres.links:
            rows, T = spheres.of_link(link), kd.kinematics.pose(robot, q, link)
            centres, colour = rows[:, :3] @ T[:3, :3].T + T[:3, 3], "tab:red" if "right_" in link else "tab:blue"
            circles = [Circle((x, z), r) for (x, _, z), r in zip(centres, rows[:, 3], strict=True)]
            ax.add_collection(PatchCollection(circles, fc=colour, alpha=0.25))
        for size, pose in BOXES.values():
            corner = pose[0] - 0.5 * size[0], pose[2] - 0.5 * size[2]
            ax.add_patch(Rectangle(corner, size[0], size[2], fc="0.75", ec="0.3"))
        ax.plot(*hand[:, [0, 2]].T, "k", lw=1.2, label="path of the hand")
        com = kd.kinematics.com(robot, q)
        ax.plot([com[0], com[0]], [0.0, com[2]], "k:", lw=1)
        ax.plot(com[0], com[2], "o", color="tab:orange", mec="black", zorder=5, label="CoM")
        ax.plot(polygon[:, 0], 0.0 * polygon[:, 0], color="tab:green", lw=4, label="support polygon")
        ax.set(title=title, aspect="equal", xlabel="x [m]", xlim=(-0.65, 0.95), ylim=(-0.08, 1.75))
    figure.axes[0].set_ylabel("z [m]")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--plot", metavar="FILE")
options = parser.parse_args()

robot = kd.load("humanoid")
feet = kd.balance.feet(robot)
start = robot.configuration("standing")
start[2] -= feet[0].sole_pose(robot, start)[2, 3]  # onto the ground

world = kd.collision.World()
for name, (size, centre) in BOXES.items():
    world.add_box(name, size, (centre, None))

# The palm faces forward, 18 cm below the top and 15 cm behind its edge. The forearm must pass under the edge.
target = kd.spatial.pose([EDGE + 0.15, -0.2, HEIGHT - 0.18], [[0, 0, -1], [0, 1, 0], [1, 0, 0]])
standing = kd.planning.Standing(margin=0.03)
plan = kd.planning.plan(robot, start, {HAND: target}, world, constraints=[standing])
print(plan.status + (f": {plan.message}" if plan.message else f", a path of {len(plan.path)} vertices"))

# Without bending there is no such posture: the arm alone is too short.
arm = [f"right_{joint}" for joint in ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_yaw")]
arm += ["right_wrist_pitch", "right_wrist_roll"]
on_ground = [(link, "ground") for link in standing.fixed_links(robot)]
alone = kd.planning.plan(robot, start, {HAND: target}, world, group=arm, allowed=on_ground)
print(f"with the arm alone: {alone.status}")

# Verified on the timed motion, independently of the planner.
trajectory = plan.trajectory()
q = trajectory(np.linspace(0.0, trajectory.duration, 1000))
polygon = kd.balance.support_polygon(robot, start, feet)
margin = kd.balance.margin(polygon, kd.kinematics.com(robot, q)[:, :2])
slip = max(np.abs(foot.sole_pose(robot, q)[:, :3, 3] - foot.sole_pose(robot, start)[:3, 3]).max() for foot in feet)
print(f"the motion takes {trajectory.duration:.1f} s; the base moves by {np.ptp(q[:, 2]) * 100:.0f} cm up or down")
print(f"CoM at least {100 * margin.min():.1f} cm inside the support polygon, feet still within {1e3 * slip:.1g} mm")
print("collision-free throughout:", bool(kd.collision.free(robot, q, world, allowed=on_ground).all()))

if options.plot:
    middle = trajectory(0.55 * trajectory.duration)
    plot(options.plot, robot, {"start": start, "on the way": middle, "goal": plan.path[-1]})
