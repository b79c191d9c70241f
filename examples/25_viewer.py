"""Show a robot in a web page: move it, drag a hand, play a recording, and export it to one HTML file.

Without options it runs through all this in a few seconds and exits. --stay keeps the page open: open the printed
address in a browser. --robot NAME takes another robot, --html FILE is the file to write.
--plot FILE draws the robot before and after the hand is dragged.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import kinodyn as kd

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--robot", default="humanoid", help="name of the robot")
parser.add_argument("--html", metavar="FILE", help="write the recording to this file")
parser.add_argument("--plot", metavar="FILE", help="write a figure to this file")
parser.add_argument("--stay", action="store_true", help="keep the page open until Ctrl-C")
options = parser.parse_args()
warnings.simplefilter("ignore", kd.DescriptionWarning)  # details of the files do not matter here

robot = kd.load(options.robot)
with kd.view(robot, show=["com", "projection", "support"]) as viewer, tempfile.TemporaryDirectory() as folder:
    # Drag the first hand or tool by 5 cm, as the gizmo in the page does; the body follows in the viewer's thread.
    name = viewer.dragging.names[0]
    start, T = viewer.q, viewer.dragging.measure(name, viewer.q).copy()
    T[:3, 3] += [0.05, 0.0, -0.05]
    viewer.drag(name, T)
    end = time.monotonic() + 20.0
    while not viewer.dragging.reached(viewer.q) and time.monotonic() < end:
        time.sleep(0.02)
    print(
        f"{name} {'reached its target' if viewer.dragging.reached(viewer.q) else 'is moving'}, at {viewer.rate:.0f} Hz"
    )

    # A recording of the motion there and back in two seconds; simulations and walks return the same type.
    t = np.linspace(0.0, 2.0, 61)
    q = robot.interpolate(start, viewer.q, 0.5 - 0.5 * np.cos(np.pi * t))
    v = np.gradient(robot.difference(start, q), t, axis=0)
    recording = kd.Recording.from_robot(robot, t, q, v, np.zeros_like(v))
    path = viewer.export_html(recording, options.html or Path(folder) / "motion.html")
    print(f"{recording} in {path.name}, {path.stat().st_size / 1e6:.1f} MB")

    viewer.play(recording)
    time.sleep(0.2)
    print(f"playing, at {viewer.player.time:.2f} s" if viewer.player else "not playing")
    if options.stay:
        viewer.wait()
print("closed")

if options.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.4), layout="constrained")
    side, front = figure.subplots(1, 2, sharey=True)
    pairs = [(joint.parent, joint.child) for joint in robot.joints if joint.kind != "floating"]
    pairs += [(frame.link, frame.name) for frame in robot.description.frames]
    links = np.array([[robot.frame_index(end) for end in pair] for pair in pairs])
    for ax, across, title in ((side, 0, "side"), (front, 1, "front")):
        for row, colour, label in ((q[0], "0.7", "before"), (q[len(q) // 2], "tab:blue", "after")):
            p = kd.kinematics.poses(robot, row)[:, :3, 3]
            ax.plot(p[links.T, across], p[links.T, 2], "o-", color=colour, lw=2.5, ms=3)
            ax.plot([], [], color=colour, lw=2.5, label=label)
        ax.plot(T[across, 3], T[2, 3], "rx", ms=9, mew=2.5, label=f"target of {name}")
        ax.set(title=title, aspect="equal", xlabel=f"{'xy'[across]} [m]")
        ax.grid(alpha=0.3)
    side.set_ylabel("z [m]")
    front.legend(fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.savefig(options.plot, dpi=80)
