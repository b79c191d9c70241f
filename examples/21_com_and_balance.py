"""Balance: centre of mass (CoM), zero moment point (ZMP), support polygon, and a balance controller.

First the linear inverted pendulum (LIPM) of the robot under pushes in eight directions; then the whole robot in MuJoCo,
without stepping. --plot FILE draws capture point, CoM and ZMP from above and over time.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
balance, lipm = kd.balance, kd.balance.lipm
robot = kd.load("humanoid")
q, still = robot.configuration("standing"), np.zeros(robot.nv)

# The CoM, the support polygon, and the distance between them.
feet = balance.feet(robot)
com = kd.kinematics.com(robot, q)
polygon = balance.support_polygon(robot, q, feet)
print(f"feet: {', '.join(f'{foot.side} {foot.frame} {foot.size.round(3)} m' for foot in feet)}")
print(f"CoM {com.round(3)} m, {1e3 * balance.support_margin(robot, q, feet, com):.0f} mm inside the support polygon")

# The ZMP from the motion, and from the contact forces.
rng = np.random.default_rng(0)
v = 0.2 * rng.normal(size=robot.nv)
tau = kd.dynamics.gravity(robot, q) + 2.0 * rng.normal(size=robot.nv)
tau[:6] = 0.0
a, forces = kd.contact.dynamics(robot, q, v, tau, [foot.contact() for foot in feet])
ground = feet[0].sole_pose(robot, q)[2, 3]
from_motion = balance.zmp(robot, q, v, a, height=ground)
points = balance.sole_points(robot, q, feet)
from_forces = balance.zmp_from_forces(points, np.concatenate([*forces.values()]), height=ground)
apart = np.abs(from_motion - from_forces).max()
print(f"ZMP {from_motion[:2].round(4)} m from the motion, {apart:.1e} m from that of the forces")

# As a LIPM: its natural frequency, and the pushes it survives without a step.
omega = lipm.natural_frequency(com[2] - ground)
print(f"natural frequency {omega:.2f} 1/s")
angles = np.arange(8) * np.pi / 4
directions = np.column_stack([np.cos(angles), np.sin(angles)])
bounds = balance.push_bound(polygon, com[:2], directions, omega, robot.mass)


def survives(push: NDArray[np.float64]) -> bool:
    """Push the LIPM [N s] and stabilise it by capture point feedback with the ZMP inside the support polygon."""
    c, velocity = com[:2].copy(), push / robot.mass
    for _ in range(300):
        xi = lipm.dcm(c, velocity, omega)
        zmp = balance.dcm_feedback(xi, com[:2], com[:2], omega, gain=omega, polygon=polygon)
        c, velocity = lipm.move(c, velocity, zmp, omega, 0.01)
    return bool(np.linalg.norm(c - com[:2]) < 0.05)


print("pushes in eight directions: bound [N s], survived at 95 %, at 105 %, strategy at 105 %")
for direction, bound in zip(directions, bounds, strict=True):
    beyond = com[:2] + 1.05 * bound * direction / (robot.mass * omega)
    hip = balance.hip_reach(60.0, 4.0, 0.8, robot.mass, omega)
    advice = balance.strategy(balance.margin(polygon, beyond), hip=hip, step=0.3)
    below, above = (survives(fraction * bound * direction) for fraction in (0.95, 1.05))
    print(f"  {direction.round(2)} {bound:6.1f} {below!s:>6} {above!s:>6} {advice}")


# The whole robot: the same law moves the ZMP within the support polygon, inverse dynamics computes the torques.
body = kd.walking.Biped.from_robot(robot)
stand, soles = kd.kinematics.com(robot, body.q)[:2], [foot.frame for foot in body.feet.values()]
area = balance.support_polygon(robot, body.q, [*body.feet.values()])


def pushed(direction: NDArray[np.float64], impulse: float) -> kd.Recording:
    """Push the standing humanoid [N s] at half a second, for 50 ms."""
    simulator = kd.sim.MujocoSimulator(robot, frames=soles)
    planner = kd.walking.Planner(body, adapt=False)
    controller = kd.walking.WalkingController(body, planner=planner)
    force = np.array([*direction, 0.0]) * impulse / 0.05
    wrench = [*force, *np.cross([0.0, 0.0, body.com_height - body.base[2, 3]], force)]  # as a force at the CoM
    push = kd.sim.Push(robot.joints[0].child, wrench, start=0.5, duration=0.05)
    return kd.sim.simulate(
        robot, controller, 3.0, q0=body.q, engine=simulator, dt=simulator.dt, control_dt=2e-3, pushes=[push],
    )  # fmt: skip


print("\nthe humanoid in MuJoCo, pushed with 70 % of the bound of the LIPM")
runs = {}
for name, direction in {"forward": directions[0], "forward left": directions[1], "right": directions[6]}.items():
    impulse = 0.7 * float(balance.push_bound(area, stand, direction, body.omega, robot.mass))
    run = runs[name] = pushed(direction, impulse)
    off = np.linalg.norm(run.signals["dcm"] - stand, axis=1)
    pressed = balance.zmp_from_wrenches(robot, run.q[10:], {frame: run.forces[frame][10:] for frame in soles})
    least, halved = balance.margin(area, pressed[:, :2]).min(), run.time[np.flatnonzero(off > off.max() / 2)[-1]] - 0.5
    print(f"  {name:12} {impulse:5.1f} N s: capture point up to {1e3 * off.max():3.0f} mm away,", end=" ")
    print(f"ZMP at least {1e3 * least:3.0f} mm inside, error halved after {halved:.1f} s")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.4), layout="constrained")
    above, over_time = figure.subplots(1, 2)
    above.fill(*area.T, color="0.9", ec="0.5", label="support polygon")
    for k, (name, run) in enumerate(runs.items()):
        above.plot(*run.signals["dcm"].T, color=f"C{k}", label=f"capture point, pushed {name}")
        above.plot(*kd.kinematics.com(robot, run.q)[:, :2].T, ":", color=f"C{k}")
    run, force = runs["forward"], {frame: runs["forward"].forces[frame][10:] for frame in soles}
    pressed = balance.zmp_from_wrenches(robot, run.q[10:], force)
    over_time.plot(run.time[10:], pressed[:, 0], color="0.6", label="ZMP, measured")
    over_time.plot(run.time, run.signals["dcm"][:, 0], color="tab:green", label="capture point")
    over_time.plot(run.time, kd.kinematics.com(robot, run.q)[:, 0], color="tab:red", label="CoM")
    over_time.axhline(area[:, 0].max(), color="black", ls="--", lw=1, label="toes")
    above.set(title="from above, CoM dotted", aspect="equal", xlabel="x [m]", ylabel="y [m]")
    over_time.set(title="pushed forward", xlabel="time [s]", ylabel="x [m]")
    above.grid(alpha=0.3)
    over_time.grid(alpha=0.3)
    above.legend(fontsize=8, loc="upper left")
    over_time.legend(fontsize=8, loc="upper right", bbox_to_anchor=(1.0, 0.88))
    figure.savefig(options.plot, dpi=80)
