"""Render the walking humanoid as an animation: python docs/images/walk_animation.py.

Two strides of a simulated walk, from one lift-off of the left foot to another one, so that it repeats.
"""

from pathlib import Path

import numpy as np
from PIL import Image

import kinodyn as kd
from kinodyn.sim.rendering import render_images

SIZE, FPS = (420, 400), 20
SPEED = 0.5  # [m/s]


def stride_rows(result: kd.walking.WalkResult) -> np.ndarray:
    """Return the rows of one stride in mid-walk, evenly spaced in time."""
    stance = np.asarray(result.recording.signals["stance"])[:, 0] > 0
    lift_offs = np.flatnonzero(np.diff(stance.astype(int)) < 0)
    begin, end = lift_offs[len(lift_offs) // 2 - 1], lift_offs[len(lift_offs) // 2 + 1]
    count = round(float(result.recording.time[end] - result.recording.time[begin]) * FPS)
    return np.linspace(begin, end, count, endpoint=False).astype(int)


def main() -> None:
    """Simulate a walk, render one stride and write it as an animated WebP file."""
    robot = kd.load("humanoid")
    result = kd.walking.walk(robot, (SPEED, 0.0, 0.0), duration=8.0)
    if not result.walked:
        raise SystemExit(result.reason)
    rows = stride_rows(result)
    images = render_images(robot, result.recording.q[rows], size=SIZE, azimuth=-118.0)
    pictures = [Image.fromarray(image) for image in images]
    file = Path(__file__).with_suffix(".webp")
    options = {"save_all": True, "duration": 1000 // FPS, "loop": 0, "quality": 70, "method": 6}
    pictures[0].save(file, append_images=pictures[1:], **options)
    print(f"{file.name}: {len(pictures)} images of {SIZE[0]} x {SIZE[1]}, {file.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
