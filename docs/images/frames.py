"""Draw the frames of the page "Conventions": python docs/images/frames.py."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.transforms import Affine2D
from scene import COLOURS, HERE, arrow, label, show, take, triad

import kinodyn as kd

CAMERA: dict[str, Any] = {
    "lookat": [0.1, 0.42, 0.8],
    "distance": 2.9,
    "azimuth": -155.0,
    "elevation": -18.0,
    "alpha": 0.7,
}


def world_and_base(axes: Axes, robot: kd.Robot, q: Any) -> None:
    """Show the axes of the world, of the floating base and of some frames."""
    view = take(robot, q, **CAMERA)
    show(axes, view, "world, base and link frames")
    triad(axes, view, np.eye(4), 0.5)
    label(axes, view.at([0, 0, 0]) + [0, 18], "world", size=11)
    T = dict(zip(robot.frame_names, kd.kinematics.poses(robot, q), strict=True))
    for name, length, away in (
        ("pelvis", 0.4, [-95, -12]),
        ("left_palm", 0.18, [60, 34]),
        ("head", 0.22, [80, -20]),
        ("left_sole", 0.2, [70, 22]),
    ):
        triad(axes, view, T[name], length, ("x", "y", "z") if name == "pelvis" else ("", "", ""))
        label(axes, view.at(T[name][:3, 3]) + away, "base: pelvis" if name == "pelvis" else name)
    p = T["pelvis"][:3, 3]
    arrow(axes, view, [0, 0, 0], p, "black", width=1.2)
    label(axes, view.at(0.45 * p) + [0, 22], "q[0:3]", family="monospace")


def joint_axes(axes: Axes, robot: kd.Robot, q: Any) -> None:
    """Show joint axes of a leg, an arm and the trunk."""
    view = take(robot, q, **{**CAMERA, "lookat": [-0.2, 0.75, 0.85], "distance": 2.4})
    show(axes, view, "joint axes; positive rotation by the right-hand rule")
    joints = {joint.name: joint for joint in robot.description.joints}
    for name, away in (
        ("left_hip_yaw", [0, -10]),
        ("left_hip_roll", [-10, 14]),
        ("left_hip_pitch", [44, 4]),
        ("left_knee", [30, 0]),
        ("left_ankle_pitch", [56, 0]),
        ("left_elbow", [36, 0]),
        ("left_shoulder_pitch", [66, -4]),
        ("left_shoulder_roll", [-54, 14]),
        ("torso_yaw", [-42, 0]),
        ("head_pitch", [48, 0]),
    ):
        joint = joints[name]
        T = kd.kinematics.pose(robot, q, joint.child)
        tip = T[:3, 3] + 0.22 * T[:3, :3] @ joint.axis
        arrow(axes, view, T[:3, 3], tip, "#b2560d")
        label(axes, view.at(tip) + away, name.removeprefix("left_"), "#7a3a06", 9)


def references() -> None:
    """Show one motion in the three references: a plate rotating about a point of the plane."""
    figure = Figure(figsize=(11.5, 4.3), layout="constrained")
    origin, angle, centre, rate = np.array([2.2, 1.3]), np.radians(35.0), np.array([1.4, -0.5]), 0.55
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def velocity_at(point: Any) -> Any:
        away = np.asarray(point) - centre
        return rate * np.array([-away[1], away[0]])

    v = velocity_at(origin)
    panels = {
        "local_world_aligned": (origin, np.eye(2), v, "velocity of the frame's origin,\nin world axes"),
        "local": (origin, turned, v, "velocity of the frame's origin,\nin the axes of the frame"),
        "world": (
            np.zeros(2),
            np.eye(2),
            velocity_at([0, 0]),
            "velocity of the body-fixed point at\nthe world's origin",
        ),
    }
    for axes, (name, (at, basis, velocity, words)) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        plate(axes, origin, angle, centre, name == "world")
        flat_triad(axes, np.zeros(2), np.eye(2), 0.7, "world", faint=name == "local")
        flat_triad(axes, origin, turned, 0.7, "frame", faint=name != "local")
        arrow2(axes, at, at + velocity, "black", 2.6)
        for k in range(2):  # components along the axes of the reference
            part = (velocity @ basis[:, k]) * basis[:, k]
            other = velocity - part
            axes.plot(*zip(at + part, at + part + other, strict=True), ":", color="grey", lw=1)
            arrow2(axes, at, at + part, COLOURS[k], 1.6, dashed=True)
        numbers = basis.T @ velocity
        axes.set(aspect="equal", xlim=(-1.0, 4.1), ylim=(-1.35, 3.3), xticks=[], yticks=[])
        axes.set_title(f'reference="{name}"', family="monospace", fontsize=12)
        axes.set_xlabel(
            f"{words}\nlinear part ({numbers[0]:.2f}, {numbers[1]:.2f}, 0), angular part (0, 0, {rate:.2f})"
        )
    figure.savefig(HERE / "references.png", dpi=90, bbox_inches="tight")


def plate(axes: Axes, origin: Any, angle: float, centre: Any, wide: bool) -> None:
    """Draw the body, its centre of rotation and, if wide, its extension to the world's origin."""
    shape = FancyBboxPatch((-0.55, -0.4), 1.5, 1.0, boxstyle="round,pad=0.08", fc="#dfe7f5", ec="#7b8fb5")
    shape.set_transform(Affine2D().rotate(angle).translate(*origin) + axes.transData)
    axes.add_patch(shape)
    if wide:
        axes.plot([0, origin[0]], [0, origin[1]], color="#7b8fb5", lw=9, alpha=0.3, solid_capstyle="round")
    axes.plot(*centre, "o", color="#b2560d", ms=5)
    axes.annotate(
        "",
        centre + [-0.32, 0.0],
        centre + [0.32, 0.0],
        arrowprops={"arrowstyle": "->", "color": "#b2560d", "connectionstyle": "arc3,rad=0.9"},
    )
    axes.text(centre[0] + 0.4, centre[1] - 0.1, "centre of rotation", color="#7a3a06", fontsize=9)


