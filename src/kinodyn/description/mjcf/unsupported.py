"""Features of a MuJoCo model that a `Description` cannot express, as sentences for warnings."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from kinodyn.description.messages import listed
from kinodyn.description.mjcf.actuation import ON_JOINT
from kinodyn.description.mjcf.names import Names


def features(model: mujoco.MjModel, names: Names) -> list[str]:
    """List the effects on the motion that are lost, apart from equalities, one sentence each."""
    with_springs = (model.jnt_stiffness != 0) | model.jnt_stiffnesspoly.any(axis=1)
    limited_balls = (model.jnt_type == mujoco.mjtJoint.mjJNT_BALL) & (model.jnt_limited != 0)
    with_nonlinear_damping = model.dof_dampingpoly.any(axis=1)[model.jnt_dofadr]
    sentences = [
        _sentence("springs are ignored, of joint", with_springs, names.joints),
        _sentence("limits of the angle are ignored, of ball joint", limited_balls, names.joints),
        _sentence("only linear damping is kept, of joint", with_nonlinear_damping, names.joints),
        _sentence("gravity compensation is ignored, of body", model.body_gravcomp != 0, names.bodies),
        "forces, limits and inertia of tendons are ignored" if _tendons_act(model) else "",
        _indirect_actuators(model),
        names.renamed_sites(),
        "flexible bodies are ignored" if model.nflex else "",
        "the drag of air or water is ignored" if model.opt.density or model.opt.viscosity else "",
    ]
    return [sentence for sentence in sentences if sentence]


def _sentence(what: str, selected: NDArray[np.bool_], names: list[str]) -> str:
    chosen = [names[i] for i in np.flatnonzero(selected)]
    return f"{what} {listed(chosen)}" if chosen else ""


def _indirect_actuators(model: mujoco.MjModel) -> str:
    """Name the actuators that do not act on a joint directly."""
    indirect = np.flatnonzero(~np.isin(model.actuator_trntype, ON_JOINT))
    kinds = {int(mujoco.mjtTrn.mjTRN_TENDON): "tendon", int(mujoco.mjtTrn.mjTRN_SLIDERCRANK): "crank"}
    found = [
        f"{mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, int(k)) or int(k)} "
        f"({kinds.get(int(model.actuator_trntype[k]), 'site or body')})"
        for k in indirect
    ]
    return f"actuators that do not act on a joint are ignored: {listed(found)}" if found else ""


def _tendons_act(model: mujoco.MjModel) -> bool:
    effects = (
        model.tendon_stiffnesspoly,
        model.tendon_dampingpoly,
        model.tendon_stiffness,
        model.tendon_damping,
        model.tendon_armature,
        model.tendon_frictionloss,
        model.tendon_limited,
    )
    return any(effect.any() for effect in effects)
