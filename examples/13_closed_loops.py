"""Simulate a four-bar linkage: a tree, a loop closure, and integration that keeps it closed.

--plot FILE draws angles, energy and the path of a point on the coupler.
"""

import argparse

import numpy as np

import kinodyn as kd
from kinodyn.description import Description, Inertia, Joint, Link

CRANK, COUPLER, ROCKER, GROUND = 0.10, 0.35, 0.30, 0.30  # [m]: the crank can rotate fully

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()


def bar(name: str, length: float) -> Link:
    """Make a slender bar of 1 kg along x."""
    return Link(name, Inertia(1.0, np.array([length / 2, 0.0, 0.0]), length**2 / 12 * np.diag([0.01, 1.0, 1.0])))


def hinge(name: str, parent: str, child: str, x: float) -> Joint:
    """Make a hinge about z, x along the parent."""
    return Joint(name, "continuous", parent, child, kd.spatial.pose([x, 0.0, 0.0]))


# A tree of three bars; a loop joins the ends of coupler and rocker.
links = (Link("ground"), bar("crank", CRANK), bar("coupler", COUPLER), bar("rocker", ROCKER))
joints = (
    hinge("j1", "ground", "crank", 0.0),
    hinge("j2", "crank", "coupler", CRANK),
    hinge("j3", "ground", "rocker", GROUND),
)
robot = kd.Robot(Description("four-bar", links, joints, gravity=(0.0, -9.81, 0.0)))
pin = kd.contact.Loop(
    "coupler",
    "rocker",
    T_frame=kd.spatial.pose([COUPLER, 0.0, 0.0]),
    T_other=kd.spatial.pose([ROCKER, 0.0, 0.0]),
    directions="x y z rx ry",  # a hinge about z
)

# Project a rough guess onto the constraint; turn the crank: the other joints follow.
start = kd.contact.project(robot, [1.0, -0.5, 1.5], [pin])
print(f"loop closed to {start.error:.0e} m after {start.iterations} steps: angles {np.rad2deg(start.q).round(3)} deg")
v = kd.contact.project_velocity(robot, start.q, [30.0, 0.0, 0.0], [pin])
print(f"velocities that keep it closed: {v.round(4)} rad/s")
a, forces = kd.contact.dynamics(robot, start.q, v, np.zeros(3), [pin])
print(
    f"accelerations {a.round(3)} rad/s^2; {forces.rank} of {forces.rows} constraint rows of the hinge are independent"
)
print(f"force in the hinge, in the axes of the rocker: {forces[pin.name][:2].round(3)} N")


def slope(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the acceleration without torque at the crank."""
    return kd.contact.dynamics(robot, q, v, np.zeros(3), [pin])[0]


# Runge-Kutta steps of fourth order, each projected onto the constraint.
dt, steps = 1e-3, 2000
q, path, rates = start.q, [start.q], [v]
for _ in range(steps):
    v1, a1 = v, slope(q, v)
    v2, a2 = v + dt / 2 * a1, slope(q + dt / 2 * v1, v + dt / 2 * a1)
    v3, a3 = v + dt / 2 * a2, slope(q + dt / 2 * v2, v + dt / 2 * a2)
    v4, a4 = v + dt * a3, slope(q + dt * v3, v + dt * a3)
    q = kd.contact.project(robot, q + dt / 6 * (v1 + 2 * v2 + 2 * v3 + v4), [pin]).q
    v = kd.contact.project_velocity(robot, q, v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4), [pin])
    path.append(q)
    rates.append(v)
q_all, v_all = np.array(path), np.array(rates)
kinetic, potential = kd.dynamics.kinetic_energy(robot, q_all, v_all), kd.dynamics.potential_energy(robot, q_all)
total = kinetic + potential
error = np.abs(kd.contact.constraint_error(robot, q_all, [pin])).max()
print(f"\nafter {steps} steps of {dt:g} s: {(q_all[-1, 0] - q_all[0, 0]) / (2 * np.pi):.1f} revolutions of the crank")
print(f"  largest error of the loop {error:.0e} m")
print(f"  kinetic energy between {kinetic.min():.4f} and {kinetic.max():.4f} J,")
print(f"  total energy changed by at most {np.abs(total - total[0]).max():.1e} J")

# The torque for constant crank velocity: acceleration is affine in torque, so two evaluations give its zero.
turn = q_all[:: steps // 8]
even = kd.contact.project_velocity(robot, turn, [30.0, 0.0, 0.0], [pin])
even *= 10.0 / even[:, :1]  # 10 rad/s at the crank
none, one = (kd.contact.dynamics(robot, turn, even, [drive, 0.0, 0.0], [pin])[0][:, 0] for drive in (0.0, 1.0))
torque = none / (none - one)
tau = np.stack([torque, 0 * torque, 0 * torque], axis=-1)
left = kd.contact.dynamics(robot, turn, even, tau, [pin])[0][:, 0]
print(f"\ntorque for 10 rad/s at the crank, every {steps // 8} steps: {torque.round(3)} N m")
print(f"with it the crank acceleration is {np.abs(left).max():.0e} rad/s^2")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 3.6), layout="constrained")
    angles, energy, path_axis = figure.subplots(1, 3)
    time = dt * np.arange(steps + 1)
    angles.plot(time[:600], np.rad2deg(q_all[:600, 2]))
    angles.set(title="rocker", xlabel="time [s]", ylabel="angle [deg]")
    energy.plot(time, total - total[0])
    energy.set(title="energy error", xlabel="time [s]", ylabel="[J]")
    middle = kd.kinematics.pose(robot, q_all, "coupler") @ np.array([COUPLER / 2, 0.1, 0.0, 1.0])
    path_axis.plot(middle[:, 0], middle[:, 1])
    path_axis.set(title="a point on the coupler", xlabel="x [m]", ylabel="y [m]", aspect="equal")
    for ax in (angles, energy, path_axis):
        ax.grid(alpha=0.3)
    figure.savefig(options.plot, dpi=80)
