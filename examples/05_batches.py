"""Batches: thousands of states in one call, broadcasting, buffers, threads; a control loop without allocation.

--time measures what a batch saves; --plot FILE draws the fraction of postures in which a weight can be held.
"""

import argparse
import os
import time
from collections.abc import Callable

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
parser.add_argument("--time", action="store_true", help="compare a batch with single calls")
options = parser.parse_args()
robot = kd.load("humanoid")
rng = np.random.default_rng(0)
n = 20_000
q = robot.random(n, seed=0)
v, a = rng.normal(size=(2, n, robot.nv))


def microseconds_per_state(run: Callable[[], object], states: int) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e6 * min(times) / states


# One call for all states, into a preallocated array, gives what a loop of calls gives.
tau = np.empty((n, robot.nv))
kd.dynamics.inverse(robot, q, v, a, out=tau)
single = [kd.dynamics.inverse(robot, *state) for state in zip(q[:500], v[:500], a[:500], strict=True)]
print(f"inverse dynamics of {robot.nv} degrees of freedom for {n} states: {tau.shape}")
print(f"  single calls and the batch agree to {float(f'{np.abs(tau[:500] - single).max() / np.abs(tau).max():.0e}'):g}")

if options.time:
    kd.set_threads(1)
    looped = microseconds_per_state(
        lambda: [kd.dynamics.inverse(robot, *state) for state in zip(q[:500], v[:500], a[:500], strict=True)], 500
    )
    batched = microseconds_per_state(lambda: kd.dynamics.inverse(robot, q, v, a, out=tau), n)
    kd.set_threads(os.cpu_count() or 1)
    threaded = microseconds_per_state(lambda: kd.dynamics.inverse(robot, q, v, a, out=tau), n)
    print(f"  [us per state] one call each {looped:.2f}, one call {batched:.2f}, on all cores {threaded:.2f}")

# Arguments broadcast: each of 100 postures with each of 50 velocities.
power = kd.dynamics.inverse(robot, q[:100, None], v[None, :50], np.zeros(robot.nv)) * v[None, :50]
print(f"power of each joint for 100 postures x 50 velocities: an array of {power.shape}")

# In which fraction of random postures can the motors hold a weight in the left hand?
hand, still = robot.description.end_effectors["left_hand"], np.zeros(robot.nv)
for weight in (5.0, 10.0, 20.0):
    load = {hand: np.array([0.0, 0.0, -9.81 * weight, 0.0, 0.0, 0.0])}
    tau = kd.dynamics.inverse(robot, q, still, still, wrenches=load)
    possible = np.all(np.abs(tau[:, 6:]) < robot.limits.effort[6:], axis=1)
    print(f"{weight:4.0f} kg in the left hand can be held in {possible.mean():.0%} of {n} random postures")

# The CoM of all postures relative to the base.
reach = kd.kinematics.com(robot, q) - q[:, :3]
print(f"the CoM is {np.linalg.norm(reach, axis=1).mean():.3f} m from the base on average")

# A control loop needs many quantities of one state: State computes them in one pass, update() works in place.
state = kd.State(robot, q[0], v[0])
largest = 0.0
for q_now, v_now in zip(q[:2000], v[:2000], strict=True):
    state.update(q_now, v_now)
    largest = max(largest, float(np.abs(state.bias).max()))
print(f"State.update in a loop of 2000 ticks: the largest bias force is {largest:.0f} N or N m")

if options.plot:
    from matplotlib.figure import Figure

    # All weights with all postures: one call, (60, 2000) states.
    weights, some = np.linspace(0.0, 60.0, 60), q[:2000]
    wrench = -9.81 * weights[:, None, None] * np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    figure = Figure(figsize=(9.5, 3.6), layout="constrained")
    ax = figure.subplots()
    for side in ("left_hand", "left_foot"):
        frame = robot.description.end_effectors[side]
        needed = np.abs(kd.dynamics.inverse(robot, some, still, still, wrenches={frame: wrench}))[..., 6:]
        ax.plot(weights, 100 * np.all(needed < robot.limits.effort[6:], axis=-1).mean(axis=-1), label=side)
    ax.set(title="random postures that can hold a weight", xlabel="weight [kg]", ylabel="postures [%]")
    ax.grid(alpha=0.3)
    ax.legend(fontsize=9)
    figure.savefig(options.plot, dpi=80)
