"""Draw the figures of the page "Kinematics": python docs/images/kinematics.py."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from scene import HERE

import kinodyn as kd


def columns() -> None:
    """Show the meaning of the columns of a Jacobian, and a Jacobian in numbers."""
    robot, hand = kd.load("panda"), "panda_hand_tcp"
    q = robot.configuration("ready")
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
    planar(left)
    J = kd.kinematics.jacobian(robot, q, hand)
    J[np.abs(J) < 1e-9] = 0.0
    picture = right.imshow(J, cmap="RdBu", vmin=-1.0, vmax=1.0)
    right.set(xticks=range(7), yticks=range(6), title="J of the panda in its configuration 'ready'")
    right.set_xticklabels([f"joint {k + 1}" for k in range(7)], rotation=30)
    right.set_yticklabels(["vx", "vy", "vz", "wx", "wy", "wz"])
    for i, k in np.ndindex(*J.shape):
        right.text(
            k,
            i,
            f"{J[i, k]:.2f}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if abs(J[i, k]) > 0.7 else "black",
        )
    figure.colorbar(picture, ax=right, shrink=0.8)
    figure.savefig(HERE / "jacobian.png", dpi=80, bbox_inches="tight")


def planar(axes: Axes) -> None:
    """Draw a planar arm and the velocity of its hand due to each joint."""
    robot = kd.load("planar3r")
    q = np.array([0.9, -0.7, -0.8])
    places = [np.zeros(2), *(kd.kinematics.pose(robot, q, f"link{k}")[:2, 3] for k in (1, 2, 3))]
    J, p = kd.kinematics.jacobian(robot, q, "link3"), places[-1]
    axes.plot(*zip(*places, strict=True), "-o", color="#7b8fb5", lw=5, ms=9)
    for k in range(3):
        colour, tip = f"C{k}", p + 0.45 * J[:2, k]
        axes.plot(*zip(places[k], p, strict=True), ":", color=colour, lw=1.3)
        axes.annotate("", tip, p, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.4, "shrinkA": 0})
        axes.text(*(tip + [0.04, 0.05]), f"column {k + 1}", color=colour, fontsize=10)
        axes.text(*(places[k] + [-0.1, 0.14]), f"joint {k + 1}", color=colour, fontsize=10, ha="center")
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]", xlim=(-0.4, 3.2), ylim=(-0.35, 1.9))
    axes.set_title("columns of J: velocity of the hand due to each joint", fontsize=11)


def ellipsoids() -> None:
    """Show velocity and force ellipses of a planar arm, and its approach to a singularity."""
    robot = kd.load("planar2r")
    figure = Figure(figsize=(12.5, 4.1), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    for axes, function, scale, title in (
        (first, kd.kinematics.velocity_ellipsoid, 0.2, "velocities for joint velocities of norm 1"),
        (second, kd.kinematics.force_ellipsoid, 0.1, "forces for joint torques of norm 1"),
    ):
        for x in (0.5, 1.0, 1.45, 1.9):
            draw(axes, robot, kd.ik.analytic(robot, kd.spatial.pose([x, 0.0, 0.0]), "link2").q, x, function, scale)
        axes.set(aspect="equal", title=title, xlim=(-0.25, 2.75), ylim=(-0.95, 1.15), xlabel="x [m]")
    q2 = np.linspace(-np.pi, np.pi, 400)
    q = np.stack([0 * q2, q2], axis=-1)
    s = kd.kinematics.singular_values(robot, q, "link2", part="x y")
    third.plot(q2, s, label=["largest singular value", "smallest"])
    third.plot(q2, kd.kinematics.manipulability(robot, q, "link2", part="x y"), "k--", label="manipulability (product)")
    for at, word in ((0.0, "stretched"), (np.pi, "folded"), (-np.pi, "folded")):
        third.axvline(at, color="grey", lw=0.8)
        third.text(at, 2.35, word, ha="center", fontsize=8, backgroundcolor="white")
    third.set(xlabel="elbow q2 [rad]", ylim=(0, 3.4), title="approaching a singularity")
    third.legend(fontsize=8, loc="upper center")
    figure.savefig(HERE / "ellipsoids.png", dpi=80, bbox_inches="tight")


def draw(axes: Axes, robot: kd.Robot, solutions: Any, x: float, function: Any, scale: float) -> None:
    """Draw the arm with its hand at (x, 0), elbow up, and an ellipse at the hand."""
    q = max(solutions.reshape(-1, 2), key=lambda one: np.sin(one[0]))
    elbow, hand = (kd.kinematics.pose(robot, q, link)[:2, 3] for link in ("link1", "link2"))
    axes.plot([0, elbow[0], hand[0]], [0, elbow[1], hand[1]], "-o", color="#7b8fb5", lw=2, ms=4)
    ends, radii = function(robot, q, "link2", part="x y")
    angle = np.degrees(np.arctan2(ends[1, 0], ends[0, 0]))
    axes.add_patch(Ellipse(hand, *(2 * scale * radii), angle=angle, fc="#f3b37a", ec="#b2560d", alpha=0.7))


if __name__ == "__main__":
    columns()
    ellipsoids()
