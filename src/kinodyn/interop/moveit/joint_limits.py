"""joint_limits.yaml: limits of joints that a MoveIt configuration adds to those of the URDF."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kinodyn.argument_types import check_types
from kinodyn.display import displayed
from kinodyn.errors import unknown_name
from kinodyn.interop.moveit.fields import Fields
from kinodyn.interop.moveit.reading import Source, source_message
from kinodyn.interop.moveit.writing import write_yaml
from kinodyn.model.robot import Robot

_MAXIMA = ("velocity", "acceleration", "deceleration", "jerk", "effort")


@displayed
@dataclass(frozen=True)
class JointLimit:
    """Limits of one joint, None where the file sets none.

    Attributes
    ----------
    lower, upper : float or None
        [rad or m]
    velocity, acceleration, deceleration, jerk, effort : float or None
        [rad/s, m/s and so on]
    wraparound : bool
        Whether the joint turns without limits.
    """

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    acceleration: float | None = None
    deceleration: float | None = None
    jerk: float | None = None
    effort: float | None = None
    wraparound: bool = False


@displayed
@dataclass(frozen=True)
class JointLimits:
    """The content of a joint_limits.yaml.

    Attributes
    ----------
    joints : mapping of str -> JointLimit
    velocity_scaling, acceleration_scaling : float
        Default factors of the limits, above 0 and at most 1.

    Examples
    --------
    >>> import kinodyn as kd
    >>> text = "joint_limits:\\n  joint1: {has_velocity_limits: true, max_velocity: 0.5}\\n"
    >>> limits = kd.interop.moveit.read_joint_limits(text)
    >>> limits.motion_limits()["velocity"]
    {'joint1': 0.5}
    """

    joints: Mapping[str, JointLimit] = field(default_factory=dict)
    velocity_scaling: float = 1.0
    acceleration_scaling: float = 1.0

    def motion_limits(self) -> dict[str, dict[str, float]]:
        """Return limits for `Plan.trajectory`, `MotionPlanner` and `execute`: velocity, acceleration and jerk.

        Returns
        -------
        limits : dict of dict of joint -> limit
            Scaled by the default factors. Of acceleration and deceleration the smaller one counts.
        """
        factors = {"velocity": self.velocity_scaling, "acceleration": self.acceleration_scaling, "jerk": 1.0}
        found: dict[str, dict[str, float]] = {name: {} for name in factors}
        for name, joint in self.joints.items():
            both = [value for value in (joint.acceleration, joint.deceleration) if value is not None]
            given = {"velocity": joint.velocity, "acceleration": min(both, default=None), "jerk": joint.jerk}
            for kind, value in given.items():
                if value is not None:
                    found[kind][name] = factors[kind] * value
        return {kind: limits for kind, limits in found.items() if limits}

    @check_types
    def apply(self, robot: Robot) -> Robot:
        """Return a robot with the limits of position, velocity and effort of the file.

        Parameters
        ----------
        robot

        Returns
        -------
        robot : Robot

        Raises
        ------
        UnknownNameError
            For a joint that the robot does not have.
        """
        known = [joint.name for joint in robot.description.joints]
        for name in self.joints:
            if name not in known:
                raise unknown_name("joint", name, known)
        changed = []
        for joint in robot.description.joints:
            limit = self.joints.get(joint.name, JointLimit())
            values = {name: getattr(limit, name) for name in ("lower", "upper", "velocity", "effort")}
            changed.append(replace(joint, **{name: value for name, value in values.items() if value is not None}))
        return Robot(replace(robot.description, joints=tuple(changed)))


def read_joint_limits(source: Source) -> JointLimits:
    """Read a joint_limits.yaml.

    Parameters
    ----------
    source
        Path of the file, YAML text (a string with a line break), or a dictionary of its fields.

    Returns
    -------
    JointLimits

    Warns
    -----
    DescriptionWarning
        If there are fields that are dropped.
    """
    message = source_message(source, "joint limits")
    fields, joints = message.fields, {}
    given = fields.child("joint_limits")
    for name in given.names():
        joints[name] = _read_joint(given.child(name))
    factors = [_scaling(fields, f"default_{kind}_scaling_factor") for kind in ("velocity", "acceleration")]
    message.warn()
    return JointLimits(joints, *factors)


@check_types
def write_joint_limits(limits: JointLimits, path: str | os.PathLike[str]) -> None:
    """Write a joint_limits.yaml.

    Parameters
    ----------
    limits
    path
        The file, which is replaced.
    """
    write_yaml(joint_limit_fields(limits), path)


def joint_limit_fields(limits: JointLimits) -> dict[str, Any]:
    """Return the fields of a joint_limits.yaml."""
    joints = {}
    for name, limit in limits.joints.items():
        fields: dict[str, Any] = {}
        if limit.lower is not None and limit.upper is not None:
            fields |= {"has_position_limits": True, "min_position": limit.lower, "max_position": limit.upper}
        for kind in _MAXIMA:
            value = getattr(limit, kind)
            if value is not None:
                fields |= {f"has_{kind}_limits": True, f"max_{kind}": value}
        joints[name] = {**fields, **({"angle_wraparound": True} if limit.wraparound else {})}
    return {
        "default_velocity_scaling_factor": limits.velocity_scaling,
        "default_acceleration_scaling_factor": limits.acceleration_scaling,
        "joint_limits": joints,
    }


def _read_joint(fields: Fields) -> JointLimit:
    values: dict[str, Any] = {"wraparound": fields.flag("angle_wraparound")}
    if fields.flag("has_position_limits"):
        values |= {"lower": fields.number("min_position"), "upper": fields.number("max_position")}
        if values["lower"] > values["upper"]:
            raise fields.error("max_position", values["upper"], f"at least min_position, {values['lower']}")
    else:
        fields.ignore("min_position", "max_position")
    for kind in _MAXIMA:
        if not fields.flag(f"has_{kind}_limits"):
            fields.ignore(f"max_{kind}")  # without effect in MoveIt too
            continue
        values[kind] = fields.number(f"max_{kind}")
        if not values[kind] > 0.0:
            raise fields.error(f"max_{kind}", values[kind], "a number above 0")
    return JointLimit(**values)


def _scaling(fields: Fields, name: str) -> float:
    value = fields.number(name, 1.0)
    if not 0.0 < value <= 1.0:
        raise fields.error(name, value, "a number above 0 and at most 1")
    return value
