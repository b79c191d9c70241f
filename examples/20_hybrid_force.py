"""Hybrid force and motion control: a Panda presses with 10 N on a slanted wall while its hand slides along it.

--plot FILE draws force and motion.
"""

import argparse
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.control import CartesianImpedance, Gains, HybridForceMotion

Array: TypeAlias = NDArray[np.float64]
robot, hand = kd.load("panda"), "panda_hand_tcp"
home = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
T_home = kd.kinematics.pose(robot, home, hand)
R_world_wall = kd.spatial.rot_y(np.deg2rad(150.0))  # z points into the wall, 30 degrees from the vertical
into, across = R_world_wall[:, 2], R_world_wall[:, 1]


class Wall:
    """A compliant wall, 5 mm from the hand, with a normal force of 5000 N/m and 20 N s/m."""

    point = T_home[:3, 3] + 0.005 * into

    def wrenches(
        self, robot: kd.Robot, q: Array, v: Array, anchors: Array | None = None
    ) -> tuple[Mapping[str, Array], Array | None]:
        depth = (kd.kinematics.pose(robot, q, hand)[:3, 3] - self.point) @ into
        speed = kd.kinematics.velocity(robot, q, v, hand)[:3] @ into
        push = max(0.0, 5000.0 * float(depth) + 20.0 * float(speed)) if depth > 0 else 0.0
        return {hand: np.array([*(-push * into), 0.0, 0.0, 0.0])}, None


def stroke(t: float, order: int = 0) -> Array:
    """Slide 30 cm back and forth along the wall."""
    offset = (0.15 * (1 - np.cos(2 * t)), 0.3 * np.sin(2 * t), 0.6 * np.cos(2 * t))[order] * across
    return np.array([*offset, 0.0, 0.0, 0.0]) if order else kd.spatial.pose(T_home[:3, 3] + offset, T_home[:3, :3])


def plot(file: str, runs: dict[str, kd.Recording]) -> None:
    """Draw the force on the wall and the motion along it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, recording in runs.items():
        left.plot(recording.time, -recording.forces[hand][:, :3] @ into, label=name)
        offset = kd.kinematics.pose(robot, recording.q, hand)[:, :3, 3] - T_home[:3, 3]
        right.plot(recording.time, 100 * offset @ across, label=name)
    left.axhline(10.0, color="0.7", linestyle="--", linewidth=1)
    left.set(title="force on the wall", xlabel="time [s]", ylabel="[N]", ylim=(0.0, 30.0))
    right.set(title="motion along the wall", xlabel="time [s]", ylabel="[cm]")
    for axes in (left, right):
        axes.legend(fontsize=9)
        axes.grid(alpha=0.3)
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

wall = Wall()
hybrid = HybridForceMotion(
    robot,
    hand,
    stroke,
    wrench=[0.0, 0.0, 10.0, 0.0, 0.0, 0.0],
    selection=[False, False, True, False, False, False],  # force along z of the wall's axes, motion along the others
    measured=lambda t, state: wall.wrenches(robot, state.q, state.v)[0][hand],
    gains=Gains.from_frequency(20.0),
    axes=R_world_wall,
    posture=home,
)


# An impedance controller also presses if its target is inside the wall, but the force depends on the wall's position.
def deeper(t: float, order: int = 0) -> Array:
    """Follow the same stroke 1 cm behind the wall."""
    moved = stroke(t, order)
    if order == 0:
        moved[:3, 3] += 0.015 * into
    return moved


soft = CartesianImpedance(robot, hand, deeper, stiffness=[1000, 1000, 1000, 50, 50, 50], posture=home)
runs = {
    name: kd.sim.simulate(robot, controller, 4.0, q0=home, contacts=wall, control_dt=2e-3, friction=False)
    for name, controller in {"hybrid": hybrid, "impedance": soft}.items()
}
print("after the first second        force on the wall [N]     error along the wall")
for name, recording in runs.items():
    after = recording.time > 1.0
    force = -(recording.forces[hand] @ np.array([*into, 0.0, 0.0, 0.0]))[after]
    p = kd.kinematics.pose(robot, recording.q[after], hand)[:, :3, 3]
    off = np.abs([(x - stroke(t)[:3, 3]) @ across for t, x in zip(recording.time[after], p, strict=True)]).max()
    print(f"  {name:12} {force.min():18.3f} to {force.max():.3f} {1e3 * off:15.3f} mm")
touch = runs["hybrid"].time[np.argmax(runs["hybrid"].contacts[hand])]
print(f"the hybrid controller touches the wall at {touch:.3f} s, with at most", end=" ")
print(f"{-(runs['hybrid'].forces[hand][:, :3] @ into).min():.1f} N")

if options.plot:
    plot(options.plot, runs)
