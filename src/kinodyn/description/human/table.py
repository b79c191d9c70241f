"""The table of body segments behind the bundled humanoid.

P. de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters", Journal of Biomechanics 29(9), 1996,
pp. 1223-1230, Table 4: gamma-ray scans of 100 men (mean stature 1.741 m, 73.0 kg) and 15 women (1.735 m, 61.9 kg),
with the segments cut at the joint centres. Lengths are those of the samples' means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Sex = Literal["male", "female"]


@dataclass(frozen=True)
class Segment:
    """One row of the table.

    `mass` is a fraction of the body's mass, `length` [m] that of the sample's mean, `com` a fraction of the length
    from the upper end of a standing body (from the heel for the foot), `gyration` the radii of gyration about the
    centre of mass as fractions of the length: about the sagittal (forward), the transverse (sideways) and the
    longitudinal axis.
    """

    mass: float
    length: float
    com: float
    gyration: tuple[float, float, float]


@dataclass(frozen=True)
class BodyTable:
    """All segments of one sex; `stature`, `trunk_to_shoulder` (mid-hip to mid-shoulder) and `hand_span` in metres."""

    stature: float
    trunk_to_shoulder: float
    hand_span: float
    segments: Mapping[str, Segment]


# Ends: head vertex-cervicale, upper trunk cervicale-xiphion, middle trunk xiphion-omphalion, lower trunk
# omphalion-mid-hip, hand wrist-third metacarpale, shank knee-ankle joint centre, foot heel-toe tip.
# `hand_span` is wrist to fingertip (third dactylion).
_MALE = BodyTable(
    stature=1.741,
    trunk_to_shoulder=0.5155,
    hand_span=0.1879,
    segments={
        "head": Segment(0.0694, 0.2429, 0.5002, (0.303, 0.315, 0.261)),
        "upper_trunk": Segment(0.1596, 0.2421, 0.5066, (0.505, 0.320, 0.465)),
        "middle_trunk": Segment(0.1633, 0.2155, 0.4502, (0.482, 0.383, 0.468)),
        "lower_trunk": Segment(0.1117, 0.1457, 0.6115, (0.615, 0.551, 0.587)),
        "upper_arm": Segment(0.0271, 0.2817, 0.5772, (0.285, 0.269, 0.158)),
        "forearm": Segment(0.0162, 0.2689, 0.4574, (0.276, 0.265, 0.121)),
        "hand": Segment(0.0061, 0.0862, 0.7900, (0.628, 0.513, 0.401)),
        "thigh": Segment(0.1416, 0.4222, 0.4095, (0.329, 0.329, 0.149)),
        "shank": Segment(0.0433, 0.4403, 0.4395, (0.251, 0.246, 0.102)),
        "foot": Segment(0.0137, 0.2581, 0.4415, (0.257, 0.245, 0.124)),
    },
)

_FEMALE = BodyTable(
    stature=1.735,
    trunk_to_shoulder=0.4979,
    hand_span=0.1701,
    segments={
        "head": Segment(0.0668, 0.2437, 0.4841, (0.271, 0.295, 0.261)),
        "upper_trunk": Segment(0.1545, 0.2280, 0.5050, (0.466, 0.314, 0.449)),
        "middle_trunk": Segment(0.1465, 0.2053, 0.4512, (0.433, 0.354, 0.415)),
        "lower_trunk": Segment(0.1247, 0.1815, 0.4920, (0.433, 0.402, 0.444)),
        "upper_arm": Segment(0.0255, 0.2751, 0.5754, (0.278, 0.260, 0.148)),
        "forearm": Segment(0.0138, 0.2643, 0.4559, (0.261, 0.257, 0.094)),
        "hand": Segment(0.0056, 0.0780, 0.7474, (0.531, 0.454, 0.335)),
        "thigh": Segment(0.1478, 0.3685, 0.3612, (0.369, 0.364, 0.162)),
        "shank": Segment(0.0481, 0.4386, 0.4352, (0.267, 0.263, 0.092)),
        "foot": Segment(0.0129, 0.2283, 0.4014, (0.299, 0.279, 0.139)),
    },
)

TABLES: Mapping[Sex, BodyTable] = {"male": _MALE, "female": _FEMALE}

# Segments that a body has twice.
PAIRED_SEGMENTS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")

# Stacked segments from the ankle to the top of the head.
STACKED_SEGMENTS = ("shank", "thigh", "lower_trunk", "middle_trunk", "upper_trunk", "head")

# Fractions of the stature. Ankle height, foot length and foot width: Drillis and Contini 1966, as printed in Winter,
# Biomechanics and Motor Control of Human Movement, 4th ed. 2009, fig. 4.1.
ANKLE_HEIGHT = 0.039
FOOT_LENGTH = 0.152
FOOT_WIDTH = 0.055
# Hip joint centres lie 14 % of the breadth between the anterior superior iliac spines inside of those (Bell, Brand
# and Pedersen, Human Movement Science 8, 1989); with a breadth of 0.24 m at 1.741 m: 0.36 * 0.138.
HIP_HALF_WIDTH = 0.05
# Shoulder joints 0.17 m beside the midline of a body of 1.70 m (Rajagopal et al., IEEE Trans. Biomed. Eng. 63(10),
# 2016, full-body model).
SHOULDER_HALF_WIDTH = 0.10
# Fraction of the foot's length between heel and ankle joint: 0.19 in Rajagopal's skeleton, plus the heel pad.
HEEL_TO_ANKLE = 0.25
