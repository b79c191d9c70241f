"""What the actuators of a MuJoCo model mean for the joints they drive: the greatest effort, rotor inertia, damping."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

# Plain integers, because MuJoCo's enumerations say that they differ from NumPy's.
_ONE_COORDINATE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_ON_JOINT = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))


@dataclass(frozen=True)
class Drive:
    """The effort limit [N m or N] of one joint, and the armature and damping its actuators add to the joint's own."""

    effort: float = math.inf
    armature: float = 0.0
    damping: float = 0.0


def drives(model: mujoco.MjModel) -> dict[int, Drive]:
    """Make the `Drive` of each joint id.

    The effort limit is the sum of what the actuators that act directly on the joint can give, or the joint's own
    actuatorfrcrange if that is less; of a range that is not symmetric the greater side counts. A joint without
    actuators and without actuatorfrcrange, one with an actuator that has no limit, and those with several
    coordinates have none. Actuators that pull through tendons, sites or cranks do not count.
    """
    acting: dict[int, list[int]] = {joint: [] for joint in range(model.njnt)}
    for actuator in range(model.nactuator):
        joint = int(model.actuator_trnid[actuator, 0])
        if model.actuator_trntype[actuator] in _ON_JOINT and model.jnt_type[joint] in _ONE_COORDINATE:
            acting[joint].append(actuator)
    return {joint: _drive(model, joint, actuators) for joint, actuators in acting.items()}


def _drive(model: mujoco.MjModel, joint: int, actuators: list[int]) -> Drive:
    effort = sum(_strongest(model, actuator) for actuator in actuators) if actuators else math.inf
    if model.jnt_actfrclimited[joint]:
        effort = min(effort, float(np.abs(model.jnt_actfrcrange[joint]).max()))
    # A rotor turns gear times as fast as its joint, so that its inertia and damping count gear squared.
    reflected = [_gear(model, actuator) ** 2 for actuator in actuators]
    armature = sum(g2 * float(model.actuator_armature[a]) for g2, a in zip(reflected, actuators, strict=True))
    damping = sum(g2 * float(model.actuator_damping[a]) for g2, a in zip(reflected, actuators, strict=True))
    return Drive(effort, armature, damping)


def _strongest(model: mujoco.MjModel, actuator: int) -> float:
    """Return the greatest effort of one actuator at its joint, infinite if nothing limits it."""
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
    """Say whether the actuator's force is its control times a constant, so that the control's range limits it."""
    return bool(
        model.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_FIXED
        and model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_NONE
        and model.actuator_dyntype[actuator] == mujoco.mjtDyn.mjDYN_NONE
    )
