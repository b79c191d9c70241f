"""Draws pushes.png: the pushes that the humanoid survives, standing and walking. Takes some minutes.

python docs/images/pushes.py
"""

from pathlib import Path

import kinodyn as kd
from kinodyn.walking.plots import draw_pushes

if __name__ == "__main__":
    robot = kd.load("humanoid")
    ways = ({}, {"stepping": True}, {"velocity": (0.3, 0.0, 0.0)})
    maps = [kd.walking.push_map(robot, 8, progress=True, **way) for way in ways]
    for found in maps:
        print(found)
    draw_pushes(maps, Path(__file__).parent / "pushes.png")
