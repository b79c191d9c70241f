"""Learn a payload by gradient descent: its mass and CoM from joint torques, in PyTorch.

The payload acts on the hand as an external wrench, which depends on its mass and CoM; `kd.interop.torch.inverse` gives
the torques and their gradient with respect to the wrench. --plot FILE draws the convergence and the torques.
"""

import argparse
from importlib.util import find_spec

import numpy as np

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
mass, com = 1.8, np.array([0.03, -0.02, 0.11])  # what we pretend not to know

# A recording: a smooth motion, and the torques of the loaded arm with 0.05 N m of noise.
time = np.linspace(0.0, 4.0, 200)
lower, upper = robot.limits.lower, robot.limits.upper
middle, reach = (lower + upper) / 2, 0.3 * (upper - lower)
rates = np.random.default_rng(1).uniform(0.8, 2.5, robot.nv)
angles = np.outer(time, rates)
q, v, a = middle + reach * np.sin(angles), reach * rates * np.cos(angles), -reach * rates**2 * np.sin(angles)
rng = np.random.default_rng(0)
true_tau = kd.dynamics.inverse(robot.with_payload(hand, mass, com), q, v, a)
measured = torch.tensor(true_tau + 0.05 * rng.normal(size=true_tau.shape))

# The motion of the hand is known: it does not depend on the payload.
R = torch.tensor(kd.kinematics.pose(robot, q, hand)[:, :3, :3])
twist = torch.tensor(kd.kinematics.velocity(robot, q, v, hand))
acceleration = torch.tensor(kd.kinematics.acceleration(robot, q, v, a, hand))
gravity = torch.tensor(robot.gravity.copy())
q, v, a = (torch.tensor(each) for each in (q, v, a))


def torques(mass: torch.Tensor, com: torch.Tensor) -> torch.Tensor:
    """Compute the torques of the arm that carries a point mass: its weight and inertia are a wrench on the hand."""
    arm = R @ com
    omega, alpha = twist[:, 3:], acceleration[:, 3:]
    of_mass = acceleration[:, :3] + torch.linalg.cross(alpha, arm)
    of_mass = of_mass + torch.linalg.cross(omega, torch.linalg.cross(omega, arm))
    force = mass * (gravity - of_mass)
    return kt.inverse(robot, q, v, a, {hand: torch.cat([force, torch.linalg.cross(arm, force)], dim=-1)})


# Gradient descent on log(mass), which keeps the mass positive, and the CoM.
log_mass = torch.tensor(np.log(0.5), requires_grad=True)
guess = torch.zeros(3, dtype=torch.float64, requires_grad=True)
optimiser = torch.optim.Adam([{"params": [log_mass], "lr": 0.05}, {"params": [guess], "lr": 0.01}])
history = []
for step in range(300):
    optimiser.zero_grad()
    loss = (torques(log_mass.exp(), guess) - measured).square().mean()
    loss.backward()
    optimiser.step()
    history.append([loss.item() ** 0.5, log_mass.exp().item(), *guess.tolist()])
    if step % 50 == 0 or step == 299:
        rms, found, *place = history[-1]
        print(f"step {step:3}: residual {rms:6.3f} N m, mass {found:5.3f} kg, CoM {np.round(place, 3)} m")
print(f"true values:                   mass {mass:5.3f} kg, CoM {com} m")

# What is left of the residual is the noise.
_, found, *place = history[-1]
assert abs(found - mass) < 0.01 and np.abs(place - com).max() < 2e-3

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    curves = np.array(history)
    left.plot(curves[:, 1], label="mass [kg]")
    for k, axis in enumerate("xyz"):
        left.plot(10 * curves[:, 2 + k], label=f"CoM {axis} [dm]")
    for value in (mass, *(10 * com)):
        left.axhline(value, color="0.5", lw=0.8, ls="--")
    left.set(xlabel="step", title="estimates, and true values (dashed)")
    joint = 3
    right.plot(time, measured[:, joint], ".", color="0.6", ms=3, label="measured")
    right.plot(time, kt.inverse(robot, q, v, a)[:, joint], color="tab:orange", label="without the payload")
    loaded = torques(log_mass.exp(), guess).detach()
    right.plot(time, loaded[:, joint], color="tab:blue", label="with the learnt payload")
    right.set(xlabel="time [s]", ylabel="[N m]", title=f"torque of {robot.joint_names[joint]}")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(options.plot, dpi=80)
