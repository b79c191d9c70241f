"""Draw footprints, CoM, ZMP and normal forces of a walk: python docs/images/walk.py."""

from pathlib import Path

import kinodyn as kd

if __name__ == "__main__":
    result = kd.walking.walk(kd.load("humanoid"), (0.3, 0.0, 0.0), duration=8.0)
    result.plot(Path(__file__).with_suffix(".png"))
