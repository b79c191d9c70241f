"""Parallel ankles: two motors drive each ankle through cranks and rods; positions, torques, singularities.

--plot FILE draws the mechanism and its transmission ratio.
"""

import argparse

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

# Two motors behind the shank, one above the other; cranks point backwards, rods go down to the heel. Points relative to
# the ankle in the axes of the shank [m], at zero angles.
MOTORS = np.array([[-0.01, 0.045, 0.30], [-0.01, -0.045, 0.20]])
CRANK_ENDS = MOTORS + [-0.05, 0.0, 0.0]
FOOT_POINTS = np.array([[-0.06, 0.045, -0.01], [-0.06, -0.045, -0.01]])


def ankle_of(side: str) -> kd.actuation.CrankAnkle:
    joints = (f"{side}_ankle_pitch", f"{side}_ankle_roll")
    return kd.actuation.CrankAnkle(MOTORS, [[0, 1, 0], [0, 1, 0]], CRANK_ENDS, FOOT_POINTS, joints=joints)


ankle = ankle_of("left")
print("joints [deg]        motors [deg]        and back")
for pitch_roll in np.deg2rad([[0, 0], [20, 0], [-20, 0], [0, 15], [20, -15]]):
    there = ankle.motor_positions(pitch_roll)
    back = ankle.joint_positions(there.values)
    texts = [str((np.rad2deg(x) + 0.0).round(2)) for x in (pitch_roll, there.values, back.values)]
    print(*(text.ljust(19) for text in texts), back.status)

# Motor torques while the humanoid stands, with its CoM slightly in front of the ankles.
robot = kd.load("humanoid")
q = robot.configuration("standing")
feet = [kd.contact.Contact(f"{side}_sole") for side in ("left", "right")]
J, weight = kd.contact.jacobian(robot, q, feet), kd.dynamics.gravity(robot, q)
forces = np.linalg.pinv(J.T[:6]) @ weight[:6]
tau = weight - J.T @ forces
own = [robot.joint(name).v.start for name in ankle.joints or ()]
at = q[[robot.joint(name).q.start for name in ankle.joints or ()]]
motor = ankle.motor_torque(at, tau[own])
print(f"\nstanding: ankle torques {tau[own].round(2)} N m, motor torques {motor.round(2)} N m")

# Power is the same at joints and motors.
rate = np.array([1.0, -0.5])
print(f"power at the joints {tau[own] @ rate:.6f} W, at the motors {motor @ ankle.motor_velocity(at, rate):.6f} W")

# All motors of the robot in one matrix: direct ones, and two for each ankle.
ankles = [ankle_of(side) for side in ("left", "right")]
coupled = {name for one in ankles for name in one.joints or ()}
direct = [name for name in robot.joint_names if name not in coupled]
B = kd.actuation.matrix(robot, q, [*direct, *ankles])
u = np.linalg.lstsq(B.T, tau, rcond=None)[0]
print(f"{len(B)} motors for {robot.nv} degrees of freedom; torques matched to {np.abs(B.T @ u - tau).max():.1e} N m")

# Reachable angles, and the distance from singularities.
pitch, roll = np.meshgrid(np.linspace(-1.2, 1.2, 121), np.linspace(-1.2, 1.2, 121), indexing="ij")
grid = np.stack([pitch, roll], axis=-1)
reached = ankle.motor_positions(grid).success
print(f"\n{reached.mean():.0%} of the square of +-{np.rad2deg(1.2):.0f} deg are reachable; from zero outwards:")
for angle in (0.0, 0.5, 0.8):
    near = ankle.singularity([angle, 0.0])
    gain = np.linalg.svd(ankle.jacobian([angle, 0.0]), compute_uv=False)
    sines = np.abs(near.motors).round(3)
    print(f"  pitch {angle:.1f}: sines at the cranks {sines}, foot {abs(near.foot):.3f}, gains {gain.round(2)}")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.6), layout="constrained")
    side, field = figure.subplots(1, 2, width_ratios=(1.0, 1.5))
    for angle, colour in zip((-0.4, 0.0, 0.4), ("C0", "0.3", "C1"), strict=True):
        turn = ankle.motor_positions([angle, 0.0]).values
        foot = FOOT_POINTS @ kd.spatial.rot_y(angle).T
        for k in range(2):
            end = MOTORS[k] + kd.spatial.rot_y(turn[k]) @ (CRANK_ENDS - MOTORS)[k]
            side.plot(*np.array([MOTORS[k], end])[:, [0, 2]].T, color=colour, lw=4)
            side.plot(*np.array([end, foot[k]])[:, [0, 2]].T, "o-", color=colour, lw=1.5, ms=4)
        sole = np.array([[-0.07, 0, -0.01], [0, 0, 0], [0.15, 0, -0.06], [-0.07, 0, -0.06], [-0.07, 0, -0.01]])
        label = f"pitch {np.rad2deg(angle):.0f} deg"
        side.plot(*(sole @ kd.spatial.rot_y(angle).T)[:, [0, 2]].T, color=colour, lw=1.5, label=label)
    side.plot(*MOTORS[:, [0, 2]].T, "ks", ms=7, zorder=5, label="motors")
    side.plot(0, 0, "k^", ms=8, zorder=5, label="ankle")
    side.set(aspect="equal", xlabel="x [m]", ylabel="z [m]", title="cranks, rods and foot from the side")
    side.legend(fontsize="small", loc="upper right")
    side.set_xlim(right=0.22)
    strength = np.full(pitch.shape, np.nan)
    strength[reached] = np.abs(np.linalg.det(ankle.jacobian(grid[reached])))
    shown = field.contourf(*np.rad2deg([pitch, roll]), np.minimum(strength, 4.0), levels=np.linspace(1.5, 4, 21))
    figure.colorbar(shown, ax=field, label="|det G|: torque gain of both joints together")
    field.contour(*np.rad2deg([pitch, roll]), reached, levels=[0.5], colors="tab:red", linewidths=2)
    field.set(xlabel="pitch [deg]", ylabel="roll [deg]", title="transmission; red: singular, crank and rod aligned")
    figure.savefig(options.plot, dpi=80)
