"""Recover from pushes by the capture point: within the feet pressure is enough, beyond them only a step helps.

The capture point (divergent component) is where a pendulum would have to put its foot to come to rest: c + c'/w. The
humanoid stands in MuJoCo and is pushed, once with its feet held where they are and once free to step.
With --plot FILE the same push is drawn for both, over time.
"""

import argparse
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

Array: TypeAlias = NDArray[np.float64]
START, LASTS, SECONDS = 0.3, 0.05, 2.6  # [s]: when the push comes, how long it lasts, how long we watch
robot = kd.load("humanoid")
body = kd.walking.Biped.of(robot)


def push(way: Array, impulse: float) -> kd.sim.Push:
    """Make a push [N s] that acts as if at the centre of mass, so that it moves but does not turn the robot."""
    force = impulse / LASTS * np.array([*way, 0.0])
    arm = np.array([0.0, 0.0, body.com_height - body.base[2, 3]])
    return kd.sim.Push(robot.joints[0].child, [*force, *np.cross(arm, force)], start=START, duration=LASTS)


def run(way: Array, impulse: float, *, stepping: bool) -> tuple[kd.Recording, float | None]:
    """Push the standing robot; give the recording, and when it fell [s] or None."""
    simulator = kd.sim.MujocoSimulator(robot, frames=[foot.frame for foot in body.feet.values()])
    planner = kd.walking.Planner(body, adapt=stepping)
    controller = kd.walking.WalkingController(body, forces=simulator.contact_forces, planner=planner)
    recording = kd.sim.simulate(
        robot, controller, SECONDS, q0=body.q, engine=simulator, dt=simulator.dt, control_dt=controller.dt,
        record_dt=controller.dt, pushes=[push(way, impulse)], until=lambda t, state: controller.fallen is not None,
    )  # fmt: skip
    return recording, controller.fallen


def draw_time(ax: Any, recording: kd.Recording, title: str) -> None:
    """Draw the capture point, the mass and the feet that stand, forward over time."""
    t, stance = recording.time, recording.signals["stance"] > 0
    for (side, foot), on, colour in zip(body.feet.items(), stance.T, ("tab:blue", "tab:orange"), strict=True):
        x = foot.sole_pose(robot, recording.q)[:, 0, 3]
        heel, toe = x + foot.corners[:, 0].min(), x + foot.corners[:, 0].max()
        ax.fill_between(t, heel, toe, where=on, color=colour, alpha=0.25, lw=0, label=f"{side} foot stands")
    ax.plot(t, recording.signals["dcm"][:, 0], color="tab:green", label="capture point")
    ax.plot(t, kd.kinematics.com(robot, recording.q)[:, 0], color="tab:red", label="centre of mass")
    ax.axvspan(START, START + LASTS, color="0.7", lw=0, label="push")
    ax.set(title=title, xlabel="time [s]", ylabel="forward [m]", xlim=(0.0, SECONDS), ylim=(-0.2, 0.9))
    ax.grid(alpha=0.3)


def plot(file: str, held: kd.Recording, stepped: kd.Recording) -> None:
    """Draw the same push without and with steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    draw_time(left, held, f"feet held: falls at {held.time[-1]:.1f} s")
    draw_time(right, stepped, "free to step: stands again")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=9)
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="where to write the picture")
options = parser.parse_args()

# The pendulum's answer: a push moves the capture point by impulse / (m w); at the edge of the feet nothing is left.
com = kd.kinematics.com(robot, body.q)[:2]
polygon = kd.balance.support_polygon(robot, body.q, [*body.feet.values()])
longest, hurried = kd.walking.StepLimits.of(body).forward, 0.25  # [m], [s]: a step, and how soon it can land
ways = {"forward": np.array([1.0, 0.0]), "left": np.array([0.0, 1.0])}
bounds = {name: float(kd.balance.push_bound(polygon, com, way, body.omega, robot.mass)) for name, way in ways.items()}
print(f"{robot.mass:.0f} kg, mass {body.com_height:.2f} m high, natural frequency {body.omega:.2f} 1/s")
print("strongest push without a step, of the pendulum:", ", ".join(f"{k} {v:.1f} N s" for k, v in bounds.items()))
steps = np.array([0.0, 1.0, 2.0, np.inf])
room = kd.balance.capture_distance(steps, body.omega, hurried, longest, float(polygon[:, 0].max()))
for count, impulse in zip(steps, room * robot.mass * body.omega, strict=True):
    print(f"  with {count:.0f} steps forward of {longest:.2f} m in {hurried:.2f} s it could be {impulse:.1f} N s")


def landings(recording: kd.Recording) -> int:
    """Count how often a foot came down."""
    return int((np.diff((recording.signals["stance"] > 0).astype(int), axis=0) > 0).sum())


# The whole robot in MuJoCo, pushed below and beyond that. When the push ends, pressure has already begun to answer.
print("\npush     of the bound  capture point: expected, measured   feet held      free to step")
shown: dict[bool, kd.Recording] = {}
for name, share in (("forward", 0.7), ("forward", 1.5), ("left", 1.5)):
    way, impulse, ends = ways[name], share * bounds[name], []
    for stepping in (False, True):
        recording, fell = run(way, impulse, stepping=stepping)
        ends.append(f"falls at {fell:.1f} s" if fell else f"stands, {landings(recording)} steps")
        if (name, share) == ("forward", 1.5):
            shown[stepping] = recording
    after = recording.signals["dcm"][np.searchsorted(recording.time, START + LASTS)]
    expected = impulse / (robot.mass * body.omega)
    print(f"{name:8} {share:9.0%} {1e3 * expected:18.0f} mm {1e3 * (after - com) @ way:8.0f} mm", end="")
    print(f"    {ends[0]:16} {ends[1]}")

if options.plot:
    plot(options.plot, shown[False], shown[True])
