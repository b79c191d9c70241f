"""Push recovery by the capture point: inside the support polygon shifting the ZMP is enough, beyond it a step helps.

The capture point is where the linear inverted pendulum (LIPM) has to step to come to rest: c + c'/w. The humanoid
stands in MuJoCo and is pushed, once without and once with stepping. --plot FILE draws the same push for both.
"""

import argparse
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

Array: TypeAlias = NDArray[np.float64]
START, DURATION, SECONDS = 0.3, 0.05, 4.0  # [s]: start and duration of the push, duration of the simulation
robot = kd.load("humanoid")
body = kd.walking.Biped.from_robot(robot)


def push(direction: Array, impulse: float) -> kd.sim.Push:
    """Return a push [N s] equivalent to a force at the CoM, which does not rotate the robot."""
    force = impulse / DURATION * np.array([*direction, 0.0])
    arm = np.array([0.0, 0.0, body.com_height - body.base[2, 3]])
    return kd.sim.Push(robot.joints[0].child, [*force, *np.cross(arm, force)], start=START, duration=DURATION)


def run(direction: Array, impulse: float, *, stepping: bool) -> tuple[kd.Recording, float | None]:
    """Push the standing robot; return the recording, and the time of the fall [s] or None.

    Once the robot has tipped onto its toes this time depends on the last digit of every number.
    """
    simulator = kd.sim.MujocoSimulator(robot, frames=[foot.frame for foot in body.feet.values()])
    planner = kd.walking.Planner(body, adapt=stepping)
    controller = kd.walking.WalkingController(body, planner=planner)
    recording = kd.sim.simulate(
        robot, controller, SECONDS, q0=body.q, engine=simulator, dt=simulator.dt, control_dt=controller.dt,
        record_dt=controller.dt, pushes=[push(direction, impulse)], until=lambda t, _: controller.fallen is not None,
    )  # fmt: skip
    return recording, controller.fallen


def draw_time(ax: Any, recording: kd.Recording, title: str) -> None:
    """Draw capture point, CoM and stance feet along x over time."""
    t, stance = recording.time, recording.signals["stance"] > 0
    for (side, foot), on, colour in zip(body.feet.items(), stance.T, ("tab:blue", "tab:orange"), strict=True):
        x = foot.sole_pose(robot, recording.q)[:, 0, 3]
        heel, toe = x + foot.corners[:, 0].min(), x + foot.corners[:, 0].max()
        ax.fill_between(t, heel, toe, where=on, color=colour, alpha=0.25, lw=0, label=f"{side} foot in stance")
    ax.plot(t, recording.signals["dcm"][:, 0], color="tab:green", label="capture point")
    ax.plot(t, kd.kinematics.com(robot, recording.q)[:, 0], color="tab:red", label="CoM")
    ax.axvspan(START, START + DURATION, color="0.7", lw=0, label="push")
    ax.set(title=title, xlabel="time [s]", ylabel="forward [m]", xlim=(0.0, SECONDS), ylim=(-0.2, 0.9))
    ax.grid(alpha=0.3)


def plot(file: str, standing: kd.Recording, stepping: kd.Recording) -> None:
    """Draw the same push without and with steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    draw_time(left, standing, "without stepping: falls")
    draw_time(right, stepping, "with stepping: stays upright")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=9)
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

# For the LIPM a push moves the capture point by impulse / (m w); the bound is reached at the edge of the polygon.
com = kd.kinematics.com(robot, body.q)[:2]
polygon = kd.balance.support_polygon(robot, body.q, [*body.feet.values()])
step_length, step_time = kd.walking.StepLimits.from_robot(body).forward, 0.25  # [m], [s]: of a recovery step
directions = {"forward": np.array([1.0, 0.0]), "left": np.array([0.0, 1.0])}
bounds = {
    name: float(kd.balance.push_bound(polygon, com, direction, body.omega, robot.mass))
    for name, direction in directions.items()
}
print(f"{robot.mass:.0f} kg, CoM at {body.com_height:.2f} m, natural frequency {body.omega:.2f} 1/s")
print("strongest push of the LIPM without a step:", ", ".join(f"{k} {v:.1f} N s" for k, v in bounds.items()))
steps = np.array([0.0, 1.0, 2.0, np.inf])
room = kd.balance.capture_distance(steps, body.omega, step_time, step_length, float(polygon[:, 0].max()))
for count, impulse in zip(steps, room * robot.mass * body.omega, strict=True):
    print(f"  with {count:.0f} steps of {step_length:.2f} m in {step_time:.2f} s: {impulse:.1f} N s")


def touchdowns(recording: kd.Recording) -> int:
    """Count the touchdowns of the feet."""
    return int((np.diff((recording.signals["stance"] > 0).astype(int), axis=0) > 0).sum())


# The whole robot in MuJoCo, pushed below and beyond the bound. The controller already reacts during the push.
print("\npush     of the bound  capture point: expected, measured   no stepping    stepping")
shown: dict[bool, kd.Recording] = {}
for name, fraction in (("forward", 0.7), ("forward", 1.5), ("left", 1.5)):
    direction, impulse, ends = directions[name], fraction * bounds[name], []
    for stepping in (False, True):
        recording, fell = run(direction, impulse, stepping=stepping)
        ends.append("falls" if fell else f"stands, {touchdowns(recording)} steps")
        if (name, fraction) == ("forward", 1.5):
            shown[stepping] = recording
    after = recording.signals["dcm"][np.searchsorted(recording.time, START + DURATION)]
    expected = impulse / (robot.mass * body.omega)
    print(f"{name:8} {fraction:9.0%} {1e3 * expected:18.0f} mm {1e3 * (after - com) @ direction:8.0f} mm", end="")
    print(f"    {ends[0]:16} {ends[1]}")

if options.plot:
    plot(options.plot, shown[False], shown[True])
