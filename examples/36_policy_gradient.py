"""Policy gradient through the dynamics: a network learns to move a two-link arm to targets, under gravity.

The network maps the state and the target to torques. The loss of a rollout of 64 arms is differentiated through every
step of `kd.interop.torch.forward`. --plot FILE draws the loss and the paths of the tip before and after.
"""

import argparse
from importlib.util import find_spec

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
if find_spec("torch") is None:
    print("skipped: this example needs PyTorch: pip install 'kinodyn[torch]'")
    raise SystemExit

import torch  # noqa: E402

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
kt = kd.interop.torch

arm = kd.load("planar2r").replace(damping=2.0)  # two rods of 1 m and 1 kg in a vertical plane
tip = arm.frame_names[-1]
max_torque, dt, steps = torch.tensor([40.0, 15.0]), 0.03, 40

policy = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2), torch.nn.Tanh())


def sample(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw random configurations and targets within reach."""
    start, goal = torch.rand(2, n, 2) * torch.tensor([3.0, 2.0]) + torch.tensor([-1.5, 0.3])
    return start, kt.pose(arm, goal, tip)[:, :2, 3]


def rollout(q: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Simulate the closed loop from rest by semi-implicit Euler steps; returns the paths of the tip (steps, n, 2)."""
    path, v = [], torch.zeros_like(q)
    for _ in range(steps):
        p = kt.pose(arm, q, tip)[:, :2, 3]
        path.append(p)
        seen = torch.cat([q.cos(), q.sin(), 0.2 * v, target - p, target], dim=-1)
        v = v + dt * kt.forward(arm, q, v, max_torque * policy(seen))
        q = kt.integrate(arm, q, dt * v)
    return torch.stack(path), v


def cost(path: torch.Tensor, v: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Penalise the distance from the target, and the speed at the end."""
    return (path - target).norm(dim=-1).mean() + 0.02 * v.square().mean()


q_test, target_test = sample(8)
with torch.no_grad():
    before, _ = rollout(q_test, target_test)
optimiser = torch.optim.Adam(policy.parameters(), lr=5e-3)
losses = []
for iteration in range(101):
    optimiser.zero_grad()
    q0, target = sample(64)
    path, v = rollout(q0, target)
    loss = cost(path, v, target)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)  # gradients through long rollouts can be large
    optimiser.step()
    losses.append(loss.item())
    if iteration % 20 == 0:
        print(f"iteration {iteration:3}: loss {loss.item():6.3f}")

with torch.no_grad():
    after, _ = rollout(q_test, target_test)
away = [(path[-1] - target_test).norm(dim=-1).mean() for path in (before, after)]
print(f"distance from the target after {steps * dt:.1f} s: {away[0]:.2f} m before training, {away[1]:.2f} m after")
assert away[1] < 0.25 * away[0]

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.semilogy(losses)
    left.set(xlabel="iteration", title="loss")
    for k in range(4):
        right.plot(*before[:, k].T, color="0.7", lw=1)
        (line,) = right.plot(*after[:, k].T, lw=1.5)
        right.plot(*after[0, k], "o", color=line.get_color(), ms=4)
        right.plot(*target_test[k], "x", color=line.get_color(), ms=8, mew=2)
    right.set(xlabel="x [m]", ylabel="y [m]", title="tip before (grey) and after; x: targets")
    right.axis("equal")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(options.plot, dpi=80)
