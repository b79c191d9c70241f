"""Plan a walk: footsteps, zero moment point (ZMP), centre of mass (CoM) and feet, checked by inverse kinematics.

--robot talos or g1 takes another humanoid (needs the extra "robots"); --plot FILE draws the result.
"""

import argparse
import warnings

import numpy as np

import kinodyn as kd
from kinodyn.walking.phases import place

walking = kd.walking


def plot(file: str, pattern: walking.Pattern) -> None:
    """Draw footsteps, ZMP and CoM from above, and over time below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 7.0), layout="constrained")
    above, sideways, heights = figure.subplots(3, 1, height_ratios=(2.0, 1.0, 0.8))
    body, colours = pattern.body, {"left": "tab:blue", "right": "tab:orange"}
    start = walking.standing_feet(body).values()
    for step in (*start, *pattern.footsteps):
        outline = place(body.feet[step.side].corners, step)
        above.fill(*outline.T, color=colours[step.side], alpha=0.25, lw=0)
        above.plot(*np.vstack([outline, outline[:1]]).T, color=colours[step.side], lw=1)
    above.plot(*pattern.zmp.T, "k.", ms=2, label="ZMP")
    above.plot(*pattern.com[:, :2].T, color="tab:red", lw=2, label="CoM")
    above.plot(*pattern.dcm.T, color="tab:green", lw=1, label="DCM")
    for side, T in pattern.soles.items():
        above.plot(*T[:, :2, 3].T, ":", color=colours[side], lw=1)
        heights.plot(pattern.time, 1e3 * T[:, 2, 3], color=colours[side], label=f"{side} foot")
    above.set(
        aspect="equal", xlabel="x [m]", ylabel="y [m]", title=f"{body.robot.name}: {len(pattern.footsteps)} steps"
    )
    for values, colour in ((pattern.zmp, "black"), (pattern.com, "tab:red"), (pattern.dcm, "tab:green")):
        sideways.plot(pattern.time, values[:, 1], color=colour, lw=1.2)
    sideways.set(ylabel="y [m]")
    heights.set(xlabel="time [s]", ylabel="height [mm]")
    above.legend(loc="upper left", fontsize="small")
    heights.legend(loc="upper right", fontsize="small")
    for axis in (above, sideways, heights):
        axis.grid(alpha=0.3)
    figure.savefig(file, dpi=90)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--robot", default="humanoid", help="name of the robot")
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
warnings.simplefilter("ignore", kd.DescriptionWarning)  # details of the files do not matter here

# Feet, legs, stance and step lengths are measured on the robot's description.
body = walking.Biped.from_robot(kd.load(options.robot))
limits, settings = walking.StepLimits.from_robot(body), walking.GaitSettings.from_robot(body)
fastest = limits.max_velocity(settings.step_time)
print(f"legs {body.leg:.2f} m, hips {body.width:.2f} m apart, CoM at {body.com_height:.2f} m")
print(f"steps of {settings.step_time:.2f} s, up to {limits.forward:.2f} m forward and {limits.max_width:.2f} m wide")
print(f"fastest: {fastest[0]:.2f} m/s forward, {fastest[1]:.2f} m/s sideways, {fastest[2]:.2f} rad/s turning")

# A walk on an arc, by three methods.
METHODS: tuple[walking.pattern.Method, ...] = ("dcm", "mpc", "preview")
for method in METHODS:
    walk = walking.walking_pattern(body, velocity=[0.3, 0, 0.25], steps=6, limits=limits, method=method)
    inside = 1e3 * walk.margins().min()
    print(f"{method:8} ZMP at least {inside:.0f} mm inside, CoM ends at {walk.com[-1].round(3)}")

# To a goal, and the joint motion for it by IK, before any simulation.
pattern = walking.walking_pattern(body, goal=[1.2, 0.6, 1.0], limits=limits)
result = pattern.check(every=0.1)
print(f"to the goal: {len(pattern.footsteps)} steps, {pattern.time[-1]:.1f} s, {result.status}")
print(
    f"  feet and CoM tracked to {1e3 * result.error:.1e} mm, fastest joint at {100 * result.speed:.0f} % of its limit"
)

# A velocity beyond the limits is an error that names the limit.
try:
    walking.walking_pattern(body, velocity=[2.0, 0, 0], limits=limits)
except kd.InputError as error:
    print(error)

# At run time: the planner replans periodically and is sampled at every control tick.
planner = walking.Planner(body, limits=limits)
planner.command([0.3, 0, 0])
for tick in range(1500):
    t = 0.001 * tick
    if tick % 25 == 0:
        planner.update(t)
    reference = planner.reference(t)
phase, left = reference.phase.kind, reference.remaining
print(f"after {t:.1f} s: {phase} support, CoM at {reference.com.round(3)}, {left:.2f} s to go")

if options.plot:
    plot(options.plot, pattern)
