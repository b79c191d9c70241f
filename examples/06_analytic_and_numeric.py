"""A planar arm of three links: all analytic solutions, the same targets numerically, and one out of reach.

--plot FILE draws the arms.
"""

import argparse
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

Array: TypeAlias = NDArray[np.float64]
METHODS: tuple[Any, ...] = ("lm", "dls", "pinv", "newton", "transpose", "optimise")
robot, tip = kd.load("planar3r"), "link3"  # three links of 1 m, no joint limits


def pose(x: float, y: float, angle: float) -> Array:
    """Make the pose of the tip in the plane [m, m, degrees]."""
    T: Array = np.eye(4)
    T[:3, :3] = kd.spatial.rot_z(np.deg2rad(angle))
    T[:2, 3] = x, y
    return T


def draw(ax: Any, q: Array, line: str, **style: Any) -> None:
    """Draw an arm in the plane, from its base to its tip."""
    points = kd.kinematics.poses(robot, q, frames=["base", "link1", "link2", "link3"])[:, :2, 3]
    ax.plot(*points.T, line, **style)


def plot(file: str, T: Array, far: Array) -> None:
    """Draw both analytic solutions and the numeric one of each target; beside them the target out of reach."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    exact, numeric, nearest = (
        kd.ik.analytic(robot, T, tip),
        kd.ik.solve(robot, {tip: T}, q0),
        kd.ik.solve(robot, {tip: far}),
    )
    for i, colour in enumerate(("tab:blue", "tab:green", "tab:purple")):
        first = i == 0
        draw(left, exact.q[i, 0], "-", color=colour, lw=2.5, label="analytic, one elbow" if first else None)
        draw(left, exact.q[i, 1], "--", color=colour, lw=2.5, label="analytic, other elbow" if first else None)
        draw(left, numeric.q[i], "o", color="black", ms=10, mfc="none", label="numeric" if first else None)
    draw(right, nearest.q, "o-", color="tab:gray", lw=2.5, label="nearest pose found")
    turn = np.linspace(0.0, 2 * np.pi, 200)
    right.plot(3 * np.cos(turn), 3 * np.sin(turn), "k:", label="maximum reach")
    ends = np.stack([nearest.T_reached[tip][:2, 3], far[:2, 3]])
    right.plot(*ends.T, "r--", lw=1, label=f"{nearest.residual[0]:.2f} m short")
    for ax, targets, title, size in (
        (left, T, "three targets, all solutions", 2.4),
        (right, far[None], "one target out of reach", 3.2),
    ):
        ax.quiver(
            *targets[:, :2, 3].T, *targets[:, :2, 0].T, color="red", scale=15, width=0.008, label="target", zorder=5
        )
        ax.plot(0.0, 0.0, "ks", ms=8)
        ax.set(
            title=title,
            aspect="equal",
            xlim=(-1.1 * size, 1.15 * size),
            ylim=(-size, size),
            xlabel="x [m]",
            ylabel="y [m]",
        )
        ax.grid(alpha=0.3)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize=9)
    figure.savefig(file, dpi=80, bbox_inches="tight")


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

# Analytic: all solutions of all targets in one call, exact to rounding.
T = np.stack([pose(1.9, 1.3, 20.0), pose(-2.2, 0.4, 160.0), pose(0.6, -1.8, -60.0)])
found = kd.ik.analytic(robot, T, tip)
print(f"{found.family}: {found.count} solutions, largest residual {np.nanmax(found.residual):.1e}")
for i, q in enumerate(np.rad2deg(found.q)):
    print(f"  target {i}: {q[0].round(2)} or {q[1].round(2)} deg")

# Numeric: one solution, depending on the initial guess. All methods are verified by the same forward kinematics.
q0 = np.array([0.3, 0.6, 0.6])
print(f"\nnumeric, from {np.rad2deg(q0).round(1)} deg")
print(f"  {'method':10} {'solved':>6} {'steps':>16} {'from analytic':>16}")
for method in METHODS:
    result = kd.ik.solve(robot, {tip: T}, q0, method=method)
    gap = (result.q[:, None] - found.q + np.pi) % (2 * np.pi) - np.pi  # modulo full turns
    off = np.abs(gap).max(axis=-1).min(axis=-1).max()
    print(f"  {method:10} {result.success.sum():4}/{len(T)} {result.iterations.astype(int)!s:>16} {off:12.1e} rad")

# All solutions are known, so the nearest to the current configuration can be selected.
print("\nnearest solution to q0:", np.rad2deg(found.nearest(q0)[0]).round(2), "deg")

# Out of reach: the analytic solver reports it; the numeric one also returns the nearest pose. By default a radian
# weighs as much as a metre (see weights=), so the arm does not stretch completely.
far = pose(3.2, 1.6, 80.0)
print(f"\nout of reach: {kd.ik.analytic(robot, far, tip).reasons}")
nearest = kd.ik.solve(robot, {tip: far}, q0)
print(f"  {nearest.status}: {nearest.residual[0]:.3f} m and {np.rad2deg(nearest.residual[1]):.1f} deg short", end=", ")
print(f"tip at {nearest.T_reached[tip][:2, 3].round(3)}")

# Both take batches.
many = kd.kinematics.pose(robot, robot.random(10_000, seed=1), tip)
every = kd.ik.analytic(robot, many, tip).count.sum()
one = kd.ik.solve(robot, {tip: many}).success.sum()
print(f"\n{len(many)} targets in one call: analytic {every} solutions, numeric {one}")

if options.plot:
    plot(options.plot, T, far)
