"""Simulate a pendulum: period compared with the elliptic integral, energy over time, order of two integrators.

--plot FILE draws motion, period and energy.
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.special import ellipk

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

# A uniform rod of 1 m and 1 kg along x at q = 0, rotating about z. Gravity is along x: it hangs at q = 0.
rod = kd.DH(a=1.0, mass=1.0, com=(-0.5, 0.0, 0.0), inertia=np.diag([0.0, 1 / 12, 1 / 12]))
robot = kd.from_dh([rod], name="rod").replace(gravity=[9.81, 0.0, 0.0])


def energy(recording: kd.Recording) -> NDArray[np.float64]:
    kinetic = kd.dynamics.kinetic_energy(robot, recording.q, recording.v)
    return kinetic + kd.dynamics.potential_energy(robot, recording.q)


def period(recording: kd.Recording) -> float:
    """Measure the time between passages through the lowest point in one direction."""
    q, v = recording.q[:, 0], recording.v[:, 0]
    before = np.flatnonzero((q[:-1] > 0) & (q[1:] <= 0))
    passages = recording.time[before] - q[before] / v[before]
    return float(np.diff(passages).mean())


# A rod is equivalent to a point mass at two thirds of its length: I / (m c) = (1/3) / (1/2).
length = 2.0 / 3.0
print(f"{'released at':>12} {'simulated':>12} {'exact':>12} {'small angles':>12}")
swings = {}
for angle_deg in (5, 45, 90, 135, 170):
    angle = np.deg2rad(angle_deg)
    recording = swings[angle_deg] = kd.sim.simulate(robot, None, 10.0, q0=[angle], integrator="rk4")
    exact = 4 * np.sqrt(length / 9.81) * ellipk(np.sin(angle / 2) ** 2)
    small = 2 * np.pi * np.sqrt(length / 9.81)
    print(f"{angle_deg:9} deg {period(recording):10.6f} s {exact:10.6f} s {small:10.6f} s")

# The system is conservative: rk4 conserves energy almost exactly, with the semi-implicit integrator it oscillates
# slightly without drift.
runs = {}
lift = 2 * 9.81 * 0.5  # energy from the lowest to the highest position
for integrator in ("rk4", "semi-implicit"):
    runs[integrator] = kd.sim.simulate(robot, None, 10.0, q0=[np.deg2rad(135)], integrator=integrator)
    error = np.abs(energy(runs[integrator]) - energy(runs[integrator])[0]).max() / lift
    print(f"{integrator:>14}: energy error {error:.1e} of the energy between hanging and upright")

# With half the step the error falls by 2^order.
fine = kd.sim.simulate(robot, None, 2.0, q0=[2.0], integrator="rk4", dt=1e-4, record_dt=2.0).q[-1, 0]
for integrator in ("rk4", "semi-implicit"):
    ends = [
        kd.sim.simulate(robot, None, 2.0, q0=[2.0], integrator=integrator, dt=dt, record_dt=2.0).q[-1, 0]
        for dt in (0.02, 0.01)
    ]
    ratio = abs(ends[0] - fine) / abs(ends[1] - fine)
    print(f"{integrator:>14}: order {np.log2(ratio):.2f}")

# A batch: 200 pendulums from 1 to 179 degrees in one call, with some damping.
angles = np.deg2rad(np.linspace(1, 179, 200))[:, None]
batch = kd.sim.simulate(robot.replace(damping=0.05), None, 10.0, q0=angles, record_dt=0.05)
print(f"{batch}: the largest angle at the end is {np.rad2deg(np.abs(batch.q[-40:]).max()):.0f} deg")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 3.6), layout="constrained")
    angle_axis, period_axis, energy_axis = figure.subplots(1, 3)
    for angle_deg, recording in swings.items():
        angle_axis.plot(recording.time[:4001], np.rad2deg(recording.q[:4001, 0]), label=f"{angle_deg} deg")
        period_axis.plot(angle_deg, period(recording), "ko", zorder=3, label="simulated" if angle_deg == 5 else None)
    released = np.linspace(1.0, 175.0, 200)
    exact = 4 * np.sqrt(length / 9.81) * ellipk(np.sin(np.deg2rad(released) / 2) ** 2)
    period_axis.plot(released, exact, label="elliptic integral")
    period_axis.axhline(small, color="tab:orange", ls="--", label="small angles")
    for name, run in runs.items():
        energy_axis.semilogy(run.time, np.maximum(np.abs(energy(run) - energy(run)[0]), 1e-16), lw=1, label=name)
    angle_axis.set(title="angle", xlabel="time [s]", ylabel="[deg]")
    period_axis.set(title="period", xlabel="released at [deg]", ylabel="[s]")
    energy_axis.set(title="energy error", xlabel="time [s]", ylabel="[J]")
    for ax in (angle_axis, period_axis, energy_axis):
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    figure.savefig(options.plot, dpi=80)
