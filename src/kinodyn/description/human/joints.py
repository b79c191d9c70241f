"""Joints of the bundled humanoid: range, velocity, torque, and the armature and damping of the drive.

Ranges are those of the American Academy of Orthopaedic Surgeons (Joint Motion: Method of Measuring and Recording,
1965), with two exceptions noted below. Torques of hip, knee and ankle pitch are the peak isometric torques of young
men in Anderson, Madigan and Nussbaum, Journal of Biomechanics 40(14), 2007, Table 3 (coefficient C1), as fractions of
body weight times height: hip extension 0.161, knee extension 0.163, plantar flexion 0.095. Shoulder, elbow and wrist
have the same normalisation: the whole-body strength table of the torque muscles in RBDL (M. Millard, 2016) over 69 kg
times 1.732 m; its peak speeds are the velocity limits. What those tables do not contain (hip roll and yaw, ankle roll,
trunk, neck) is chosen so that a walking robot of this size can stand on one leg with margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Axis = Literal["roll", "pitch", "yaw"]

# Reflected rotor inertia and viscous damping are those of strong, lightly geared drives; they are fractions of
# mass * height^2 and of weight * height, so that bodies of other sizes move in the same way.
_LEG_ARMATURE, _ARM_ARMATURE, _SMALL_ARMATURE = 2.5e-4, 1.0e-4, 2.5e-5
_LEG_DAMPING, _ARM_DAMPING, _SMALL_DAMPING = 8.6e-4, 4.3e-4, 8.6e-5


@dataclass(frozen=True)
class JointTable:
    """One kind of joint, for the left side or the middle of the body.

    `lower` and `upper` in degrees, `speed` in rad/s, `torque` as a fraction of weight times height, `armature` as a
    fraction of mass times height squared, `damping` [s] as a fraction of weight times height.
    """

    axis: Axis
    lower: float
    upper: float
    speed: float
    torque: float
    armature: float
    damping: float

    def limits(self, side: Literal["left", "right", ""]) -> tuple[float, float]:
        """Return (lower, upper) [rad]; roll and yaw of the right side mirror those of the left."""
        lower, upper = math.radians(self.lower), math.radians(self.upper)
        if side == "right" and self.axis != "pitch":
            return -upper, -lower
        return lower, upper


# Signs follow from the axes (roll about x forward, pitch about y left, yaw about z up): a limb that hangs swings
# forward with negative pitch; a left limb opens outward with positive roll and turns outward with positive yaw.
JOINTS: dict[str, JointTable] = {
    "hip_yaw": JointTable("yaw", -45, 45, 9.0, 0.06, _LEG_ARMATURE, _LEG_DAMPING),
    "hip_roll": JointTable("roll", -30, 45, 9.0, 0.12, _LEG_ARMATURE, _LEG_DAMPING),
    "hip_pitch": JointTable("pitch", -120, 30, 9.0, 0.161, _LEG_ARMATURE, _LEG_DAMPING),
    "knee": JointTable("pitch", 0, 135, 16.6, 0.163, _LEG_ARMATURE, _LEG_DAMPING),
    # A loaded ankle bends further than the free one (20 degrees): up to 38 in the weight-bearing lunge test.
    "ankle_pitch": JointTable("pitch", -38, 50, 11.8, 0.095, _LEG_ARMATURE, _LEG_DAMPING),
    "ankle_roll": JointTable("roll", -35, 20, 11.8, 0.04, _ARM_ARMATURE, _ARM_DAMPING),
    "shoulder_pitch": JointTable("pitch", -180, 60, 16.2, 0.108, _ARM_ARMATURE, _ARM_DAMPING),
    # Adduction across the chest: 45 degrees, where the academy gives 50 with the arm lifted.
    "shoulder_roll": JointTable("roll", -45, 180, 18.0, 0.108, _ARM_ARMATURE, _ARM_DAMPING),
    "shoulder_yaw": JointTable("yaw", -70, 90, 18.0, 0.043, _ARM_ARMATURE, _ARM_DAMPING),
    "elbow": JointTable("pitch", -150, 0, 18.1, 0.086, _ARM_ARMATURE, _ARM_DAMPING),
    # Palms face the thighs at zero, so that yaw is pronation and supination, pitch radial (-) and ulnar (+)
    # deviation, roll flexion (-) and extension (+) of the left wrist.
    "wrist_yaw": JointTable("yaw", -80, 80, 18.0, 0.027, _SMALL_ARMATURE, _SMALL_DAMPING),
    "wrist_pitch": JointTable("pitch", -20, 30, 27.9, 0.0115, _SMALL_ARMATURE, _SMALL_DAMPING),
    "wrist_roll": JointTable("roll", -80, 70, 27.9, 0.033, _SMALL_ARMATURE, _SMALL_DAMPING),
    "torso_yaw": JointTable("yaw", -45, 45, 6.0, 0.10, _LEG_ARMATURE, _LEG_DAMPING),
    "head_yaw": JointTable("yaw", -60, 60, 8.0, 0.02, _SMALL_ARMATURE, _SMALL_DAMPING),
    "head_pitch": JointTable("pitch", -45, 45, 8.0, 0.03, _SMALL_ARMATURE, _SMALL_DAMPING),
    "head_roll": JointTable("roll", -45, 45, 8.0, 0.03, _SMALL_ARMATURE, _SMALL_DAMPING),
}
