"""A generated motion: a human who walks, for examples and tests."""

from __future__ import annotations

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import at_most, integer, positive
from kinodyn.retarget.motion import Motion

NAMES = (
    "Hips",
    "LeftUpLeg",
    "LeftLeg",
    "LeftFoot",
    "LeftToeBase",
    "RightUpLeg",
    "RightLeg",
    "RightFoot",
    "RightToeBase",
    "Spine",
    "Neck",
    "Head",
    "LeftArm",
    "LeftForeArm",
    "LeftHand",
    "RightArm",
    "RightForeArm",
    "RightHand",
)
PARENTS = (-1, 0, 1, 2, 3, 0, 5, 6, 7, 0, 9, 10, 10, 12, 13, 10, 15, 16)
THIGH, SHANK, ANKLE = 0.42, 0.42, 0.08  # [m]; the ankle's height above the ground
STEP, STEP_TIME, SWING_HEIGHT = 0.45, 0.6, 0.12
ARM, FOREARM = 0.3, 0.26


@check_types
def example_motion(steps: int = 3, rate: float = 60.0) -> Motion:
    """Generate a human who walks along x: z up, metres.

    Parameters
    ----------
    steps
        Number of steps.
    rate
        Frames per second [Hz].

    Returns
    -------
    Motion

    Examples
    --------
    >>> import kinodyn as kd
    >>> kd.retarget.example_motion(2)
    Motion('example', 18 points, 109 frames at 60 Hz)
    """
    steps, rate = integer("steps", steps, 1, 10_000), at_most("rate", positive("rate", rate), 10_000.0)
    time = np.arange(round((steps + 1) * STEP_TIME * rate) + 1) / rate
    ankles = {side: _ankle(time, steps, first) for side, first in (("left", 0), ("right", 1))}
    middle = np.column_stack(
        [0.5 * (ankles["left"][:, 0] + ankles["right"][:, 0]), 0.0 * time, ANKLE + 0.96 * (THIGH + SHANK) + 0.0 * time]
    )
    points = {"Hips": middle + [0.0, 0.0, 0.06], "Spine": middle + [0.0, 0.0, 0.15], "Neck": middle + [0.0, 0.0, 0.52]}
    points["Head"] = middle + [0.0, 0.0, 0.7]
    for side, y in (("left", 1.0), ("right", -1.0)):
        name = side.capitalize()
        hip = middle + [0.0, 0.1 * y, 0.0]
        ankle = ankles[side] + [0.0, 0.1 * y, 0.0]
        shoulder = middle + [0.0, 0.19 * y, 0.48]
        swing = 0.8 * (ankle[:, 0] - middle[:, 0])  # arms swing against the legs
        elbow = shoulder + ARM * np.column_stack([-np.sin(swing), 0.15 * y + 0.0 * swing, -np.cos(swing)])
        points |= {
            f"{name}UpLeg": hip,
            f"{name}Leg": _knee(hip, ankle),
            f"{name}Foot": ankle,
            f"{name}ToeBase": ankle + [0.14, 0.0, -0.06],
            f"{name}Arm": shoulder,
            f"{name}ForeArm": elbow,
            f"{name}Hand": elbow + FOREARM * np.column_stack([np.cos(swing), 0.0 * swing, -np.sin(swing)]),
        }
    positions = np.stack([points[name] for name in NAMES], axis=1)
    return Motion(NAMES, PARENTS, positions, rate, "example", units=1.0)


def _ankle(time: Array, steps: int, first: int) -> Array:
    """Path (frames, 3) of an ankle that swings in every other step."""
    x, z = np.zeros_like(time), np.full_like(time, ANKLE)
    for k in range(first, steps, 2):
        s = np.clip((time - (k + 0.5) * STEP_TIME) / (0.8 * STEP_TIME), 0.0, 1.0)
        length = STEP if 0 < k < steps - 1 else 0.5 * STEP
        x += 2.0 * length * 0.5 * (1.0 - np.cos(np.pi * s))
        z += SWING_HEIGHT * np.sin(np.pi * s) ** 2
    return np.column_stack([x, 0.0 * time, z])


def _knee(hip: Array, ankle: Array) -> Array:
    """Position (frames, 3) of the knee, in front of the line from hip to ankle."""
    along = ankle - hip
    size = np.minimum(np.linalg.norm(along, axis=1), 0.999 * (THIGH + SHANK))
    bend = np.sqrt(np.maximum(THIGH**2 - (0.5 * size) ** 2, 0.0))
    unit = along / np.linalg.norm(along, axis=1, keepdims=True)
    front = np.array([1.0, 0.0, 0.0]) - unit[:, :1] * unit
    front /= np.linalg.norm(front, axis=1, keepdims=True)
    return np.asarray(hip + 0.5 * along + bend[:, None] * front)
