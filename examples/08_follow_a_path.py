"""Follow a Cartesian path: one continuous joint path, or the sample where it breaks and why.

--plot FILE draws the joints along the circle, and how far the hand gets on each line.
"""

import argparse
import time

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
np.set_printoptions(precision=3, suppress=True)

# A circle in front of the robot with constant orientation: 1,000 samples from the current configuration.
robot, hand = kd.load("panda"), "panda_link8"
q0 = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
T_world_hand = kd.kinematics.pose(robot, q0, hand)
angle = np.linspace(0.0, 2.0 * np.pi, 1000)
T_circle = np.tile(T_world_hand, (1000, 1, 1))
T_circle[:, 1, 3] += 0.12 * np.sin(angle)
T_circle[:, 2, 3] += 0.12 * (np.cos(angle) - 1.0)
start = time.perf_counter()
path = kd.ik.track(robot, T_circle, hand, q0)
elapsed = time.perf_counter() - start
print(f"circle: {path.reached} of {len(T_circle)} samples in {elapsed:.2f} s, status {path.status}")
longest = np.abs(np.diff(path.q, axis=0)).max()
print(f"  largest residual {path.residual.max():.1e} m or rad, largest joint step {longest:.4f} rad")
print(f"  the arm is redundant: after one revolution its joints differ by {path.q[-1] - path.q[0]} rad")

# Straight lines in several directions, 1 m each, as one batch: how far does the hand get, and what stops it?
directions = {"ahead": [1, 0, 0], "back": [-1, 0, 0], "left": [0, 1, 0], "up": [0, 0, 1], "down": [0, 0, -1]}
T_lines = np.tile(T_world_hand, (len(directions), 200, 1, 1))
T_lines[..., :3, 3] += np.linspace(0.0, 1.0, 200)[:, None] * np.array(list(directions.values()))[:, None, :]
lines = kd.ik.track(robot, T_lines, hand, q0)
print("\nlines of 1 m from there")
print(f"  {'line':6} {'reached':>8}  reason")
for name, reached, reason in zip(directions, lines.reached, lines.reasons, strict=True):
    print(f"  {name:6} {(reached - 1) / 199:6.2f} m  {reason or 'the end of the path'}")

# A non-redundant arm has one joint path from each of its configurations. Without q0 all of them are tried.
arm, tool = kd.load("ur5"), "wrist_3_link"
T_tool = kd.kinematics.pose(arm, [0.3, -1.4, 1.5, -1.0, 1.0, 0.5], tool)
T_weld = np.tile(T_tool, (150, 1, 1))
T_weld[:, 1, 3] += np.linspace(0.0, 0.8, 150)
print("\nur5: a seam of 0.8 m from each configuration of its first pose")
print(f"  {'branch':>6} {'reached':>8} {'motion':>7}  reason")
for i, q in enumerate(kd.ik.analytic(arm, T_tool, tool).q):
    track = kd.ik.track(arm, T_weld, tool, q)
    print(f"  {i:6} {int(track.reached):8} {float(track.motion):7.2f}  {track.reasons}")
best = kd.ik.track(arm, T_weld, tool)
print(f"  best of {best.tried}: {best.motion:.2f} rad of joint motion, from {best.q[0]}")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.5, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.3, 1.0))
    path.plot(ax=left)
    left.set_title("panda: joints along the circle, limits dashed")
    bars = right.barh(list(directions), (lines.reached - 1) / 199)
    right.bar_label(bars, [{"solved": "", "limits": " limit"}.get(str(s), f" {s}") for s in lines.status], fontsize=9)
    right.set(title="lines of 1 m: how far, and what stops it", xlabel="reached [m]", xlim=(0.0, 1.3))
    right.invert_yaxis()
    right.grid(alpha=0.3, axis="x")
    figure.savefig(options.plot, dpi=80)
