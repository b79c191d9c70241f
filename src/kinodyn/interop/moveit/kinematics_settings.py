"""kinematics.yaml: settings of the inverse kinematics of each group."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields

from kinodyn.argument_types import check_types
from kinodyn.display import displayed
from kinodyn.interop.moveit.reading import Source, source_message
from kinodyn.interop.moveit.writing import write_yaml

_PREFIXED = ("search_resolution", "timeout", "attempts")  # with kinematics_solver_ before them


@displayed
@dataclass(frozen=True)
class KinematicsSettings:
    """Settings of one group, None where the file sets none.

    kinodyn plans with its own inverse kinematics: `timeout`, `attempts` and the tolerances of goals are used by
    `kd.interop.ros.MoveGroup`, the name of the solver is kept.

    Attributes
    ----------
    solver : str
        Name of MoveIt's plugin.
    search_resolution : float or None
    timeout : float or None
        [s]
    attempts : int or None
    goal_joint_tolerance, goal_position_tolerance, goal_orientation_tolerance : float or None
        [rad or m], [m], [rad]
    position_only_ik : bool or None
    """

    solver: str = ""
    search_resolution: float | None = None
    timeout: float | None = None
    attempts: int | None = None
    goal_joint_tolerance: float | None = None
    goal_position_tolerance: float | None = None
    goal_orientation_tolerance: float | None = None
    position_only_ik: bool | None = None


def read_kinematics(source: Source) -> dict[str, KinematicsSettings]:
    """Read a kinematics.yaml.

    Parameters
    ----------
    source
        Path of the file, YAML text (a string with a line break), or a dictionary of its fields.

    Returns
    -------
    settings : dict of group -> KinematicsSettings

    Warns
    -----
    DescriptionWarning
        If there are fields that are dropped.
    """
    message = source_message(source, "kinematics")
    found = {}
    for group in message.fields.names():
        given = message.fields.child(group)
        values: dict[str, object] = {"solver": given.text("kinematics_solver")}
        for field in fields(KinematicsSettings)[1:]:
            name = _name(field.name)
            if given.raw(name) is None:
                continue
            if field.name == "position_only_ik":
                values[field.name] = given.flag(name)
                continue
            number = given.number(name)
            if number < 0.0:
                raise given.error(name, number, "a number of at least 0")
            values[field.name] = int(number) if field.name == "attempts" else number
        found[group] = KinematicsSettings(**values)  # type: ignore[arg-type]
    message.warn()
    return found


@check_types
def write_kinematics(settings: Mapping[str, KinematicsSettings], path: str | os.PathLike[str]) -> None:
    """Write a kinematics.yaml.

    Parameters
    ----------
    settings
        By group.
    path
        The file, which is replaced.
    """
    groups = {}
    for group, each in settings.items():
        values = {_name(field.name): getattr(each, field.name) for field in fields(KinematicsSettings)}
        groups[group] = {name: value for name, value in values.items() if value not in (None, "")}
    write_yaml(groups, path)


def _name(field: str) -> str:
    if field == "solver":
        return "kinematics_solver"
    return f"kinematics_solver_{field}" if field in _PREFIXED else field
