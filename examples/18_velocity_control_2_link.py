"""Velocity control of a 2-link arm by its Jacobian: the hand draws a circle, with and without feedback.

--plot FILE draws the paths and the joint velocities.
"""

import argparse
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

Array: TypeAlias = NDArray[np.float64]
robot, hand = kd.load("planar2r"), "link2"  # two links of 1 m, in a vertical plane
CENTRE, RADIUS, SPEED = np.array([1.2, 0.0]), 0.4, 0.8


def circle(t: float) -> tuple[Array, Array]:
    """Return the desired position [m] and velocity [m/s] of the hand."""
    angle = SPEED / RADIUS * t
    radial = np.array([np.cos(angle), np.sin(angle)])
    return CENTRE + RADIUS * radial, SPEED * np.array([-radial[1], radial[0]])


class VelocityControl:
    """Desired joint velocities J^-1 (velocity + gain * error) of the hand, and torques that track them."""

    def __init__(self, feedback: float) -> None:
        self.feedback = feedback
        self.signals: dict[str, Any] = {}

    def reset(self) -> None:
        self.signals = {}

    def __call__(self, t: float, state: kd.State) -> Array:
        x = state.pose(hand)[:2, 3]
        J = state.jacobian(hand)[:2]
        x_ref, speed = circle(t)
        rates = np.linalg.solve(J, speed + self.feedback * (x_ref - x))
        self.signals = {"hand": x, "error": x_ref - x, "rates": rates}
        tau: Array = state.mass_matrix @ (200.0 * (rates - state.v)) + state.bias
        return tau


def run(feedback: float) -> kd.Recording:
    """Draw the circle twice, with an initial error of 5 cm."""
    half = np.arccos((CENTRE[0] + RADIUS + 0.05) / 2)  # both links make this angle with the x axis
    return kd.sim.simulate(robot, VelocityControl(feedback), 2 * np.pi, q0=[-half, 2 * half], dt=np.pi / 3200)


def plot(file: str, runs: dict[str, kd.Recording]) -> None:
    """Draw the paths of the hand and the joint velocities."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    desired = np.array([circle(t)[0] for t in np.linspace(0.0, np.pi, 200)])
    left.plot(*desired.T, color="0.8", linewidth=5, label="desired")
    for name, recording in runs.items():
        left.plot(*recording.signals["hand"].T, label=name)
    left.set(title="path of the hand", xlabel="x [m]", ylabel="y [m]", aspect="equal")
    right.plot(runs["with feedback"].time, runs["with feedback"].v, label=["joint 1", "joint 2"])
    right.set(title="joint velocities", xlabel="time [s]", ylabel="[rad/s]")
    for axes in (left, right):
        axes.legend(fontsize=9)
        axes.grid(alpha=0.3)
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

# The Jacobian of two links of length 1, as in textbooks.
q1, q2 = 0.3, 0.8
s1, c1, s12, c12 = np.sin(q1), np.cos(q1), np.sin(q1 + q2), np.cos(q1 + q2)
book = np.array([[-s1 - s12, -s12], [c1 + c12, c12]])
print("J =", kd.kinematics.jacobian(robot, [q1, q2], hand)[:2].round(4).tolist())
print(f"differs from the formula by {np.abs(kd.kinematics.jacobian(robot, [q1, q2], hand)[:2] - book).max():.0e}")

# det J = sin q2: the straighter the elbow, the faster the joints for the same hand velocity.
print("\nelbow [deg]  det J   largest joint velocity for a hand velocity of 1 m/s [rad/s]")
for elbow in (90.0, 45.0, 20.0, 5.0, 1.0):
    J = kd.kinematics.jacobian(robot, [0.3, np.deg2rad(elbow)], hand)[:2]
    fastest = 1.0 / np.linalg.svd(J, compute_uv=False)[-1]
    print(f"{elbow:9.0f} {np.linalg.det(J):9.3f} {fastest:9.1f}")

# Without feedback the initial error stays. With feedback it decays at the rate of the gain; the rest is the lag of 5 ms
# of the joint velocities behind the desired ones.
runs = {"without feedback": run(0.0), "with feedback": run(5.0)}
print("\ntracking error of the hand [mm]")
for name, recording in runs.items():
    error = 1e3 * np.linalg.norm(recording.signals["error"], axis=1)
    print(f"  {name:17} at the start {error[0]:5.1f}, after 1 s {np.interp(1.0, recording.time, error):6.2f},", end=" ")
    print(f"in the second revolution {error[len(error) // 2 :].max():6.2f}")

if options.plot:
    plot(options.plot, runs)
