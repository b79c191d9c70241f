"""Effort limits, armature and damping of joints from the actuators of a MuJoCo model."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

# Plain integers, because MuJoCo's enumerations compare unequal to NumPy's.
_ONE_COORDINATE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
ON_JOINT = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))


@dataclass(frozen=True)
class Drive:
    """Effort limit [N m or N] of one joint, and the armature and damping that its actuators add to its own."""

    effort: float = math.inf
    armature: float = 0.0
    damping: float = 0.0


def drives(model: mujoco.MjModel) -> dict[int, Drive]:
    """Find the `Drive` of each joint id.

    The effort limit is the sum over the actuators that act directly on the joint, or the joint's actuatorfrcrange if
    that is less; of an asymmetric range the larger side counts. Joints with an unlimited actuator or with several
    coordinates have none. A joint without actuators is passive, with a limit of 0, in a model whose actuators all act
    on joints; in a model without actuators nothing is known. Actuators that act through tendons, sites or cranks are
    ignored, and leave the limits of other joints unknown.
    """
    direct = np.isin(model.actuator_trntype, ON_JOINT)
    unknown = math.inf if not len(direct) or not direct.all() else 0.0
    acting: dict[int, list[int]] = {joint: [] for joint in range(model.njnt)}
    for actuator in range(model.nactuator):
        joint = int(model.actuator_trnid[actuator, 0])
        if model.actuator_trntype[actuator] in ON_JOINT and model.jnt_type[joint] in _ONE_COORDINATE:
            acting[joint].append(actuator)
    return {joint: _drive(model, joint, actuators, unknown) for joint, actuators in acting.items()}


def _drive(model: mujoco.MjModel, joint: int, actuators: list[int], unknown: float) -> Drive:
    effort = sum(_max_effort(model, actuator) for actuator in actuators) if actuators else unknown
    if model.jnt_type[joint] not in _ONE_COORDINATE:
        effort = math.inf
    if model.jnt_actfrclimited[joint]:
        effort = min(effort, float(np.abs(model.jnt_actfrcrange[joint]).max()))
    # A rotor turns gear times as fast as its joint, so that its inertia and damping are reflected by gear squared.
    reflected = [_gear(model, actuator) ** 2 for actuator in actuators]
    armature = sum(g2 * float(model.actuator_armature[a]) for g2, a in zip(reflected, actuators, strict=True))
    damping = sum(g2 * float(model.actuator_damping[a]) for g2, a in zip(reflected, actuators, strict=True))
    return Drive(effort, armature, damping)


def _max_effort(model: mujoco.MjModel, actuator: int) -> float:
    """Return the largest effort of one actuator at its joint, infinite if unlimited."""
    gear = _gear(model, actuator)
    if gear == 0.0:
        return 0.0
    if model.actuator_forcelimited[actuator]:
        return gear * float(np.abs(model.actuator_forcerange[actuator]).max())
    control = int(model.actuator_ctrladr[actuator])
    if _is_motor(model, actuator) and model.actuator_ctrllimited[control]:
        gain = abs(float(model.actuator_gainprm[actuator, 0]))
        return gear * gain * float(np.abs(model.actuator_ctrlrange[control]).max())
    return math.inf


def _gear(model: mujoco.MjModel, actuator: int) -> float:
    return abs(float(model.actuator_gear[model.actuator_outadr[actuator], 0]))


def _is_motor(model: mujoco.MjModel, actuator: int) -> bool:
    """Return whether the actuator's force is its control times a constant, so that the control's range limits it."""
    return bool(
        model.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_FIXED
        and model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_NONE
        and model.actuator_dyntype[actuator] == mujoco.mjtDyn.mjDYN_NONE
    )
