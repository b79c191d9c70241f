"""The workspace of an arm: reach, dexterity, boundary and voids.

--plot FILE draws a slice and a point cloud.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

# A million evenly distributed configurations within the joint limits; each voxel counts visits and directions.
robot, hand = kd.load("panda"), "panda_link8"
start = time.perf_counter()
space = kd.kinematics.workspace(robot, hand, samples=2**20, resolution=0.07)
elapsed = time.perf_counter() - start
print(f"{robot.name}, {hand}: {space.samples} samples in {elapsed:.1f} s, {space.reachable.sum()} voxels reached")
print(f"  reach {space.max_reach:.4f} m from {space.centre} at q = {np.rad2deg(space.q_max_reach).round(1)} deg")
print(f"  volume {space.volume:.2f} m^3, {space.boundary.sum()} voxels at the boundary, {space.voids().sum()} in voids")

# Dexterity: the fraction of hand orientations reached at a position. The best positions are where to place the work.
best = np.unravel_index(np.argmax(space.dexterity), space.dexterity.shape)
place = space.origin + space.resolution * np.array(best)
print(f"  most dexterous at {place.round(2)} m: {space.dexterity.max():.0%} of the directions")
for fraction in (0.25, 0.5, 0.75):
    print(f"  {(space.dexterity > fraction).sum() / space.reachable.sum():5.1%} of voxels: more than {fraction:.0%}")

# A lookup in the map replaces a search by inverse kinematics. A voxel counts if any point of it is reached, so at the
# boundary the map may include points that are just out of reach.
points = np.array([[0.4, 0.3, 0.4], [0.8, 0.4, 0.9], [0.0, 0.0, 0.33], [0.5, 0.0, -0.3]])
T = kd.spatial.pose(points)
solved = kd.ik.solve(robot, {hand: T}, position_only=True).success
for point, inside, reached in zip(points, space.contains(points), solved, strict=True):
    print(f"  {point!s:18} in a reachable voxel: {inside!s:5}   reached by ik.solve: {reached}")

# The map can be saved: plain arrays in one file.
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "panda.npz"
    space.save(file)
    again = kd.kinematics.Workspace.load(file)
    same = np.array_equal(again.counts, space.counts)
    print(f"  saved in {file.stat().st_size / 1e3:.0f} kB, identical after loading: {same}")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.8), layout="constrained")
    space.plot_slice(axis="y", quantity="dexterity", ax=figure.add_subplot(1, 2, 1))
    space.plot_cloud(quantity="dexterity", ax=figure.add_subplot(1, 2, 2, projection="3d"))
    figure.savefig(options.plot, dpi=80)
