"""Jacobians: joint velocities to the twist of the hand, forces at the hand to joint torques, singularities.

--plot FILE draws velocity ellipses, and how manipulability vanishes at the singularity.
"""

import argparse

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
np.set_printoptions(precision=3, suppress=True)
robot = kd.load("ur5")
hand = robot.frame_names[-1]
q = np.deg2rad([0.0, -60.0, 90.0, -120.0, -90.0, 0.0])

# Joint velocities to the twist of the hand [m/s, rad/s], linear part first, in world axes.
J = kd.kinematics.jacobian(robot, q, hand)
v = np.deg2rad([20.0, 0.0, 0.0, 0.0, 0.0, 0.0])
print("hand velocity when the base joint turns at 20 deg/s:", J @ v)

# The same by finite differences of the pose.
step = 1e-6
ahead, behind = (kd.kinematics.pose(robot, q + s * v, hand)[:3, 3] for s in (step, -step))
print("by finite differences:                             ", (ahead - behind) / (2 * step))

# Joint velocities that move the hand straight down at 0.1 m/s without rotating it.
down = np.array([0.0, 0.0, -0.1, 0.0, 0.0, 0.0])
print("joint velocities for 0.1 m/s downwards [deg/s]:", np.rad2deg(np.linalg.solve(J, down)))

# The transpose maps a force at the hand to joint torques: 50 N pushing down.
push = np.array([0.0, 0.0, -50.0, 0.0, 0.0, 0.0])
print("torques that balance a push of 50 N [N m]:", -J.T @ push)

# The reference: which point moves, and in which axes.
for reference in ("local_world_aligned", "local", "world"):
    print(f"  {reference:19}", kd.kinematics.jacobian(robot, q, hand, reference=reference) @ v)

# Distance from the singularity as the elbow straightens: one call for the whole sweep.
elbow = np.deg2rad(np.linspace(90.0, 0.0, 7))
sweep = np.tile(q, (len(elbow), 1))
sweep[:, 2] = elbow
J_sweep = kd.kinematics.jacobian(robot, sweep, hand)
smallest = np.linalg.svd(J_sweep, compute_uv=False)[:, -1]
print("\nelbow [deg]   smallest singular value   manipulability")
for angle, value, measure in zip(elbow, smallest, kd.kinematics.manipulability(robot, sweep, hand), strict=True):
    print(f"{np.rad2deg(angle):11.0f} {value:25.4f} {measure:16.5f}")

# The time derivative of the Jacobian, for accelerations: a_hand = J a + J_dot v.
v = np.full(robot.nv, 0.5)
a = np.zeros(robot.nv)
J_dot = kd.kinematics.jacobian_dot(robot, q, v, hand)
print("\nacceleration of the hand at constant joint velocities:", J @ a + J_dot @ v)

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    plane, turn = kd.load("planar2r"), np.linspace(0.0, 2 * np.pi, 100)
    for k, bend in enumerate(np.deg2rad([150.0, 100.0, 50.0, 5.0])):
        posture = np.array([0.9 - 0.45 * k, bend])  # joint velocities of norm 1 give an ellipse of hand velocities
        points = kd.kinematics.poses(plane, posture, frames=["base", "link1", "link2"])[:, :2, 3]
        speeds = kd.kinematics.jacobian(plane, posture, "link2")[:2] @ np.array([np.cos(turn), np.sin(turn)])
        left.plot(*points.T, "o-", color=f"C{k}", lw=2.5, label=f"elbow {np.rad2deg(bend):.0f} deg")
        left.plot(*(points[-1][:, None] + 0.25 * speeds), color=f"C{k}", lw=1.2)
    left.set(title="hand velocities for joint velocities of norm 1", aspect="equal", xlabel="x [m]", ylabel="y [m]")
    right.plot(np.rad2deg(elbow), smallest, "o-", label="smallest singular value")
    right.plot(np.rad2deg(elbow), kd.kinematics.manipulability(robot, sweep, hand), "s-", label="manipulability")
    right.set(title="ur5: the elbow straightens", xlabel="elbow [deg]")
    right.invert_xaxis()
    for ax in (left, right):
        ax.grid(alpha=0.3)
        ax.legend(fontsize=9)
    figure.savefig(options.plot, dpi=80)
