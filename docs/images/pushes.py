"""Draw the pushes that the humanoid survives, standing and walking: python docs/images/pushes.py (some minutes)."""

from pathlib import Path

import kinodyn as kd
from kinodyn.walking.plots import draw_pushes

if __name__ == "__main__":
    robot = kd.load("humanoid")
    experiments = ({}, {"stepping": True}, {"velocity": (0.3, 0.0, 0.0)})
    maps = [kd.walking.push_map(robot, 8, progress=True, **experiment) for experiment in experiments]
    for found in maps:
        print(found)
    draw_pushes(maps, Path(__file__).parent / "pushes.png")
