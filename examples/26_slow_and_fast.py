"""Slow and fast: joint torques of a humanoid, from a textbook recursion in NumPy to one batched call.

All variants compute the same numbers; they differ in the amount of Python per state. --plot FILE draws the times, which
depend on the machine: compare their ratios.
"""

import argparse
import os
import timeit
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.description import Inertia

Array: TypeAlias = NDArray[np.float64]
robot = kd.load("humanoid", base="fixed").replace(damping=0.0, armature=0.0)
joints = robot.description.joints
inertias = {link.name: link.inertia or Inertia(0.0, np.zeros(3), np.zeros((3, 3))) for link in robot.description.links}


def cross(a: Array, b: Array) -> Array:
    """Return the cross product of two vectors; numpy.cross is slower for single ones."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def textbook(q: Array, v: Array, a: Array) -> Array:
    """Compute torques by the recursion of Luh, Walker and Paul (1980): motions outwards, forces inwards."""
    zero, links, tau = np.zeros(3), [], np.zeros(len(joints))
    motions = {joints[0].parent: (zero, zero, -np.array(robot.gravity))}
    for k, joint in enumerate(joints):
        axis, p = np.asarray(joint.axis), joint.T_parent_child[:3, 3]
        R = joint.T_parent_child[:3, :3] @ kd.spatial.exp3(axis * q[k])
        w, dw, acc = motions[joint.parent]
        acc = R.T @ (acc + cross(dw, p) + cross(w, cross(w, p)))
        w, dw = R.T @ w, R.T @ dw
        motions[joint.child] = (w + axis * v[k], dw + axis * a[k] + cross(w, axis * v[k]), acc)
        links.append((axis, p, R))
    loads = dict.fromkeys(motions, (zero, zero))
    for k, joint in reversed(list(enumerate(joints))):
        (axis, p, R), (force, moment) = links[k], loads[joint.child]
        w, dw, acc = motions[joint.child]
        body = inertias[joint.child]
        own = body.mass * (acc + cross(dw, body.com) + cross(w, cross(w, body.com)))
        force, moment = force + own, moment + body.matrix @ dw + cross(w, body.matrix @ w) + cross(body.com, own)
        tau[k] = axis @ moment
        above = loads[joint.parent]
        loads[joint.parent] = (above[0] + R @ force, above[1] + R @ moment + cross(p, R @ force))
    return tau


def microseconds(run: Callable[[], object], states: int, times: int = 5) -> float:
    """Return the shortest time of several runs, per state."""
    return 1e6 * min(timeit.repeat(run, number=1, repeat=times)) / states


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
n, q = 20_000, robot.random(20_000, seed=0)
v, a = np.random.default_rng(0).normal(size=(2, n, robot.nv))
tau, inverse = np.empty((n, robot.nv)), kd.dynamics.inverse

# Torques of many states: the fewer Python calls, the faster.
kd.set_threads(1)
rows = {
    "textbook recursion in NumPy": microseconds(lambda: [textbook(q[i], v[i], a[i]) for i in range(20)], 20, 3),
    "one call per state": microseconds(lambda: [inverse(robot, q[i], v[i], a[i]) for i in range(500)], 500),
    "one call for all states": microseconds(lambda: inverse(robot, q, v, a, out=tau), n),
}
kd.set_threads(os.cpu_count() or 1)
rows[f"one call on {os.cpu_count()} cores"] = microseconds(lambda: inverse(robot, q, v, a, out=tau), n)
print(f"torques of {robot.nv} joints          per state    speedup")
for name, taken in rows.items():
    print(f"  {name:28} {taken:9.2f} us {rows['textbook recursion in NumPy'] / taken:8.0f} x")
print(f"the textbook recursion differs by at most {np.abs(textbook(q[0], v[0], a[0]) - tau[0]).max():.0e} N m")

# A control loop needs many quantities of one state, and the next state is not known yet, so batches do not help. State
# computes all quantities in one pass and reuses its arrays.
ends, state = ("left_palm", "right_palm", "left_sole", "right_sole"), kd.State(robot, q[0], v[0])


def by_functions(i: int) -> list[Array]:
    poses = [kd.kinematics.pose(robot, q[i], end) for end in ends]
    jacobians = [kd.kinematics.jacobian(robot, q[i], end) for end in ends]
    com = [kd.kinematics.com(robot, q[i]), kd.kinematics.com_jacobian(robot, q[i])]
    return [*poses, *jacobians, *com, kd.dynamics.mass_matrix(robot, q[i]), kd.dynamics.bias(robot, q[i], v[i])]


def by_state(i: int) -> list[Array]:
    state.update(q[i], v[i])
    frames = [state.pose(end) for end in ends] + [state.jacobian(end) for end in ends]
    return [*frames, state.com, state.com_jacobian, state.mass_matrix, state.bias]


loop = {
    "twelve calls per tick": microseconds(lambda: [by_functions(i) for i in range(500)], 500),
    "one State per tick": microseconds(lambda: [by_state(i) for i in range(500)], 500),
}
apart = max(np.abs(x - y).max() for x, y in zip(by_functions(0), by_state(0), strict=True))
print(f"\nposes and Jacobians of hands and feet, mass matrix, bias, CoM; both differ by at most {apart:.0e}")
for name, taken in loop.items():
    print(f"  {name:28} {taken:9.2f} us {loop['twelve calls per tick'] / taken:8.1f} x")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.4), layout="constrained")
    ax = figure.subplots()
    names, times = [*rows, *loop], [*rows.values(), *loop.values()]
    bars = ax.barh(names[::-1], times[::-1], color=["tab:orange"] * len(loop) + ["tab:blue"] * len(rows))
    ax.bar_label(bars, [f" {x:,.1f} µs" for x in times[::-1]])
    ax.set(xscale="log", xlim=(0.1, 5 * max(times)), xlabel="time per state [µs]")
    ax.set_title(f"torques of {robot.nv} joints (blue), a control tick (orange)")
    ax.grid(alpha=0.3, axis="x")
    figure.savefig(options.plot, dpi=80)
