"""Walk humanoids with no setting given: python docs/images/walking_robots.py [ROBOT ...].

Writes walking_robots.png, a grid of images from the middle of each walk, and prints the table of the page "Robots that
walk". Robots are names or files; one that does not walk is in the table with the reason.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

import kinodyn as kd

ROBOTS = ("humanoid", "talos", "g1", "icub", "romeo", "simple_humanoid", "alexander", "alex", "human", "talos_full_v2")
DURATION = 6.0  # [s] from standing to standing
COLUMNS, SIZE = 5, (300, 400)


def walk(source: str) -> dict[str, Any]:
    """Walk one robot; return its speed and an image, or why it does not walk."""
    name = source if source in kd.robots() else Path(source).stem
    try:
        robot = kd.load(source, base="floating")
        result = kd.walking.walk(robot, duration=DURATION)
    except kd.KinodynError as reason:
        return {"name": name, "reason": str(reason)}
    if not result.walked:
        return {"name": name, "reason": result.reason}
    q = result.recording.q[len(result.recording) // 2]
    image = kd.sim.render_images(result.body.robot, q, size=SIZE)[0]
    return {"name": name, "mass": robot.mass, "speed": result.speed, "steps": result.steps, "image": image}


def grid(walks: list[dict[str, Any]]) -> None:
    """Write the images with names and speeds."""
    columns = min(COLUMNS, len(walks))
    rows = -(-len(walks) // columns)
    figure, panels = plt.subplots(
        rows, COLUMNS, figsize=(1.8 * COLUMNS, 2.7 * rows), layout="constrained", squeeze=False
    )
    for panel in panels.ravel():
        panel.axis("off")
    for panel, found in zip(panels.ravel(), walks, strict=False):
        panel.imshow(found["image"])
        panel.set_title(f"{found['name']}\n{found['speed']:.2f} m/s", fontsize="small")
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


def main() -> None:
    """Walk all robots, write the grid and print the table."""
    warnings.simplefilter("ignore", kd.DescriptionWarning)
    print("| robot | mass | speed | steps | |\n|---|---:|---:|---:|---|")
    shown = []
    for source in sys.argv[1:] or ROBOTS:
        found = walk(source)
        if "reason" in found:
            print(f"| {found['name']} | | | | {found['reason']} |", flush=True)
        else:
            shown.append(found)
            print(
                f"| {found['name']} | {found['mass']:.1f} kg | {found['speed']:.2f} m/s | {found['steps']} | |",
                flush=True,
            )
    grid(shown)


if __name__ == "__main__":
    main()
