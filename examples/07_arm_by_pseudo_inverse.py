"""Pseudo-inverse IK of a humanoid arm: convergence of the error, and the effect of damping near the singularity.

--plot FILE draws both.
"""

import argparse
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.ik import velocity

Array: TypeAlias = NDArray[np.float64]
robot, hand = kd.load("humanoid", base="fixed"), "left_palm"  # the pelvis is fixed; trunk and arm move the hand
q0 = robot.configuration("standing")
elbow = robot.joint("left_elbow").q


def follow(T: Array, rates: Callable[[Array, Array], Array], steps: int) -> tuple[Array, Array, Array]:
    """Iterate a rule for joint steps from (J, error); return error norm, largest joint step and elbow angle [rad]."""
    q, errors, largest, bend = q0, [], [], []
    for _ in range(steps):
        J = kd.kinematics.jacobian(robot, q, hand)
        error = kd.spatial.pose_error(kd.kinematics.pose(robot, q, hand), T)
        v = rates(J, error)
        errors.append(np.linalg.norm(error))
        largest.append(np.abs(v).max())
        bend.append(q[elbow][0])
        q = robot.integrate(q, v)
    return np.array(errors), np.array(largest), np.array(bend)


def plot(file: str, near: dict[str, Array], far: dict[str, Array]) -> None:
    """Draw the error for a reachable target, and the largest joint step for an unreachable one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    axes: Any = figure.subplots(1, 2)
    for ax, curves in zip(axes, (near, far), strict=True):
        for name, values in curves.items():
            ax.semilogy(values, "o-", ms=3.5, label=name)
        ax.set_xlabel("step")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=9)
    axes[0].set(title="reachable target", ylim=(1e-16, 4.0), ylabel="norm of the error [m and rad]")
    axes[1].set(title="target 10 cm beyond reach", ylabel="largest joint step [rad]")
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

# At the velocity level, v = J^+ error is the smallest joint motion that removes the error to first order. The full step
# converges quadratically; a fraction of it, as in a controller, linearly.
T_near = kd.kinematics.pose(robot, q0, hand).copy()
T_near[:3, 3] += [0.25, 0.05, 0.25]
T_near[:3, :3] = T_near[:3, :3] @ kd.spatial.rot_y(-0.8)
rules: dict[str, Callable[[Array, Array], Array]] = {
    "pseudo-inverse": velocity.least_norm,
    "half step": lambda J, error: velocity.least_norm(J, 0.5 * error),
    "damped by 0.1": lambda J, error: velocity.damped(J, error, 0.1),
    "transpose": lambda J, error: J.T @ error * (error @ J @ J.T @ error) / np.sum((J @ J.T @ error) ** 2),
}
near = {name: follow(T_near, rule, 12)[0] for name, rule in rules.items()}
print("error [m and rad], reachable target")
print("  step  " + "  ".join(f"{name:>14}" for name in near))
for step in range(0, 12, 2):
    print(f"  {step:4}  " + "  ".join(f"{errors[step]:14.1e}" for errors in near.values()))

# Ten centimetres beyond reach the elbow stretches, J loses rank, and the steps of its pseudo-inverse explode.
arm = kd.kinematics.poses(robot, robot.configuration("upright"), frames=["left_upper_arm", "left_forearm", hand])
arm_length = np.linalg.norm(np.diff(arm[:, :3, 3], axis=0), axis=1).sum()
T_far = kd.spatial.pose(arm[0, :3, 3] + [0.0, arm_length + 0.1, 0.0], kd.spatial.rot_x(np.pi / 2))  # to the left
# Sufficient damping bounds the steps. Damping that depends on manipulability has no effect away from singularities, if
# the threshold suits the arm: here about the median over all postures.
rules = {
    "pseudo-inverse": velocity.least_norm,
    "damped by 0.02": lambda J, error: velocity.damped(J, error, 0.02),
    "damped by 0.1": lambda J, error: velocity.damped(J, error, 0.1),
    "damped by manipulability": lambda J, error: velocity.damped(
        J, error, velocity.adaptive_damping(J, threshold=0.05, maximum=0.1)
    ),
}
far = {name: follow(T_far, rule, 30) for name, rule in rules.items()}
print("\ntarget 10 cm beyond reach: the last ten of 30 steps, without joint limits")
print(f"  {'rule':26} {'error':>14} {'largest step':>16} {'elbow':>18}")
for name, (errors, largest, bend) in far.items():
    low, high = np.rad2deg(bend[-10:].min()), np.rad2deg(bend[-10:].max())
    print(f"  {name:26} {errors[-10:].min():5.2f} to {errors[-10:].max():5.2f}", end=" ")
    print(f"{largest[-10:].max():12.2f} rad {low:8.1f} to {high:.1f} deg")

# ik.solve adds joint limits, restarts and a status to the same steps.
print("\nik.solve, within joint limits")
for name, T in (("in reach", T_near), ("beyond reach", T_far)):
    for method in ("pinv", "dls"):
        result = kd.ik.solve(robot, {hand: T}, q0, method=method)
        away = f"{1e3 * result.residual[0]:.3f} mm, {np.rad2deg(result.residual[1]):.2f} deg"
        print(f"  {name:12} {method:5} {result.status!s:12} {int(result.iterations):3} steps, residual {away}")

if options.plot:
    plot(options.plot, near, {name: largest for name, (_, largest, _) in far.items()})
