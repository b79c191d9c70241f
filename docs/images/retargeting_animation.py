"""Animate humans beside the bundled humanoid that follows them: python docs/images/retargeting_animation.py CLIP..."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from retargeting import draw

import kinodyn as kd

COLUMNS = 3
RATE = 10.0  # [Hz] of the animation
DURATION = 4.0  # [s] from each clip


def main() -> None:
    """Draw all clips at once, frame by frame; shorter ones stay at their end."""
    robot = kd.load("humanoid")
    results = [kd.retarget.retarget(clip, robot) for clip in sys.argv[1:]]
    images = []
    for time in np.arange(0.0, DURATION, 1.0 / RATE):
        figure = Figure(figsize=(7.5, 2.0 * -(-len(results) // COLUMNS)), dpi=80, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        grid = figure.subplots(-(-len(results) // COLUMNS), COLUMNS, squeeze=False).ravel()
        for axes, result in zip(grid, results, strict=False):
            draw(axes, result, min(round(time / result.dt), len(result.q) - 1))
        canvas.draw()
        images.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]))
    path = Path(__file__).parent / "retargeting_animation.webp"
    images[0].save(path, save_all=True, append_images=images[1:], duration=round(1e3 / RATE), loop=0, quality=60)


if __name__ == "__main__":
    main()
