"""Centre of mass, zero moment point and support polygon of a humanoid; then keep its pendulum upright under pushes."""

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

balance, lipm = kd.balance, kd.balance.lipm
robot = kd.load("humanoid")
q, still = robot.configuration("standing"), np.zeros(robot.nv)

# Where the mass is, what it stands on, and how far it is from tipping over.
feet = balance.feet(robot)
com = kd.kinematics.com(robot, q)
polygon = balance.support_polygon(robot, q, feet)
print(f"feet: {', '.join(f'{foot.side} {foot.frame} {foot.size.round(3)} m' for foot in feet)}")
print(f"centre of mass {com.round(3)} m, {1e3 * balance.support_margin(robot, q, feet, com):.0f} mm inside the feet")

# The zero moment point twice: from the motion, and from the forces that the ground exerts for it.
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
print(f"zero moment point {from_motion[:2].round(4)} m, from forces it differs by {apart:.1e} m")

# As a pendulum: how fast it falls, which pushes it survives on its feet and with steps.
omega = lipm.natural_frequency(com[2] - ground)
print(f"natural frequency {omega:.2f} 1/s")
angles = np.arange(8) * np.pi / 4
ways = np.column_stack([np.cos(angles), np.sin(angles)])
bounds = balance.push_bound(polygon, com[:2], ways, omega, robot.mass)
for steps in (0, 1, 2, np.inf):
    reach = balance.capture_distance(steps, omega, step_time=0.5, step_length=0.5, foot_radius=0.1)
    print(f"  with {steps} steps of 0.5 m in 0.5 s the capture point may be {reach:.3f} m away")


def survives(push: NDArray[np.float64]) -> bool:
    """Let the pendulum be pushed [N s] and held by capture point feedback, its pressure within the feet."""
    c, velocity = com[:2].copy(), push / robot.mass
    for _ in range(300):
        xi = lipm.dcm(c, velocity, omega)
        pressure = balance.dcm_feedback(xi, com[:2], com[:2], omega, gain=omega, polygon=polygon)
        c, velocity = lipm.move(c, velocity, pressure, omega, 0.01)
    return bool(np.linalg.norm(c - com[:2]) < 0.05)


print("pushes in eight directions: bound [N s], survived at 95 %, at 105 %, what to do at 105 %")
for way, bound in zip(ways, bounds, strict=True):
    beyond = com[:2] + 1.05 * bound * way / (robot.mass * omega)
    hip = balance.hip_reach(60.0, 4.0, 0.8, robot.mass, omega)
    advice = balance.strategy(balance.margin(polygon, beyond), hip=hip, step=0.3)
    below, above = (survives(share * bound * way) for share in (0.95, 1.05))
    print(f"  {way.round(2)} {bound:6.1f} {below!s:>6} {above!s:>6} {advice}")
