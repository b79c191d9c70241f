"""Forward kinematics: one pose, the pose of every frame, and the workspace of an arm from 50,000 configurations.

--plot FILE draws the humanoid's frames and the arm's workspace.
"""

import argparse

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
np.set_printoptions(precision=3, suppress=True)

# Hands, feet and head of the standing humanoid: all end effectors in one call, (5, 4, 4).
robot = kd.load("humanoid")
q = robot.configuration("standing")
ends = robot.description.end_effectors
T_world_ends = kd.kinematics.poses(robot, q, frames=list(ends.values()))
print("end effectors of the standing humanoid [m]")
for name, T_world_end in zip(ends, T_world_ends, strict=True):
    print(f"  {name:12} {T_world_end[:3, 3]}")

# All frames at once, in the order of robot.frame_names.
T_world_frames = kd.kinematics.poses(robot, q)
heights = T_world_frames[:, 2, 3]
print(f"{len(heights)} frames between {heights.min():.3f} m and {heights.max():.3f} m")

# The floating base moves everything: the same posture, one metre ahead and turned by 90 degrees.
q_moved = q.copy()
q_moved[:7] = [1.0, 0.0, q[2], 0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]
p_world_com = kd.kinematics.com(robot, np.stack([q, q_moved]))
print(f"centre of mass before {p_world_com[0]} and after {p_world_com[1]}")

# The workspace of an arm: one call for 50,000 configurations.
arm = kd.load("panda")
hand = arm.frame_names[-1]
p_world_hand = kd.kinematics.pose(arm, arm.random(50_000, seed=0), hand)[:, :3, 3]
shoulder = np.array([0.0, 0.0, 0.333])
distance = np.linalg.norm(p_world_hand - shoulder, axis=1)
print(f"\npanda, frame {hand!r}, 50,000 random configurations within the limits")
print(
    f"  distance from the shoulder: {distance.min():.3f} to {distance.max():.3f} m, median {np.median(distance):.3f} m"
)
print(f"  height: {p_world_hand[:, 2].min():.3f} to {p_world_hand[:, 2].max():.3f} m")
counts, edges = np.histogram(distance, bins=8)
for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
    print(f"  {low:5.2f} to {high:5.2f} m {'#' * round(60 * count / counts.max())}")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.3))
    p = T_world_frames[:, :3, 3]
    for joint in robot.joints[1:]:
        bone = p[[robot.frame_index(joint.parent), robot.frame_index(joint.child)]]
        left.plot(*bone[:, 1:].T, color="0.6", lw=3)
    for axis, colour in enumerate(("tab:red", "tab:green", "tab:blue")):
        tips = np.stack([p, p + 0.06 * T_world_frames[:, :3, axis]])
        left.plot(tips[..., 1], tips[..., 2], color=colour, lw=1.5)
    left.plot(*T_world_ends[:, 1:3, 3].T, "ko", ms=5, label="end effectors")
    left.set(
        title=f"{len(p)} frames, x red, y green, z blue",
        aspect="equal",
        xlabel="y [m]",
        ylabel="z [m]",
        xlim=(-0.6, 0.6),
    )
    left.legend(fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 0.05))
    radius = np.hypot(p_world_hand[:, 0], p_world_hand[:, 1])
    shown = right.hexbin(radius, p_world_hand[:, 2], gridsize=40, mincnt=1, cmap="viridis")
    right.plot(0.0, shoulder[2], "r+", ms=12, mew=2, label="shoulder")
    right.set(
        title="positions of the panda's hand", aspect="equal", xlabel="distance from the axis [m]", ylabel="height [m]"
    )
    right.legend(fontsize=9)
    figure.colorbar(shown, ax=right, label="configurations")
    figure.savefig(options.plot, dpi=80)
