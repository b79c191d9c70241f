"""Limits of 0 that stand for unknown ones: many exporters write them for values that they do not have."""

from __future__ import annotations

import math
from dataclasses import replace

from kinodyn.description.messages import listed, warn
from kinodyn.description.types import Description, Joint

LIMITED = ("revolute", "continuous", "prismatic")  # kinds with one limit of velocity and one of effort


def without_zero_limits(description: Description) -> Description:
    """Make limits of 0 that stand for unknown ones infinite, as if the file did not state them.

    A velocity limit of 0 forbids a joint to move, although its position limits let it move: it is unknown. An effort
    limit of 0 is that of a joint without a motor, except where the velocity limit is 0 as well, or where no joint of
    the file would have a motor: then it is unknown.

    Parameters
    ----------
    description
        As a file states it.

    Returns
    -------
    Description
        The same object if nothing changes.

    Warns
    -----
    DescriptionWarning
        With the joints, once for velocity and once for effort limits.
    """
    moving = [joint for joint in description.joints if joint.kind in LIMITED and joint.lower < joint.upper]
    no_motor = not any(joint.effort > 0.0 for joint in moving if joint.mimic is None)
    unknown_velocity = {joint.name for joint in moving if joint.velocity == 0.0}
    unknown_effort = {joint.name for joint in moving if joint.effort == 0.0 and (joint.velocity == 0.0 or no_motor)}
    for what, names in (("velocity", unknown_velocity), ("effort", unknown_effort)):
        if names:
            joints = listed(joint.name for joint in moving if joint.name in names)
            warn(f"give {what} limits above 0, treated as unlimited, to joints: {joints}", description.source)
    if not unknown_velocity | unknown_effort:
        return description

    def with_limits(joint: Joint) -> Joint:
        velocity = math.inf if joint.name in unknown_velocity else joint.velocity
        return replace(joint, velocity=velocity, effort=math.inf if joint.name in unknown_effort else joint.effort)

    return replace(description, joints=tuple(with_limits(joint) for joint in description.joints))
