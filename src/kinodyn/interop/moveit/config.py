"""A MoveIt configuration: the folder that its setup assistant writes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kinodyn.argument_types import check_types
from kinodyn.checks import as_path
from kinodyn.description.messages import listed
from kinodyn.description.packages import PackageDirs
from kinodyn.display import displayed
from kinodyn.errors import InputError, warn
from kinodyn.interop.moveit.joint_limits import JointLimits, read_joint_limits
from kinodyn.interop.moveit.kinematics_settings import KinematicsSettings, read_kinematics
from kinodyn.model.loading import load
from kinodyn.model.robot import Robot

_READ = ("joint_limits.yaml", "kinematics.yaml")


@displayed
@dataclass(frozen=True, eq=False)
class MoveItConfig:
    """What a MoveIt configuration says about a robot.

    Attributes
    ----------
    robot : Robot
        With groups, named states, end effectors and disabled collisions of the SRDF and the limits of
        joint_limits.yaml.
    limits : JointLimits
    kinematics : mapping of group -> KinematicsSettings
    """

    robot: Robot
    limits: JointLimits
    kinematics: Mapping[str, KinematicsSettings]


@check_types
def load_config(
    folder: str | os.PathLike[str],
    urdf: str | os.PathLike[str] | None = None,
    *,
    packages: PackageDirs = (),
    xacro: bool = False,
) -> MoveItConfig:
    """Load a MoveIt configuration package: SRDF, joint_limits.yaml and kinematics.yaml.

    Parameters
    ----------
    folder
        The package, or its folder `config`.
    urdf
        The robot's URDF; by default the one in the folder.
    packages
        Folders that contain the packages of `package://` URIs.
    xacro
        As for `kd.load`: True evaluates xacro files, which only files you trust should be.

    Returns
    -------
    MoveItConfig

    Raises
    ------
    InputError
        If there is no SRDF or URDF, or more than one.

    Warns
    -----
    DescriptionWarning
        Lists the other YAML files of the folder, which have no effect here.
    """
    root = as_path("folder", folder)
    config = root / "config" if os.path.isdir(root / "config") else root
    if not os.path.isdir(config):
        raise InputError(f"folder must be a MoveIt configuration, got {folder}, which is not a folder")
    srdf = _only(config, "*.srdf")
    source = urdf if urdf is not None else _only(config, "*.urdf.xacro" if xacro else "*.urdf")
    others = sorted(file.name for file in config.glob("*.yaml") if file.name not in _READ)
    if others:
        warn(f"{config}: files that have no effect here: {listed(others)}")
    limits_file, kinematics_file = (config / name for name in _READ)
    limits = read_joint_limits(limits_file) if limits_file.is_file() else JointLimits()
    settings = read_kinematics(kinematics_file) if kinematics_file.is_file() else {}
    robot = load(source, srdf=srdf, packages=packages, xacro=xacro)
    return MoveItConfig(limits.apply(robot), limits, settings)


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise InputError(f"{folder} must have one {pattern} file, got {len(found)}; pass urdf= for another")
    return found[0]
