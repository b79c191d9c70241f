"""Coupled joints in MuJoCo: constraints as stiff as gears.

With MuJoCo's default values such a constraint is soft: two coupled knees that bear the weight of a robot give way.
"""

from __future__ import annotations

from typing import Any

import mujoco as mj
import numpy as np

IMPEDANCE = (0.999, 0.9999, 1e-3, 0.5, 2.0)  # MuJoCo's solimp


def gear_stiffness(dt: float) -> dict[str, Any]:
    """Return solref and solimp of a coupling in a simulation with time step dt [s]."""
    return {"solref": [2.0 * dt, 1.0], "solimp": list(IMPEDANCE)}


def stiffen_gears(spec: mj.MjSpec, dt: float) -> None:
    """Stiffen the joint equalities of a file that states no stiffness of its own for them."""
    default = mj.MjSpec().default.equality
    for equality in spec.equalities:
        stated = not np.array_equal(equality.solref, default.solref) or not np.array_equal(
            equality.solimp, default.solimp
        )
        if equality.type == mj.mjtEq.mjEQ_JOINT and not stated:
            for name, value in gear_stiffness(dt).items():
                setattr(equality, name, value)