def flat_triad(axes: Axes, at: Any, basis: Any, length: float, name: str, *, faint: bool) -> None:
    """Draw x and y of a frame in the plane."""
    for k, letter in enumerate("xy"):
        tip = at + length * basis[:, k]
        arrow2(axes, at, tip, COLOURS[k], 2.0, alpha=0.3 if faint else 1.0)
        axes.text(
            *(tip + 0.14 * basis[:, k]), letter, color=COLOURS[k], ha="center", va="center", alpha=0.4 if faint else 1
        )
    axes.text(*(at + 0.2 * basis[:, 0] - 0.25 * basis[:, 1]), name, ha="center", va="center", fontsize=9)


def arrow2(
    axes: Axes, start: Any, end: Any, colour: str, width: float, *, alpha: float = 1.0, dashed: bool = False
) -> None:
    """Draw an arrow in the plane."""
    style = {
        "arrowstyle": "-|>",
        "color": colour,
        "lw": width,
        "alpha": alpha,
        "shrinkA": 0,
        "shrinkB": 0,
        "ls": "--" if dashed else "-",
    }
    axes.annotate("", end, start, arrowprops=style)


if __name__ == "__main__":
    human = kd.load("humanoid")
    at = human.configuration("standing")
    at[:7] = [-0.25, 0.75, at[2], 0.0, 0.0, np.sin(0.35), np.cos(0.35)]  # 40 degrees to the left
    for name, angle in (
        ("left_elbow", -1.3),
        ("left_shoulder_roll", 0.5),
        ("left_hip_pitch", -0.9),
        ("left_knee", 1.1),
    ):
        at[human.joint(name).q] = angle
    page = Figure(figsize=(10.6, 5.6), layout="constrained")
    left, right = page.subplots(1, 2)
    world_and_base(left, human, at)
    joint_axes(right, human, at)
    page.savefig(HERE / "frames.png", dpi=95, bbox_inches="tight")
    references()
