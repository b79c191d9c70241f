"""Both hands and balance: reach while feet stay, the weight stays over them and the eyes follow; then ask too much.

--robot talos or g1 does the same with these (needs the extra "robots"); --plot FILE draws it.
"""

import argparse
import warnings
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import kinodyn as kd
from kinodyn.model.chain import movers

Array: TypeAlias = NDArray[np.float64]


class Setup(NamedTuple):
    """Names of frames; sole, estimated: back, front, half width [m]; how far hands go [m] and turn [rad]."""

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


def standing(robot: kd.Robot) -> Array:
    """Stand with bent knees, as the description says or as most humanoids do."""
    if robot.configurations:
        return robot.configuration(robot.configurations[0])
    q = robot.neutral()
    for part, angle in {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}.items():
        q[[joint.q.start for joint in robot.joints if part in joint.name]] = angle
    return q


def plot(file: str, states: dict[str, Array]) -> None:
    """Draw the robot from the side, from the front and from above, with targets and support polygon."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 5.2), layout="constrained")
    axes = figure.subplots(1, 3, width_ratios=(1.0, 1.2, 1.2))
    pairs = [(joint.parent, joint.child) for joint in robot.joints[1:]]
    pairs += [(movers(robot, frame)[-1].child, frame) for frame in (*feet, *hands)]
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
    """Print what each task misses, and why."""
    print(f"{title}: {result.status} after {result.iterations} steps")
    for name, (metres, radians) in result.errors.items():
        print(f"  {name:26} {1e3 * metres:9.4f} mm {np.rad2deg(radians):9.4f} deg")
    inside = balance.margin - balance.excess(kd.kinematics.com(robot, result.q))
    print(f"  the centre of mass is {1e3 * inside:.1f} mm inside the edges of the feet")
    print(*(f"  {conflict}\n" for conflict in result.conflicts), sep="")


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--robot", choices=SETUPS, default="humanoid", help="which robot")
parser.add_argument("--plot", metavar="FILE", help="where to write the picture")
options = parser.parse_args()
setup = SETUPS[options.robot]
warnings.simplefilter("ignore", kd.errors.DescriptionWarning)  # details of the files that do not matter here
robot = kd.load(options.robot)
q0 = standing(robot)
feet, hands = ([part.format(side) for side in ("left", "right")] for part in (setup.foot, setup.hand))

# Where the hands should be, and the ground that the feet cover.
T_hands, T_feet = (kd.kinematics.poses(robot, q0, frames=frames).copy() for frames in (hands, feet))
T_hands[:, :3, 3] += setup.reach * np.array([[1.0, -0.2, 1.3], [1.0, 0.2, 0.5]])
T_hands[:, :3, :3] = kd.spatial.rot_y(setup.turn) @ T_hands[:, :3, :3]
back, front, wide = setup.sole
corners = T_feet @ np.array([(x, y, 0.0, 1.0) for x in (back, front) for y in (-wide, wide)]).T
balance = kd.ik.ComLimit(corners.swapaxes(1, 2)[..., :2].reshape(-1, 2), margin=0.02, priority=1)

# Feet first; then balance, and after it the hands; then the eyes; the posture takes what is left.
reaching = [kd.ik.FrameTask(hand, T, priority=1) for hand, T in zip(hands, T_hands, strict=True)]
tasks = [
    *(kd.ik.ContactTask(foot, priority=0) for foot in feet),
    *reaching,
    kd.ik.GazeTask(setup.eyes, T_hands[0, :3, 3], priority=2),
    kd.ik.PostureTask(q0, weights=np.ones(robot.nv), priority=3),  # the base counts too: upright where it can be
]
solver = kd.ik.WholeBody(robot, tasks, [kd.ik.PositionLimit(), balance])
result = solver.solve(q0)
report(f"{robot.name} reaches with both hands", result)

# One metre farther: the feet stay all the same, the centre of mass stays, the hand goes as far as it can.
T_far = T_hands[0].copy()
T_far[0, 3] += 1.0
reaching[0].target = T_far
report("one metre farther with the left", solver.solve(result.q, iterations=2000))

if options.plot:
    plot(options.plot, {"start": q0, "solution": result.q})
