"""Small motions as files, written from `example_motion`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinodyn.retarget import Motion

HIERARCHY = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0 10 0
    CHANNELS 3 Yrotation Xrotation Zrotation
    End Site
    {
      OFFSET 0 20 0
    }
  }
}
"""


def bvh_of_points(motion: Motion, path: Path, scale: float = 100.0) -> Path:
    """Write positions as a BVH file whose joints have position channels: y up, in units of 1 / scale m."""
    children: dict[int, list[int]] = {}
    for k, parent in enumerate(motion.parents):
        children.setdefault(parent, []).append(k)
    lines, order = ["HIERARCHY"], []

    def write(k: int, depth: int) -> None:
        pad = "  " * depth
        order.append(k)
        lines.append(f"{pad}{'ROOT' if depth == 0 else 'JOINT'} {motion.names[k]}")
        lines.append(f"{pad}{{")
        lines.append(f"{pad}  OFFSET 0 0 0")
        lines.append(f"{pad}  CHANNELS 3 Xposition Yposition Zposition")
        for child in children.get(k, []):
            write(child, depth + 1)
        lines.append(f"{pad}}}")

    write(0, 0)
    lines += ["MOTION", f"Frames: {len(motion)}", f"Frame Time: {1.0 / motion.rate:.9f}"]
    y_up = scale * motion.positions[:, :, [1, 2, 0]]
    for frame in y_up:
        parents = np.array([np.zeros(3) if motion.parents[k] < 0 else frame[motion.parents[k]] for k in order])
        lines.append(" ".join(f"{value:.9f}" for value in (frame[order] - parents).ravel()))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def bvh_of_angles(frames: np.ndarray, path: Path) -> Path:
    """Write angles of `HIERARCHY` (frames, 9)."""
    rows = [" ".join(map(str, row)) for row in frames]
    text = f"{HIERARCHY}MOTION\nFrames: {len(frames)}\nFrame Time: 0.01\n" + "\n".join(rows) + "\n"
    path.write_text(text, encoding="utf-8")
    return path
