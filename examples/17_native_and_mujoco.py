"""Validation against a physics engine: the native simulator and MuJoCo give the same motion.

First without contacts, where only the integrators can differ; then a humanoid that is dropped from 1 cm above the floor
and stands, where the contact models differ too. --plot FILE draws a swinging arm and the foot forces of both engines.
"""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
Array = NDArray[np.float64]

# Without contacts: half a second under gravity from a random state. MuJoCo's Euler is our semi-implicit method; the
# fourth-order methods differ in how they integrate the rotation of a floating base, by O(dt^4).
print(f"{'difference after 0.5 s':24} {'semi-implicit':>14} {'rk4, 10 ms':>14} {'rk4, 5 ms':>14}")
for name in ("planar3r", "scara", "puma560", "panda", "humanoid"):
    robot = kd.load(name)
    q0, v0 = robot.random(seed=0), 0.5 * np.random.default_rng(0).normal(size=robot.nv)
    row = []
    for native, other, dt in (("semi-implicit", "euler", 5e-3), ("rk4", "rk4", 1e-2), ("rk4", "rk4", 5e-3)):
        ours = kd.sim.simulate(robot, None, 0.5, q0=q0, v0=v0, dt=dt, integrator=native, stops=None, friction=False)
        theirs = kd.sim.simulate(
            robot, None, 0.5, q0=q0, v0=v0, dt=dt, engine="mujoco", integrator=other,
            contacts=False, limits=False, joint_friction=False,
        )  # fmt: skip
        row.append(np.abs(robot.difference(ours.q[-1], theirs.q[-1])).max())
    print(f"{name:24} " + " ".join(f"{x:14.1e}" for x in row))

# Standing: joint PD with gravity compensation, gains from a natural frequency and the inertia of each joint.
robot = kd.load("humanoid")
start = robot.configuration("standing")
start[2] += 0.01 - kd.kinematics.pose(robot, start, "left_sole")[2, 3]
inertia = np.diag(kd.dynamics.mass_matrix(robot, start))
frequency = 40.0


def keep_standing(t: float, state: kd.State) -> Array:
    a_desired = frequency**2 * robot.difference(state.q, start) - 2 * frequency * state.v
    tau = kd.dynamics.gravity(robot, state.q) + inertia * a_desired
    tau[:6] = 0.0
    return tau


# The sole is a box in the description; its corners are hard contacts.
foot = next(link for link in robot.description.links if link.name == "left_foot").collisions[0]
half = 0.5 * np.array(foot.size)
box = np.array([[x, y, -1.0] for x in (-1, 1) for y in (-1, 1)]) * half
corners = box @ foot.T_link_shape[:3, :3].T + foot.T_link_shape[:3, 3]
feet = [kd.contact.Contact(frame, corners=corners, friction=1.0) for frame in ("left_foot", "right_foot")]

runs = {
    "native": kd.sim.simulate(robot, keep_standing, 0.5, q0=start, contacts=feet),
    "mujoco": kd.sim.simulate(robot, keep_standing, 0.5, q0=start, engine="mujoco", frames=("left_foot", "right_foot")),
}
weight = 9.81 * robot.mass
print(f"\n{'standing':24} {'landed':>10} {'force / weight':>14} {'CoM height':>14}")
for name, run in runs.items():
    force = run.forces["left_foot"][:, 2] + run.forces["right_foot"][:, 2]
    landed = run.time[np.flatnonzero(run.contacts["left_foot"])[0]]
    com = kd.kinematics.com(robot, run.q[-1])[2]
    print(f"{name:24} {landed:8.3f} s {force[-200:].mean() / weight:14.4f} {com:12.5f} m")
apart = robot.difference(runs["native"].q[-1], runs["mujoco"].q[-1])
print(f"at the end the joints differ by at most {np.rad2deg(np.abs(apart[6:]).max()):.2f} deg")

# The MuJoCo model is available as an object and as MJCF.
model = kd.sim.to_mujoco(robot, friction=0.8)
print(f"\nas a MuJoCo model: {model.nbody} bodies, {model.ngeom} shapes, {model.nu} motors,", end=" ")
print(f"{len(kd.sim.to_mjcf(robot))} characters of MJCF")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    swing, stand = figure.subplots(1, 2)
    arm = kd.load("puma560").replace(damping=0.0)
    free: dict[str, Any] = {"integrator": "rk4", "q0": [0.0, 0.9, -2.2, 0.3, 0.5, 0.0], "dt": 2e-3}
    ours = kd.sim.simulate(arm, None, 2.0, stops=None, friction=False, **free)
    theirs = kd.sim.simulate(
        arm, None, 2.0, engine="mujoco", contacts=False, limits=False, joint_friction=False, **free
    )
    for k in range(3):
        swing.plot(ours.time, np.rad2deg(ours.q[:, k]), color=f"C{k}", label=f"joint {k + 1}")
        swing.plot(theirs.time[::40], np.rad2deg(theirs.q[::40, k]), "o", color=f"C{k}", mfc="none", ms=5)
    apart = np.abs(ours.q - theirs.q).max()
    swing.set(title=f"puma560 swings, at most {apart:.0e} rad apart", xlabel="time [s]", ylabel="[deg]")
    for (name, run), style in zip(runs.items(), ("-", "--"), strict=True):
        stand.plot(run.time, run.forces["left_foot"][:, 2], style, label=name)
    stand.axhline(weight / 2, color="0.6", lw=1, label="half of the weight")
    stand.set(title="force under the left foot", xlabel="time [s]", ylabel="[N]", ylim=(0.0, 800.0))
    for ax in (swing, stand):
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    swing.plot([], [], "ko", mfc="none", ms=5, label="MuJoCo")
    swing.legend(fontsize=8)
    figure.savefig(options.plot, dpi=80)
