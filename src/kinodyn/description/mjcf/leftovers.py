"""What a MuJoCo model has and a `Description` does not hold, said in words."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from kinodyn.description.mjcf.names import Names
from kinodyn.description.notices import listed


def left_out(model: mujoco.MjModel, names: Names) -> list[str]:
    """List, one sentence each, the effects on the motion that are lost, apart from equalities."""
    sprung = (model.jnt_stiffness != 0) | model.jnt_stiffnesspoly.any(axis=1)
    limited_balls = (model.jnt_type == mujoco.mjtJoint.mjJNT_BALL) & (model.jnt_limited != 0)
    dragged = model.dof_dampingpoly.any(axis=1)[model.jnt_dofadr]
    sentences = [
        _about("springs are left out, of joint", sprung, names.joints),
        _about("the limits of the angle are left out, of ball joint", limited_balls, names.joints),
        _about("damping is kept only where linear in the speed, of joint", dragged, names.joints),
        _about("gravity compensation is left out, of body", model.body_gravcomp != 0, names.bodies),
        "the forces, limits and inertia of tendons are left out" if _tendons_act(model) else "",
        "flexible bodies are left out" if model.nflex else "",
        "the drag of air or water is left out" if model.opt.density or model.opt.viscosity else "",
    ]
    return [sentence for sentence in sentences if sentence]


def _about(what: str, selected: NDArray[np.bool_], names: list[str]) -> str:
    chosen = [names[i] for i in np.flatnonzero(selected)]
    return f"{what} {listed(chosen)}" if chosen else ""


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
