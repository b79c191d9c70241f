"""Closed loops of an MJCF file: bodies that equality constraints connect, beside the tree of joints."""

from __future__ import annotations

import mujoco as mj
import numpy as np

LOOPS = (int(mj.mjtEq.mjEQ_CONNECT), int(mj.mjtEq.mjEQ_WELD))


def loop_gaps(model: mj.MjModel, data: mj.MjData) -> dict[str, float]:
    """Measure by how far the bodies of each active connect or weld constraint are apart [m].

    Parameters
    ----------
    model, data
        After `mj_forward`.

    Returns
    -------
    dict of str to float
        By the name of the constraint, or the two bodies.
    """
    rows = data.efc_type == int(mj.mjtConstraint.mjCNSTR_EQUALITY)
    ids, gaps = data.efc_id[rows], data.efc_pos[rows]
    found: dict[str, float] = {}
    for k in np.unique(ids).tolist():
        if int(model.eq_type[k]) in LOOPS:
            name = model.eq(k).name or _bodies(model, k)
            found[name] = float(np.linalg.norm(gaps[ids == k][:3]))  # the next rows of a weld are a rotation
    return found


def _bodies(model: mj.MjModel, k: int) -> str:
    sites = int(model.eq_objtype[k]) == int(mj.mjtObj.mjOBJ_SITE)
    ids = (int(model.eq_obj1id[k]), int(model.eq_obj2id[k]))
    bodies = [int(model.site_bodyid[i]) if sites else i for i in ids]
    return " and ".join(model.body(body).name for body in bodies)
