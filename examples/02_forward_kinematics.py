"""Where is everything? One pose, the pose of every frame, and the workspace of an arm from 50,000 configurations."""

import numpy as np

import kinodyn as kd

np.set_printoptions(precision=3, suppress=True)

# Hands, feet and head of a humanoid that stands: all end effectors in one call, (5, 4, 4).
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

# The free base moves everything: the same posture, one metre ahead and turned by 90 degrees.
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
