"""Operational space control of a Panda: the hand tracks a circle while the elbow swings in its null space.

--plot FILE draws the hand's path, the elbow's motion and the hand's error.
"""

import argparse
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.control import Gains, OperationalSpaceControl, operational_space

Array: TypeAlias = NDArray[np.float64]
robot, hand = kd.load("panda"), "panda_hand_tcp"
home = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
T_home = kd.kinematics.pose(robot, home, hand)


def circle(t: float, order: int = 0) -> Array:
    """Move the hand on a circle of 10 cm in the y-z plane, once in 2 s, after a soft start."""
    s, ds, dds = (t**2 / (1 + t), 1 - 1 / (1 + t) ** 2, 2 / (1 + t) ** 3)
    sine, cosine = np.sin(np.pi * s), np.cos(np.pi * s)
    u, du = 0.1 * np.array([1 - cosine, sine]), 0.1 * np.pi * np.array([sine, cosine])
    ddu = 0.1 * np.pi**2 * np.array([cosine, -sine])
    if order == 0:
        return kd.spatial.pose(T_home[:3, 3] + [0.0, *u], T_home[:3, :3])
    rate = du * ds if order == 1 else ddu * ds**2 + du * dds
    return np.array([0.0, *rate, 0.0, 0.0, 0.0])


class SwingingElbow(OperationalSpaceControl):
    """The same controller with a moving posture."""

    def __call__(self, t: float, state: kd.State) -> Array:
        self.posture.target = home + 0.7 * np.sin(2.0 * t) * np.eye(7)[2]
        return super().__call__(t, state)


def run(controller: kd.control.Controller) -> kd.Recording:
    return kd.sim.simulate(robot, controller, 5.0, q0=home, control_dt=2e-3, friction=False)


def plot(file: str, still: kd.Recording, swinging: kd.Recording) -> None:
    """Draw the hand's path, the elbow's angle and the hand's error, with a still and a swinging elbow."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 3.6), layout="constrained")
    axes = figure.subplots(1, 3)
    for name, recording in {"elbow at rest": still, "elbow swinging": swinging}.items():
        path = kd.kinematics.pose(robot, recording.q, hand)[:, :3, 3]
        style = "--" if name == "elbow swinging" else "-"
        axes[0].plot(path[:, 1], path[:, 2], style, label=name)
        axes[1].plot(recording.time, np.rad2deg(recording.q[:, 2]), style, label=name)
        axes[2].plot(recording.time, 1e3 * np.linalg.norm(recording.signals["error"][:, :3], axis=1), style, label=name)
    axes[0].set(title="path of the hand", xlabel="y [m]", ylabel="z [m]", aspect="equal")
    axes[1].set(title="third joint", xlabel="time [s]", ylabel="[deg]")
    axes[2].set(title="error of the hand", xlabel="time [s]", ylabel="[mm]")
    for one in axes:
        one.legend(fontsize=8)
        one.grid(alpha=0.3)
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

# The inertia at the hand, and torques that move the hand or only the null space.
v = np.linspace(-0.5, 0.5, 7)
space = operational_space(robot, home, v, hand)
print("effective mass of the hand along x, y, z [kg]:", (1 / np.diag(np.linalg.inv(space.Lambda))[:3]).round(2))
for name, tau in {
    "1 m/s^2 in x": space.J.T @ (space.Lambda @ np.eye(6)[0] + space.mu + space.p),
    "null space": space.J.T @ (space.mu + space.p) + space.N.T @ np.full(7, 10.0),
}.items():
    a = kd.kinematics.acceleration(robot, home, v, kd.dynamics.forward(robot, home, v, tau), hand)
    print(f"  {name:13} accelerates the hand by", (a + 0.0).round(9) + 0.0)

# Closed loop: the hand on its circle, the null space at rest or swinging by 40 degrees.
gains = Gains.from_frequency(20.0)
still = run(OperationalSpaceControl(robot, hand, circle, gains, posture=home))
swinging = run(SwingingElbow(robot, hand, circle, gains, posture=home, posture_gains=Gains.from_frequency(12.0)))
print("\n                  hand error, largest   third joint moves by   torque over limit")
for name, recording in {"elbow at rest": still, "elbow swinging": swinging}.items():
    error = np.abs(recording.signals["error"])
    fraction = np.abs(recording.tau / robot.limits.effort).max()
    print(f"  {name:15} {1e3 * error[:, :3].max():8.3f} mm", end="")
    print(f" {np.rad2deg(np.ptp(recording.q[:, 2])):20.1f} deg {fraction:18.0%}")

if options.plot:
    plot(options.plot, still, swinging)
