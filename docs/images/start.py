"""Draw the figure of the page "Start": python docs/images/start.py."""

import numpy as np
from matplotlib.figure import Figure
from scene import HERE, label, show, take, triad

import kinodyn as kd

HAND = "panda_hand_tcp"


def arm(figure: Figure, places: list[int]) -> None:
    """Show the arm before and after the motion of the page, and its trajectory."""
    robot = kd.load("panda")
    q = robot.configuration("ready")
    goal = kd.kinematics.pose(robot, q, HAND)
    goal[:3, 3] = [0.5, 0.3, 0.4]
    result = kd.ik.solve(robot, {HAND: goal}, q)
    for place, at, title in ((places[0], q, "ready"), (places[1], result.q, "target reached")):
        axes = figure.add_subplot(2, 3, place)
        view = take(robot, at, lookat=(0.3, 0.1, 0.42), distance=1.8, azimuth=-118.0, alpha=0.85, size=(520, 560))
        show(axes, view, title)
        triad(axes, view, goal, 0.15, ("", "", ""))
        label(axes, view.at(goal[:3, 3]) + [48, 26], "goal")
    motion = kd.trajectory.jerk_limited(q, result.q, acceleration=5.0, jerk=50.0, robot=robot)
    control = kd.control.ComputedTorque(robot, motion, kd.control.Gains.from_frequency(15.0))
    run = kd.sim.simulate(robot, control, 1.5, q0=q, control_dt=2e-3)
    axes = figure.add_subplot(2, 3, places[2])
    axes.plot(run.time, kd.kinematics.pose(robot, run.q, HAND)[:, :3, 3], label=["x", "y", "z"])
    axes.plot(run.time, np.broadcast_to(goal[:3, 3], (len(run.time), 3)), "k:", lw=0.8)
    axes.set(title="position of the hand in simulation", xlabel="time [s]", ylabel="[m]")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)


def walk(figure: Figure) -> None:
    """Show the humanoid at several times of its walk."""
    robot = kd.load("humanoid")
    run = kd.walking.walk(robot, (0.3, 0.0, 0.0), duration=5.0).recording
    axes = figure.add_subplot(2, 1, 2)
    times = np.linspace(0.8, 4.4, 7)
    strip = []
    for t in times:
        at = run.at(t)["q"]
        look = (float(at[0]), float(at[1]), 0.88)
        strip.append(take(robot, at, lookat=look, distance=2.6, azimuth=-115.0, size=(480, 270)).pixels)
    axes.imshow(np.concatenate(strip, axis=1))
    axes.set(xticks=[], yticks=[], title="walking: " + ", ".join(f"{t:.1f}" for t in times) + " s")
    for spine in axes.spines.values():
        spine.set_visible(False)


if __name__ == "__main__":
    page = Figure(figsize=(12, 7.4), layout="constrained")
    arm(page, [1, 2, 3])
    walk(page)
    page.savefig(HERE / "start.png", dpi=75, bbox_inches="tight")
