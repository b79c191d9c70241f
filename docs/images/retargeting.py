"""Draw humans beside the bundled humanoid that follows them: python docs/images/retargeting.py CLIP..."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import kinodyn as kd

BONES = (
    *((f"{side}_{a}", f"{side}_{b}") for side in ("left", "right") for a, b in (("hip", "knee"), ("knee", "ankle"))),
    *((f"{side}_ankle", f"{side}_toe") for side in ("left", "right")),
    *((f"{side}_shoulder", f"{side}_elbow") for side in ("left", "right")),
    *((f"{side}_elbow", f"{side}_wrist") for side in ("left", "right")),
    *(("neck", f"{side}_shoulder") for side in ("left", "right")),
    ("left_hip", "right_hip"),
)
ACROSS = np.array([np.cos(0.6), np.sin(0.6)])  # horizontal axis of the drawing
FRAMES = 6


def draw(axes: Axes, result: kd.retarget.Retargeted, frame: int) -> None:
    """Draw one frame: the human on the left, the robot on the right."""
    human = {name: points[frame] for name, points in result.human.points.items()}
    place = np.append(0.5 * (human["left_hip"] + human["right_hip"])[:2], 0.0)
    for first, second in BONES:
        if first in human and second in human:
            bone = np.array([human[first], human[second]]) - place
            axes.plot(bone[:, :2] @ ACROSS - 0.65, bone[:, 2], color="tab:orange", lw=2)
    robot, q = result.robot, result.q[frame]
    poses = dict(zip(robot.frame_names, kd.kinematics.poses(robot, q), strict=True))
    place = np.append(q[:2], 0.0)
    for joint in robot.joints[1:]:
        bone = np.array([poses[joint.parent][:3, 3], poses[joint.child][:3, 3]]) - place
        axes.plot(bone[:, :2] @ ACROSS + 0.65, bone[:, 2], color="tab:blue", lw=2)
    axes.axhline(0.0, color="0.5", lw=0.6)
    axes.set(xlim=(-1.5, 1.5), ylim=(-0.1, 2.2), aspect="equal")
    axes.set_axis_off()


def main() -> None:
    """Draw a row of frames for each clip."""
    robot = kd.load("humanoid")
    clips = sys.argv[1:]
    figure = Figure(figsize=(11, 1.45 * len(clips)), layout="constrained")
    grid = figure.subplots(len(clips), FRAMES, squeeze=False)
    for row, clip in zip(grid, clips, strict=True):
        result = kd.retarget.retarget(clip, robot)
        for axes, share in zip(row, np.linspace(0.1, 0.9, FRAMES), strict=True):
            draw(axes, result, int(share * len(result.q)))
    figure.savefig(Path(__file__).parent / "retargeting.png", dpi=80)


if __name__ == "__main__":
    main()
