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
    """
    moving = [joint for joint in description.joints if joint.kind in LIMITED and joint.lower < joint.upper]
    no_motor = not any(joint.effort > 0.0 for joint in moving if joint.mimic is None)
    names = {joint.name for joint in moving}

    def known(joint: Joint) -> Joint:
        if joint.name not in names:
            return joint
        no_effort = joint.effort == 0.0 and (joint.velocity == 0.0 or no_motor)
        return replace(joint, velocity=joint.velocity or math.inf, effort=math.inf if no_effort else joint.effort)

    return replace(description, joints=tuple(known(joint) for joint in description.joints))


def without_zero_limits_of_file(description: Description) -> Description:
    """Do the same for what a file states, and warn with the names of the joints, once for velocity and for effort."""
    result = without_zero_limits(description)
    for what in ("velocity", "effort"):
        pairs = zip(description.joints, result.joints, strict=True)
        names = [old.name for old, new in pairs if getattr(old, what) != getattr(new, what)]
        if names:
            warn(f"give {what} limits above 0, treated as unlimited, to joints: {listed(names)}", description.source)
    return result
