"""Both hands and balance: reach while the feet stay, the CoM stays above them and the gaze follows; then reach too far.

--robot talos or g1 takes another humanoid (needs the extra "robots"); --plot FILE draws the result.
"""

import argparse
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.model.chain import moving_joints


class Setup(NamedTuple):
    """Frame names; sole: back, front and half width [m], estimated; how far the hands move [m] and turn [rad]."""

    foot: str
    hand: str
    eyes: str
    sole: tuple[float, float, float]
    reach: float
    turn: float


SETUPS = {
    "humanoid": Setup("{}_sole", "{}_palm", "head", (-0.12, 0.12, 0.045), 0.3, -1.0),
    "talos": Setup("{}_sole_link", "gripper_{}_base_link", "rgbd_link", (-0.1, 0.1, 0.06), 0.3, -1.0),
    "g1": Setup("{}_ankle_roll_link", "{}_rubber_hand", "d435_link", (-0.05, 0.12, 0.03), 0.1, 0.0),
}


def standing(robot: kd.Robot) -> NDArray[np.float64]:
    """Stand with bent knees: the description's first named configuration, or typical joint angles."""
    if robot.configurations:
        return robot.configuration(robot.configurations[0])
    q = robot.neutral()
    for part, angle in {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}.items():
        q[[joint.q.start for joint in robot.joints if part in joint.name]] = angle
    return q


def plot(file: str, states: dict[str, NDArray[np.float64]]) -> None:
    """Draw the robot from the side, from the front and from above, with targets and support polygon."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 5.2), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=(1.0, 1.2, 1.2))
    pairs = [(joint.parent, joint.child) for joint in robot.joints[1:]]
    pairs += [(moving_joints(robot, frame)[-1].child, frame) for frame in (*feet, *hands)]
    links = np.array([[robot.frame_index(frame) for frame in pair] for pair in pairs])
    ground = np.insert(np.vstack([balance.corners, balance.corners[:1]]), 2, T_feet[0, 2, 3], axis=1)
    for ax, across, up, title in zip(axes, (0, 1, 0), (2, 2, 1), ("side", "front", "above"), strict=True):
        ax.plot(*ground[:, [across, up]].T, color="tab:green", lw=2, label="support polygon")
        for colour, (name, q) in zip(("0.7", "C0"), states.items(), strict=True):
            p, com = kd.kinematics.poses(robot, q)[:, :3, 3], kd.kinematics.com(robot, q)
            ax.plot(*p[links.T][..., [across, up]].transpose(2, 0, 1), color=colour, lw=2.5)
            ax.plot([], [], color=colour, lw=2.5, label=f"{name}: links")
            ax.plot(*com[[across, up]], "o", color=colour, mec="black", ms=9, zorder=5, label=f"{name}: centre of mass")
        sight = np.stack([p[robot.frame_index(setup.eyes)], T_hands[0, :3, 3]])
        ax.plot(*sight[:, [across, up]].T, "k:", label="line of sight")
        ax.plot(*T_hands[:, [across, up], 3].T, "x", color="tab:red", ms=9, mew=2.5, zorder=6, label="targets")
        ax.set(title=title, aspect="equal", xlabel=f"{'xyz'[across]} [m]", ylabel=f"{'xyz'[up]} [m]")
        ax.grid(alpha=0.3)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(file, dpi=80)


def report(title: str, result: kd.ik.WholeBodyResult) -> None:
    """Print the remaining error of each task and what prevents it from being zero."""
    print(f"{title}: {result.status} after {result.iterations} steps")
    for name, (metres, radians) in result.errors.items():
        print(f"  {name:26} {1e3 * metres:9.4f} mm {np.rad2deg(radians):9.4f} deg")
    inside = balance.margin - balance.excess(kd.kinematics.com(robot, result.q))
    print(f"  the CoM is {1e3 * inside:.1f} mm inside the support polygon")
    print(*(f"  {conflict}\n" for conflict in result.conflicts), sep="")


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--robot", choices=SETUPS, default="humanoid", help="name of the robot")
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
options = parser.parse_args()
setup = SETUPS[options.robot]
warnings.simplefilter("ignore", kd.errors.DescriptionWarning)  # details of the files do not matter here
robot = kd.load(options.robot)
q0 = standing(robot)
feet, hands = ([part.format(side) for side in ("left", "right")] for part in (setup.foot, setup.hand))

# Target poses of the hands, and the support polygon of the feet.
T_hands, T_feet = (kd.kinematics.poses(robot, q0, frames=frames).copy() for frames in (hands, feet))
T_hands[:, :3, 3] += setup.reach * np.array([[1.0, -0.2, 1.3], [1.0, 0.2, 0.5]])
T_hands[:, :3, :3] = kd.spatial.rot_y(setup.turn) @ T_hands[:, :3, :3]
back, front, wide = setup.sole
corners = T_feet @ np.array([(x, y, 0.0, 1.0) for x in (back, front) for y in (-wide, wide)]).T
balance = kd.limits.ComLimit(corners.swapaxes(1, 2)[..., :2].reshape(-1, 2), margin=0.02, priority=1)

# Priorities: feet, then balance and hands, then gaze; the posture uses the remaining freedom.
reaching = [kd.tasks.FrameTask(hand, T, priority=1) for hand, T in zip(hands, T_hands, strict=True)]
tasks = [
    *(kd.tasks.ContactTask(foot, priority=0) for foot in feet),
    *reaching,
    kd.tasks.GazeTask(setup.eyes, T_hands[0, :3, 3], priority=2),
    kd.tasks.PostureTask(q0, weights=np.ones(robot.nv), priority=3),  # includes the base: upright where possible
]
solver = kd.ik.WholeBody(robot, tasks, [kd.limits.PositionLimit(), balance])
result = solver.solve(q0)
report(f"{robot.name} reaches with both hands", result)

# One metre farther is out of reach: feet and CoM satisfy their constraints, the hand reaches as far as possible.
T_far = T_hands[0].copy()
T_far[0, 3] += 1.0
reaching[0].target = T_far
report("one metre farther with the left", solver.solve(result.q, iterations=2000))

if options.plot:
    plot(options.plot, {"start": q0, "solution": result.q})
