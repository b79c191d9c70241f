"""Plan a walk: footsteps, zero moment point, centre of mass and feet; try it with inverse kinematics.

--robot talos or g1 does the same with these (needs the extra "robots"); --plot FILE draws it from above.
"""

import argparse
import warnings

import numpy as np

import kinodyn as kd
from kinodyn.walking.phases import place

walking = kd.walking


def plot(file: str, pattern: walking.Pattern) -> None:
    """Draw footsteps, zero moment point and centre of mass from above, and over time below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 7.0), layout="constrained")
    above, sideways, heights = figure.subplots(3, 1, height_ratios=(2.0, 1.0, 0.8))
    body, colours = pattern.body, {"left": "tab:blue", "right": "tab:orange"}
    start = walking.standing_feet(body).values()
    for step in (*start, *pattern.footsteps):
        outline = place(body.feet[step.side].corners, step)
        above.fill(*outline.T, color=colours[step.side], alpha=0.25, lw=0)
        above.plot(*np.vstack([outline, outline[:1]]).T, color=colours[step.side], lw=1)
    above.plot(*pattern.zmp.T, "k.", ms=2, label="zero moment point")
    above.plot(*pattern.com[:, :2].T, color="tab:red", lw=2, label="centre of mass")
    above.plot(*pattern.dcm.T, color="tab:green", lw=1, label="divergent component")
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
parser.add_argument("--robot", default="humanoid", help="which robot")
parser.add_argument("--plot", metavar="FILE", help="where to write the picture")
options = parser.parse_args()
warnings.simplefilter("ignore", kd.DescriptionWarning)  # details of the files that do not matter here

# What the robot is: feet, legs, how it stands and how far it steps, all measured on its description.
body = walking.Biped.of(kd.load(options.robot))
limits, timing = walking.StepLimits.of(body), walking.Timing.of(body)
fastest = limits.largest(timing.step)
print(f"legs {body.leg:.2f} m, hips {body.width:.2f} m apart, mass {body.com_height:.2f} m high")
print(f"steps of {timing.step:.2f} s, up to {limits.forward:.2f} m forward and {limits.widest:.2f} m wide")
print(f"fastest: {fastest[0]:.2f} m/s forward, {fastest[1]:.2f} m/s sideways, {fastest[2]:.2f} rad/s turning")

# A walk on an arc, by three methods.
METHODS: tuple[walking.pattern.Method, ...] = ("dcm", "mpc", "preview")
for method in METHODS:
    walk = walking.walking_pattern(body, velocity=[0.3, 0, 0.25], steps=6, limits=limits, method=method)
    inside = 1e3 * walk.margins().min()
    print(f"{method:8} zero moment point at least {inside:.0f} mm inside, mass ends at {walk.com[-1].round(3)}")

# To a goal; then the joints for it, before any simulation.
pattern = walking.walking_pattern(body, goal=[1.2, 0.6, 1.0], limits=limits)
result = pattern.check(every=0.1)
print(f"to the goal: {len(pattern.footsteps)} steps, {pattern.time[-1]:.1f} s, {result.status}")
print(f"  feet and mass met to {1e3 * result.error:.1e} mm, fastest joint at {100 * result.speed:.0f} % of its limit")

# Too fast is an error that says how fast it could be.
try:
    walking.walking_pattern(body, velocity=[2.0, 0, 0], limits=limits)
except kd.InputError as error:
    print(error)

# At run time the same in small pieces: the planner is asked at every tick, and told what was measured.
planner = walking.Planner(body, limits=limits)
planner.command([0.3, 0, 0])
for tick in range(1500):
    t = 0.001 * tick
    if tick % 25 == 0:
        planner.update(t)
    reference = planner.reference(t)
print(
    f"after {t:.1f} s: {reference.phase.kind} support, mass at {reference.com.round(3)}, {reference.left:.2f} s to go"
)

if options.plot:
    plot(options.plot, pattern)
