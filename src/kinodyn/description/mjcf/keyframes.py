"""Keyframes of a MuJoCo model as named configurations."""

from __future__ import annotations

from collections.abc import Collection

import mujoco
import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.mjcf.names import Names

_WXYZ_TO_XYZW = [1, 2, 3, 0]


def configurations(
    model: mujoco.MjModel, names: Names, followers: Collection[int]
) -> dict[str, dict[str, tuple[float, ...]]]:
    """Create a configuration from each keyframe, and "qpos0" from MuJoCo's initial configuration.

    Mimic joints (`followers`) have no position in q and are omitted. A keyframe without a name is called "key3"
    after its number.
    """
    found = {"qpos0": _positions(model, names, model.qpos0, followers)} if model.njnt else {}
    for key in range(model.nkey):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_KEY, key) or f"key{key}"
        found[name] = _positions(model, names, model.key_qpos[key], followers)
    return found


def _positions(
    model: mujoco.MjModel, names: Names, qpos: Array, followers: Collection[int]
) -> dict[str, tuple[float, ...]]:
    positions = {}
    for joint in range(model.njnt):
        if joint in followers:
            continue
        start, kind = int(model.jnt_qposadr[joint]), model.jnt_type[joint]
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            values = np.concatenate([qpos[start : start + 3], qpos[start + 3 : start + 7][_WXYZ_TO_XYZW]])
        elif kind == mujoco.mjtJoint.mjJNT_BALL:
            values = qpos[start : start + 4][_WXYZ_TO_XYZW]
        else:
            values = qpos[start : start + 1]
        positions[names.joints[joint]] = tuple(float(v) for v in values)
    return positions
