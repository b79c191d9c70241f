"""Moving obstacles: balls are thrown across the path of a Panda; it stops in time or evades.

The flight of each ball is known from the moment it is thrown. In every period the arm follows its path only if it could
still come to rest before anything touches it. --plot FILE draws the motion, the decisions, and the distances.
"""

import argparse
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd

Array: TypeAlias = NDArray[np.float64]
robot = kd.load("panda")
LEFT, RIGHT = np.array([[turn, -0.19, 0.0, -2.06, 0.0, 1.57, 0.79] for turn in (0.9, -0.9)])
GRAVITY, RADIUS = np.array([0.0, 0.0, -9.81]), 0.06
FLIGHT = 0.7  # from the throw until the ball is where the arm is [s]
COLOURS = {"following": "tab:green", "braking": "tab:orange", "evading": "tab:red", "standing": "0.6"}


def thrown(rng: np.random.Generator, time: float) -> kd.planning.MovingObstacle:
    """Throw a ball from one of the sides across the path of the hand, in front of the arm."""
    start = np.array([rng.uniform(0.6, 1.0), rng.choice([-2.5, 2.5]), rng.uniform(0.3, 1.0)])
    target = rng.uniform((0.35, -0.3, 0.5), (0.55, 0.3, 0.65))
    velocity = (target - start - 0.5 * GRAVITY * FLIGHT**2) / FLIGHT
    return kd.planning.MovingObstacle(start, velocity, RADIUS, acceleration=GRAVITY, time=time)


def gap(q: Array, point: Array) -> float:
    """Return the distance from a ball to the spheres that cover the arm [m]: a lower bound of the real one."""
    spheres = kd.collision.robot_spheres(robot)
    nearest = np.inf
    for link, T in zip(spheres.links, kd.kinematics.poses(robot, q, frames=list(spheres.links)), strict=True):
        rows = spheres.of_link(link)
        centres = rows[:, :3] @ T[:3, :3].T + T[:3, 3]
        nearest = min(nearest, float((np.linalg.norm(centres - point, axis=1) - rows[:, 3]).min()))
    return nearest - RADIUS


def run(balls: list[kd.planning.MovingObstacle], duration: float) -> tuple[list[kd.planning.ReactiveStep], Array]:
    """Move from side to side; return the steps, and the distance of the nearest ball at each."""
    motion = kd.planning.ReactiveMotion(robot, LEFT, horizon=1.0, budget=1.0, margin=0.02)
    goals, steps, distances = [LEFT, RIGHT], [], []
    motion.go_to(goals[-1])
    while motion.time < duration:
        if motion.arrived:
            goals.reverse()
            motion.go_to(goals[-1])
        seen = [ball for ball in balls if ball.time <= motion.time < ball.time + 2.0 * FLIGHT]
        steps.append(motion.step(seen))
        distances.append(min((gap(steps[-1].q, ball.at(steps[-1].time)) for ball in seen), default=np.inf))
    return steps, np.array(distances)


def plot(
    file: str, steps: list[kd.planning.ReactiveStep], without_balls: list[kd.planning.ReactiveStep], gaps: Array
) -> None:
    """Draw the first joint with and without balls, the decisions, and the distances."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.8), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    time = np.array([step.time for step in steps])
    above.plot(time, np.rad2deg([step.q[0] for step in without_balls]), "--", color="0.5", lw=1, label="without balls")
    above.plot(time, np.rad2deg([step.q[0] for step in steps]), color="tab:blue", label="with balls")
    dt = time[1] - time[0]
    for status, colour in COLOURS.items():
        rows = [step.time for step in steps if step.status == status]
        above.bar(rows, 14.0, dt, bottom=-84.0, color=colour, label=status)
    above.set(ylabel="first joint [deg]", ylim=(-86.0, 70.0))
    above.legend(fontsize=8, ncols=6, loc="upper right")
    below.plot(time, 1e3 * np.where(np.isfinite(gaps), gaps, np.nan))
    below.axhline(0.0, color="tab:red", lw=1)
    below.set(xlabel="time [s]", ylabel="nearest ball [mm]", ylim=(-50.0, 1500.0))
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(file, dpi=80)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()

rng = np.random.default_rng(4)
balls = [thrown(rng, time) for time in np.arange(0.2, 5.5, 0.5)]
without_balls, _ = run([], 6.0)
steps, gaps = run(balls, 6.0)
print(f"{len(balls)} balls in {steps[-1].time:.0f} s, each seen {FLIGHT} s before it is where the arm may be")
hits = sum(
    min(gap(step.q, ball.at(step.time)) for step in without_balls if 0.0 < step.time - ball.time < 2.0 * FLIGHT) < 0.0
    for ball in balls
)
print(f"balls that touch the spheres of an arm that does not react: {hits}")
print(f"smallest distance of a ball to the spheres of one that does: {1e3 * gaps.min():.0f} mm")
for status in COLOURS:
    print(f"  {status:10} {sum(step.status == status for step in steps) / len(steps):6.1%} of the time")
print("a stop was always possible:", all(step.safe for step in steps))

if options.plot:
    plot(options.plot, steps, without_balls, gaps)
