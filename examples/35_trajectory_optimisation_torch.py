"""Trajectory optimisation with PyTorch: least torque between two configurations, past a point, within the limits.

The path is a B-spline; its control points are the parameters of an optimiser, and gradients come from
`kd.interop.torch.inverse` and `pose`. --plot FILE draws the torques and the path of the hand.
"""

import argparse
from importlib.util import find_spec

import numpy as np
from scipy.interpolate import BSpline

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
if find_spec("torch") is None:
    print("skipped: this example needs PyTorch: pip install 'kinodyn[torch]'")
    raise SystemExit

import torch  # noqa: E402

kt = kd.interop.torch
robot, hand = kd.load("panda"), "panda_hand_tcp"
q_start, q_goal = robot.neutral(), robot.neutral()
q_start[:7] = [-1.2, 0.4, 0.3, -1.9, 0.0, 2.3, 0.8]
q_goal[:7] = [1.2, 0.5, -0.3, -1.7, 0.0, 2.2, 0.8]
via = torch.tensor([0.45, 0.0, 0.25])  # a point that the hand must pass at half time [m]

# Control points -> q, v, a at 101 times, by constant matrices.
duration, degree, n = 2.0, 5, 14
inner = np.linspace(0.0, duration, n - degree + 1)
knots = np.concatenate([np.zeros(degree), inner, np.full(degree, duration)])
time = np.linspace(0.0, duration, 101)
spline = BSpline(knots, np.eye(n), degree)
basis = [torch.tensor(spline.derivative(order)(time) if order else spline(time)) for order in range(3)]

# The first and last three control points are fixed: the motion starts and ends at rest.
ends = np.concatenate([np.tile(q_start, (3, 1)), np.tile(q_goal, (3, 1))])
first, last = torch.tensor(ends[:3]), torch.tensor(ends[3:])
straight = np.linspace(q_start, q_goal, n)[3:-3]
free = torch.tensor(straight, requires_grad=True)
lower, upper = (torch.tensor(limit.copy()) for limit in (robot.limits.lower, robot.limits.upper))
effort = torch.tensor(robot.limits.effort.copy())


def motion() -> list[torch.Tensor]:
    """Compute q, v and a over time."""
    points = torch.cat([first, free, last])
    return [each @ points for each in basis]


def costs() -> tuple[torch.Tensor, ...]:
    """Return mean squares of torques over their limits, the miss of the point, violations of limits, accelerations."""
    q, v, a = motion()
    tau = kt.inverse(robot, q, v, a)
    miss = kt.pose(robot, q[50], hand)[:3, 3] - via
    outside = torch.relu(lower - q) + torch.relu(q - upper)
    return (tau / effort).square().mean(), miss.square().sum(), outside.square().sum(), a.square().mean()


optimiser = torch.optim.Adam([free], lr=0.02)
tau_before = kt.inverse(robot, *motion()).detach()
path_before = kt.pose(robot, motion()[0], hand)[:, :3, 3].detach()
for step in range(301):
    optimiser.zero_grad()
    torque, miss, outside, acceleration = costs()
    (10 * torque + 100 * miss + 100 * outside + 1e-3 * acceleration).backward()
    optimiser.step()
    if step % 100 == 0:
        print(
            f"step {step:3}: RMS torque {torque.item() ** 0.5:.4f} of its limit, "
            f"miss {1e3 * miss.item() ** 0.5:5.1f} mm, outside limits {outside.item() ** 0.5:.1e} rad"
        )

torque, miss, outside, _ = costs()
tau = kt.inverse(robot, *motion()).detach()
path = kt.pose(robot, motion()[0], hand)[:, :3, 3].detach()
before = (tau_before / effort).square().mean().item() ** 0.5
print(f"RMS torque of the straight line: {before:.4f} of its limit")
assert miss.item() ** 0.5 < 5e-3 and outside.item() < 1e-4

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for k in (1, 3):
        (line,) = left.plot(time, tau_before[:, k], ls="--", lw=1)
        left.plot(time, tau[:, k], color=line.get_color(), label=robot.joint_names[k])
    left.set(xlabel="time [s]", ylabel="[N m]", title="torques: straight line (dashed), optimised")
    left.legend(fontsize=8)
    right.plot(path_before[:, 1], path_before[:, 2], "--", color="0.5", label="straight line in q")
    right.plot(path[:, 1], path[:, 2], color="tab:blue", label="optimised")
    right.plot(via[1], via[2], "o", color="tab:red", label="point to pass")
    right.set(xlabel="y [m]", ylabel="z [m]", title="path of the hand")
    right.axis("equal")
    right.legend(fontsize=8)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(options.plot, dpi=80)
