"""The mass matrix of the PUMA 560 at its nominal configuration, rotors included, as the Robotics Toolbox prints it."""

from __future__ import annotations

import numpy as np

PUMA560_INERTIA = np.array(
    [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0000, 0.0000],
        [-0.4044, 4.4137, 0.3509, 0.0000, 0.0024, 0.0000],
        [0.1006, 0.3509, 0.9378, 0.0000, 0.0015, 0.0000],
        [-0.0025, 0.0000, 0.0000, 0.1925, 0.0000, 0.0000],
        [0.0000, 0.0024, 0.0015, 0.0000, 0.1713, 0.0000],
        [0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.1941],
    ]
)
