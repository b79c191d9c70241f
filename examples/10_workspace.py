"""The workspace of an arm: how far it reaches, from how many directions, where its edge and its holes are.

With --plot FILE a slice and a cloud are drawn.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="where to write the picture")
options = parser.parse_args()

# A million configurations within the joint limits, spread evenly; each voxel counts who came, and from where.
robot, hand = kd.load("panda"), "panda_link8"
start = time.perf_counter()
space = kd.kinematics.workspace(robot, hand, samples=2**20, resolution=0.07)
elapsed = time.perf_counter() - start
print(f"{robot.name}, {hand}: {space.samples} samples in {elapsed:.1f} s, {space.reachable.sum()} voxels reached")
print(f"  reach {space.max_reach:.4f} m from {space.centre} at q = {np.rad2deg(space.q_max_reach).round(1)} deg")
print(f"  volume {space.volume:.2f} m^3, {space.boundary.sum()} voxels at the boundary, {space.voids().sum()} in voids")

# Dexterity: the share of directions from which the hand was seen at a place. The best places are where to put the work.
best = np.unravel_index(np.argmax(space.dexterity), space.dexterity.shape)
place = space.origin + space.resolution * np.array(best)
print(f"  most dexterous at {place.round(2)} m: {space.dexterity.max():.0%} of the directions")
for share in (0.25, 0.5, 0.75):
    print(f"  {(space.dexterity > share).sum() / space.reachable.sum():5.1%} of the voxels: more than {share:.0%}")

# The map answers at once what inverse kinematics would have to search for. A voxel counts as a whole if any of it is
# reached, so at the edge the map may say yes where the point itself is just out of reach.
points = np.array([[0.4, 0.3, 0.4], [0.8, 0.4, 0.9], [0.0, 0.0, 0.33], [0.5, 0.0, -0.3]])
T = kd.spatial.pose(points)
solved = kd.ik.solve(robot, {hand: T}, position_only=True).success
for point, inside, reached in zip(points, space.contains(points), solved, strict=True):
    print(f"  {point!s:18} in a reachable voxel: {inside!s:5}   reached by ik.solve: {reached}")

# It can be kept: plain arrays in one file.
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "panda.npz"
    space.save(file)
    again = kd.kinematics.Workspace.load(file)
    same = np.array_equal(again.counts, space.counts)
    print(f"  saved in {file.stat().st_size / 1e3:.0f} kB, the same when read: {same}")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.8), layout="constrained")
    space.plot_slice(axis="y", quantity="dexterity", ax=figure.add_subplot(1, 2, 1))
    space.plot_cloud(quantity="dexterity", ax=figure.add_subplot(1, 2, 2, projection="3d"))
    figure.savefig(options.plot, dpi=80)
