"""Joint equalities of a MuJoCo model as mimic joints."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from kinodyn.description.mjcf.names import Names
from kinodyn.description.types import Mimic


def linear_equalities(model: mujoco.MjModel, names: Names) -> tuple[dict[int, Mimic], list[str]]:
    """Turn linear joint equalities into mimics, keyed by the id of the follower.

    Returns the mimics and one sentence for each active equality that cannot become one. MuJoCo enforces
    q1 - r1 = c0 + c1 (q2 - r2) with r the reference positions of the joints; a `Mimic` is q1 = c1 q2 + offset.
    """
    mimics: dict[int, Mimic] = {}
    leaders: dict[int, int] = {}
    unsupported: list[str] = []
    for equality in range(model.neq):
        if not model.eq_active0[equality]:
            continue
        reason = _why_unsupported(model, equality, leaders)
        if reason:
            unsupported.append(f"equality {_label(model, equality)} is ignored: {reason}")
            continue
        follower, leader = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
        constant, slope = (float(c) for c in model.eq_data[equality, :2])
        r1, r2 = (float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (follower, leader))
        mimics[follower] = Mimic(names.joints[leader], slope, r1 + constant - slope * r2)
        leaders[follower] = leader
    return mimics, unsupported


def _why_unsupported(model: mujoco.MjModel, equality: int, leaders: Mapping[int, int]) -> str:
    """Return why the equality cannot be a mimic, "" if it can."""
    if model.eq_type[equality] != mujoco.mjtEq.mjEQ_JOINT:
        kind = mujoco.mjtEq(model.eq_type[equality]).name.removeprefix("mjEQ_").lower()
        return f"it has the type {kind}; only joint equalities become mimic joints"
    follower, leader = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
    if leader < 0:
        return "it fixes its joint at a constant; remove the joint instead"
    if model.eq_data[equality, 2:5].any():
        return "it is not linear"
    if follower in leaders:
        return "its first joint follows another joint already"
    while leader != follower and leader in leaders:
        leader = leaders[leader]
    return "its joints would follow each other in a loop" if leader == follower else ""


def _label(model: mujoco.MjModel, equality: int) -> str:
    return repr(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_EQUALITY, equality) or equality)
