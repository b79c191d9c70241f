"""Draw the figures of the page "Robots": python docs/images/robots.py."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scene import HERE, label, show, take

import kinodyn as kd

# name, configuration, what the camera looks at, its distance, its azimuth
ARMS: tuple[tuple[str, Any, tuple[float, ...], float, float], ...] = (
    ("panda", "ready", (0.2, 0.0, 0.4), 1.9, -130.0),
    ("ur5", "bent", (-0.25, 0.0, 0.4), 1.9, -50.0),
    ("puma560", "nominal", (0.2, 0.0, 0.7), 2.6, -130.0),
    ("scara", [0.5, -1.0, 0.1, 0.0], (0.2, 0.0, 0.2), 1.7, -130.0),
    ("planar2r", [0.6, 0.7], (0.6, 0.6, 0.0), 4.0, 90.0),
    ("planar3r", [0.9, -0.8, -0.7], (1.1, 0.5, 0.0), 5.0, 90.0),
)


def bundled() -> None:
    """Show the bundled arms."""
    figure = Figure(figsize=(13, 2.7), layout="constrained")
    for axes, (name, at, lookat, distance, azimuth) in zip(figure.subplots(1, len(ARMS)), ARMS, strict=True):
        robot = kd.load(name)
        q = robot.configuration(at) if isinstance(at, str) else np.array(at)
        down = -89.0 if name.startswith("planar") else -15.0
        view = take(robot, q, lookat=lookat, distance=distance, azimuth=azimuth, elevation=down, size=(400, 400))
        show(axes, view, name)
    figure.savefig(HERE / "bundled_robots.png", dpi=80, bbox_inches="tight")


def sizes() -> None:
    """Show the humanoid at four heights, from one camera."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    people = ((1.0, 20.0), (1.4, 40.0), (1.7, 70.0), (2.0, 100.0))
    for axes, (height, mass) in zip(figure.subplots(1, len(people)), people, strict=True):
        robot = kd.load("humanoid", height=height, mass=mass)
        q = robot.configuration("standing")
        view = take(robot, q, lookat=(0.0, 0.0, 0.95), distance=3.2, azimuth=-145.0, size=(560, 380))
        show(axes, view, f"{height:g} m, {mass:g} kg")
        strong = robot.limits.effort[robot.joint("left_knee").v][0]
        label(axes, (190, 535), f"thigh {thigh(robot, q):.2f} m, knee {strong:.0f} N m")
    figure.savefig(HERE / "humanoid_sizes.png", dpi=75, bbox_inches="tight")


def thigh(robot: kd.Robot, q: Any) -> float:
    """Return the length of the thigh [m]."""
    hip, knee = (kd.kinematics.pose(robot, q, link)[:3, 3] for link in ("left_thigh", "left_shank"))
    return float(np.linalg.norm(hip - knee))


if __name__ == "__main__":
    bundled()
    sizes()
