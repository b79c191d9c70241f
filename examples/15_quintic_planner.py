"""Quintic trajectories: between two states, through waypoints, as fast as the limits allow, checked throughout.

--plot FILE compares quintic and cubic, and draws the arm's motion at three speeds.
"""

import argparse

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
tr = kd.trajectory

# One joint from rest to rest: polynomial coefficients in increasing powers of time.
quintic = tr.quintic([15.0], [75.0], 3.0)
coefficients = quintic.coefficients[:, 0, 0] + 15.0 * np.eye(6)[0]  # stored relative to the start
print("from 15 to 75 degrees in 3 s, coefficients:", coefficients.round(4) + 0.0)
print("        time  position  velocity  acceleration")
for t in np.linspace(0.0, 3.0, 7):
    print(f"        {t:4.1f}  {quintic(t)[0]:8.3f}  {quintic(t, 1)[0]:8.3f}  {quintic(t, 2)[0]:12.3f}")
v_max, a_max = 15 / 8 * 60.0 / 3.0, 10 / np.sqrt(3) * 60.0 / 3.0**2  # closed form for a quintic from rest to rest
times = np.linspace(0.0, 3.0, 30_001)
found = [np.abs(quintic(times, order)).max() for order in (1, 2)]
print(f"peaks {found[0]:.4f} deg/s and {found[1]:.4f} deg/s^2, by the formula {v_max:.4f} and {a_max:.4f}")

# Non-zero boundary conditions: position, velocity and acceleration at both ends.
moving = tr.quintic([0.0], [1.0], 1.0, v0=[0.5], v1=[-0.2], a0=[1.0], a1=[0.0])
ends = [[float(value) for value in (moving(t)[0], moving(t, 1)[0], moving(t, 2)[0])] for t in (0.0, 1.0)]
print("\nstates at both ends:", (np.round(ends, 9) + 0.0).tolist())

# Through waypoints of an arm: the minimum-jerk spline, first with times that are too short.
robot = kd.load("panda")
q = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
waypoints = q + np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.8, 0.3, 0.2, 0.6, -0.3, 0.4, 0.2],
        [1.4, 0.8, -0.2, 0.9, 0.2, -0.2, 0.8],
        [0.6, 0.4, -0.6, -0.4, 0.9, 0.1, 1.4],
    ]
)
hasty = tr.quintic_spline(waypoints, [0.0, 0.3, 0.6, 1.0], robot=robot)
print("\nin 1 s:")
print(tr.check(robot, hasty))

# The smallest uniform slow-down, and the time-optimal speed along the same path.
slower = tr.retime(robot, hasty)
assert slower.trajectory is not None
print(f"\nslowed down {slower.factor:.3f} times, {slower.trajectory.duration:.3f} s:")
print(slower.check)
along = tr.retime(robot, hasty, acceleration=15.0, method="path")
assert along.trajectory is not None
print(f"time-optimal along the path with 15 rad/s^2, {along.trajectory.duration:.3f} s:")
print(along.check)

# With jerk limits, passing waypoints instead of stopping at them.
through = tr.jerk_limited_waypoints(waypoints, acceleration=15.0, jerk=200.0, robot=robot)
print(f"\njerk-limited through the waypoints {through.trajectory.duration:.3f} s, stopping {through.stopping:.3f} s")

# If no slow-down helps, the result says why.
weak = tr.retime(robot, hasty, torque={"panda_joint2": 15.0})
print(f"with a weak shoulder: {weak.status}: {weak.reason}")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 5.2), layout="constrained")
    one, arm = figure.subplots(3, 2, sharex="col").T
    t, cubic = np.linspace(0.0, 3.0, 200), tr.cubic([15.0], [75.0], 3.0)
    paces = {"in 1 s, too fast": hasty, "slowed down": slower.trajectory, "time-optimal": along.trajectory}
    for order, (unit, word) in enumerate((("deg", "position"), ("deg/s", "velocity"), ("deg/s²", "acceleration"))):
        one[order].plot(t, quintic(t, order)[:, 0], label="quintic")
        one[order].plot(t, cubic(t, order)[:, 0], "--", label="cubic")
        one[order].set_ylabel(f"{word} [{unit}]")
        for name, motion in paces.items():
            at = np.linspace(0.0, motion.duration, 400)
            arm[order].plot(at, np.rad2deg(motion(at, order)[:, 3]), label=name)
    for sign in (-1, 1):
        arm[1].axhline(sign * np.rad2deg(robot.limits.velocity[3]), color="tab:red", ls="--", lw=1)
    one[0].set_title("one joint from rest to rest")
    arm[0].set_title("panda_joint4 through waypoints, limits red")
    for column in (one, arm):
        column[0].legend(fontsize=8)
        column[2].set_xlabel("time [s]")
        for ax in column:
            ax.grid(alpha=0.3)
    figure.savefig(options.plot, dpi=80)
