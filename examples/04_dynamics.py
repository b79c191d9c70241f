"""Dynamics: gravity torques, inverse and forward dynamics, energy conservation of a swinging arm.

--plot FILE draws the gravity torques and the energy of the swing.
"""

import argparse

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
np.set_printoptions(precision=2, suppress=True)

# Torques that compensate gravity, and their fraction of the limits.
arm = kd.load("ur5")
q = np.deg2rad([0.0, -30.0, 30.0, 0.0, 0.0, 0.0])
tau_gravity = kd.dynamics.gravity(arm, q)
print("gravity torques [N m]:          ", tau_gravity)
print("fraction of the limits [%]:     ", 100 * np.abs(tau_gravity) / arm.limits.effort)

# A load of 3 kg in the hand is a wrench on the hand frame, in world axes.
hand = arm.frame_names[-1]
load = {hand: np.array([0.0, 0.0, -3.0 * 9.81, 0.0, 0.0, 0.0])}
still = np.zeros(arm.nv)
loaded = kd.dynamics.inverse(arm, q, still, still, wrenches=load)
print("with 3 kg in the hand [N m]:    ", loaded)

# Forward dynamics inverts inverse dynamics.
rng = np.random.default_rng(0)
v, a = rng.normal(size=(2, arm.nv))
tau = kd.dynamics.inverse(arm, q, v, a)
print("acceleration given and recovered [rad/s^2]:", a, kd.dynamics.forward(arm, q, v, tau))

# The equation of motion from its terms: M a + bias = tau.
M = kd.dynamics.mass_matrix(arm, q)
parts = M @ a + kd.dynamics.bias(arm, q, v)
print(f"M a + bias and inverse dynamics: largest difference {np.abs(parts - tau).max():.1e} N m")

# A humanoid in free fall: without torques only gravity changes its momentum.
robot = kd.load("humanoid").replace(damping=0.0)
q, v = robot.random(seed=1), 0.5 * rng.normal(size=robot.nv)
a = kd.dynamics.forward(robot, q, v, np.zeros(robot.nv))
rate = kd.centroidal.momentum_rate(robot, q, v, a)
print(f"\nfalling humanoid of {robot.mass:.1f} kg, rate of change of its momentum [N, N m]:", rate)

# The arm swings freely for one second, integrated by the classical Runge-Kutta method; its energy is conserved.
free = arm.replace(damping=0.0)


def derivative(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return v, kd.dynamics.forward(free, q, v, still)


def energy(q: np.ndarray, v: np.ndarray) -> float:
    return float(kd.dynamics.kinetic_energy(free, q, v) + kd.dynamics.potential_energy(free, q))


q, v, dt = np.deg2rad([0.0, -30.0, 30.0, 0.0, 0.0, 0.0]), np.zeros(free.nv), 1e-3
start, path = energy(q, v), [(q, v)]
for _ in range(1000):
    v1, a1 = derivative(q, v)
    v2, a2 = derivative(q + dt / 2 * v1, v + dt / 2 * a1)
    v3, a3 = derivative(q + dt / 2 * v2, v + dt / 2 * a2)
    v4, a4 = derivative(q + dt * v3, v + dt * a3)
    q, v = q + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4), v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    path.append((q, v))
kinetic = kd.dynamics.kinetic_energy(free, q, v)
print(f"\nafter 1 s of free swing: kinetic energy {kinetic:.1f} J, total changed by {energy(q, v) - start:.1e} J")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    names = [f"joint {i + 1}" for i in range(arm.nv)]
    left.bar(np.arange(arm.nv) - 0.2, 100 * np.abs(tau_gravity) / arm.limits.effort, 0.4, label="alone")
    left.bar(np.arange(arm.nv) + 0.2, 100 * np.abs(loaded) / arm.limits.effort, 0.4, label="with 3 kg")
    left.set_xticks(range(arm.nv), names)
    left.set(title="gravity torques", ylabel="fraction of the limit [%]")
    q_all, v_all = (np.array(part) for part in zip(*path, strict=True))
    t = dt * np.arange(len(path))
    moving, lifted = kd.dynamics.kinetic_energy(free, q_all, v_all), kd.dynamics.potential_energy(free, q_all)
    for name, values in {"kinetic": moving, "potential": lifted - lifted[0], "total": moving + lifted - start}.items():
        right.plot(t, values, "k--" if name == "total" else "-", label=name)
    right.set(title="change of energy, free swing", xlabel="time [s]", ylabel="[J]")
    for ax in (left, right):
        ax.grid(alpha=0.3)
        ax.legend(fontsize=9)
    figure.savefig(options.plot, dpi=80)
