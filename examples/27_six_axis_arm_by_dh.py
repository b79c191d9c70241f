"""A 6-axis arm from its Denavit-Hartenberg table: forward kinematics, all inverse solutions, workspace.

The table is that of the PUMA 560, the standard example of textbooks. --plot FILE draws the arm and its workspace.
"""

import argparse
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

Array: TypeAlias = NDArray[np.float64]
np.set_printoptions(precision=4, suppress=True)

# a [m], alpha [deg], d [m] of each row, and the range of each joint [deg]; theta is the joint angle.
TABLE = (
    (0.0, 90.0, 0.67183, -160.0, 160.0),
    (0.4318, 0.0, 0.0, -45.0, 225.0),
    (0.0203, -90.0, 0.15005, -225.0, 45.0),
    (0.0, 90.0, 0.4318, -110.0, 170.0),
    (0.0, -90.0, 0.0, -100.0, 100.0),
    (0.0, 0.0, 0.0, -266.0, 266.0),
)
rows = [
    kd.DH(a=a, alpha=np.deg2rad(alpha), d=d, lower=np.deg2rad(low), upper=np.deg2rad(high))
    for a, alpha, d, low, high in TABLE
]
LINKS = [f"link{i}" for i in range(1, 7)]
robot, hand = kd.from_dh(rows, convention="standard", name="puma"), "link6"


def by_hand(q: Array) -> Array:
    """Multiply Rz(theta) Tz(d) Tx(a) Rx(alpha) row by row, as the table says."""
    T: Array = np.eye(4)
    for (a, alpha, d, *_), theta in zip(TABLE, q, strict=True):
        turn, tilt = kd.spatial.rot_z(theta), kd.spatial.rot_x(np.deg2rad(alpha))
        T = T @ kd.spatial.pose([0, 0, d], turn) @ kd.spatial.pose([a, 0, 0], tilt)
    return T


def draw_arm(ax: Any, q: Array, axes: tuple[int, ...], **style: Any) -> None:
    """Draw the arm from its base to its hand, corner by corner: d along z of one frame, then a along x of the next."""
    points, T = [np.zeros(3)], np.eye(4)
    for (_, _, d, *_), T_next in zip(TABLE, kd.kinematics.poses(robot, q, frames=LINKS), strict=True):
        points += [T[:3, 3] + d * T[:3, 2], T_next[:3, 3]]
        T = T_next
    ax.plot(*np.array(points)[:, axes].T, "o-", lw=3, ms=4, **style)


def plot(file: str, space: kd.kinematics.Workspace, branches: Array) -> None:
    """Draw slices of the workspace with the arm in them, and all solutions for one pose."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.0), layout="constrained")
    side, above = (figure.add_subplot(1, 3, k) for k in (1, 2))
    solutions: Any = figure.add_subplot(1, 3, 3, projection="3d")
    q = np.deg2rad([0.0, 40.0, -60.0, 0.0, -40.0, 0.0])
    for ax, axis, axes, title in ((side, "y", (0, 2), "from the side"), (above, "z", (0, 1), "from above")):
        space.plot_slice(axis=axis, quantity="dexterity", ax=ax)
        draw_arm(ax, q, axes, color="tab:red")
        ax.set_title(f"workspace {title}")
    for k, branch in enumerate(branches):
        draw_arm(solutions, branch, (0, 1, 2), color=f"C{k % 4}")
    solutions.set(title=f"{len(branches)} solutions for one pose", xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    solutions.set(xlim=(-0.3, 0.7), ylim=(-0.5, 0.5), zlim=(0.0, 1.4), box_aspect=(1.0, 1.0, 1.4))
    solutions.locator_params(nbins=4)
    solutions.view_init(elev=25, azim=-70)
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

# Forward kinematics: with all joints at zero the hand is at (a2 + a3, -d3, d1 + d4) by the table.
zero = kd.kinematics.pose(robot, np.zeros(6), hand)[:3, 3]
print("hand with all joints at zero:", zero, "m, by the table", np.array([0.4318 + 0.0203, -0.15005, 0.67183 + 0.4318]))
q = np.deg2rad([30.0, 60.0, -120.0, 40.0, 50.0, -20.0])
T = kd.kinematics.pose(robot, q, hand)
print("hand at", np.rad2deg(q), "deg:", T[:3, 3], "m")
print(f"differs from the product of the table's matrices by {np.abs(T - by_hand(q)).max():.0e}")
print(f"and from the bundled robot by {np.abs(T - kd.kinematics.pose(kd.load('puma560'), q, hand)).max():.0e}")

# Inverse kinematics, analytic: shoulder left or right, elbow up or down, wrist flipped or not.
found = kd.ik.analytic(robot, T, hand)
print(f"\n{found.family}: {len(found.q)} solutions for this pose, largest residual {found.residual.max():.0e} [deg]")
for branch, valid in zip(np.rad2deg(found.q), found.valid, strict=True):
    print("  ", str(branch.round(2)).ljust(50), "within the limits" if valid else "beyond a joint limit")

# Workspace: the reach is largest with upper arm and forearm in line, offset from the shoulder by d3.
space = kd.kinematics.workspace(robot, hand, samples=2**18, resolution=0.06)
reach = np.hypot(0.15005, 0.4318 + np.hypot(0.0203, 0.4318))
print(f"\nworkspace: reach {space.max_reach:.5f} m, by the table {reach:.5f} m")
dexterous = (space.dexterity > 0.5).sum() / space.reachable.sum()
print(
    f"{space.reachable.sum()} voxels of 6 cm are reached, {dexterous:.0%} of them from more than half of all directions"
)
nearest = np.linalg.norm(kd.kinematics.pose(robot, robot.random(100_000, seed=0), hand)[:, :2, 3], axis=1).min()
print(f"smallest distance from the vertical axis {nearest:.5f} m: a void due to the offset d3 = 0.15005 m")

if options.plot:
    plot(options.plot, space, found.q)
