"""The catalogue of robots by name: those bundled with kinodyn, of the `robots` extra, and of robot_descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from kinodyn.description import bundled, robot_descriptions
from kinodyn.description.example_robot_data import data_folder, describe_file, robot_files
from kinodyn.description.human import HEIGHT, MASS, humanoid
from kinodyn.description.robot_descriptions import installed
from kinodyn.description.types import Description
from kinodyn.errors import InputError, UnknownNameError, unknown_name

BUNDLED: Mapping[str, Callable[[], Description]] = {
    "humanoid": humanoid,
    "panda": bundled.panda,
    "planar2r": bundled.planar2r,
    "planar3r": bundled.planar3r,
    "puma560": bundled.puma560,
    "scara": bundled.scara,
    "ur5": bundled.ur5,
}


def robots() -> tuple[str, ...]:
    """List the names that `load` accepts: the bundled robots, those of the `robots` extra, those of robot_descriptions.

    Each group is sorted. Of the package robot_descriptions, if it is installed, only what is in its cache is listed;
    where another robot has the same name, as "robot_descriptions.NAME".

    Returns
    -------
    names : tuple of str

    Examples
    --------
    >>> robots()[:3]
    ('humanoid', 'panda', 'planar2r')
    """
    known = (*BUNDLED, *robot_files().names(taken=BUNDLED))
    taken = [name for name in installed.modules() if _own(name)]
    return (*known, *robot_descriptions.cached_names(taken=taken))


def _own(name: str) -> bool:
    """Return whether a robot of this name is bundled or part of the `robots` extra."""
    return name in BUNDLED or robot_files().find(name) is not None


def is_known(name: str) -> bool:
    """Return whether there is a robot of this name."""
    return _own(name) or robot_descriptions.is_module(name)


def source_of(name: str) -> str:
    """Return where a known robot comes from."""
    if name in BUNDLED:
        return "bundled"
    return "robots extra" if robot_files().find(name) is not None else installed.PACKAGE


def file_of(name: str) -> Path | None:
    """Return the file that describes a robot, None for a bundled or unknown one."""
    return None if name in BUNDLED else robot_files().find(name)


def describe(name: str, *, height: float | None = None, mass: float | None = None) -> Description:
    """Describe a robot by its name.

    Parameters
    ----------
    name
        One of `robots()`. A bundled robot takes precedence over one of the extra with the same short name, which then
        has the name of its folder, such as "panda_description"; both take precedence over one of robot_descriptions,
        which "robot_descriptions.panda_description" always means.
    height, mass
        Height [m] and mass [kg] of the humanoid, 1.7 m and 70 kg if not given; other robots do not accept them.

    Returns
    -------
    description : Description

    Raises
    ------
    UnknownNameError
        With the nearest names, and how to install the extra if it is missing or to download the robot.
    """
    if name == "humanoid":
        return humanoid(HEIGHT if height is None else height, MASS if mass is None else mass)
    given = [key for key, value in (("height", height), ("mass", mass)) if value is not None]
    if given and is_known(name):
        raise InputError(f"{' and '.join(given)} cannot be set for robot {name!r}, only for 'humanoid'")
    if name in BUNDLED:
        return BUNDLED[name]()
    file = robot_files().find(name)
    if file is not None:
        return describe_file(file)
    if robot_descriptions.is_cached(name):
        return robot_descriptions.describe_cached(name)
    raise robot_descriptions.not_cached(name) if robot_descriptions.is_module(name) else _unknown(name)


def _unknown(name: object) -> UnknownNameError:
    error = unknown_name("robot", name, robots())
    if data_folder() is not None:
        return error
    return UnknownNameError(f"{error}; install more robots with: pip install 'kinodyn[robots]'")
