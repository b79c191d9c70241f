"""Simulations that tell whether a model is sound."""

from __future__ import annotations

import mujoco
import numpy as np


def stays_finite(model: mujoco.MjModel, steps: int = 1000) -> bool:
    """Simulate a model without contacts and torques, from within its limits."""
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    limited = np.flatnonzero(model.jnt_limited)
    places = model.jnt_qposadr[limited]
    data.qpos[places] = np.clip(data.qpos[places], *model.jnt_range[limited].T)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    quiet = not any(warning.number for warning in data.warning)
    return bool(quiet and np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all())
