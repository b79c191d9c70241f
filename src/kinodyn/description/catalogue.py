"""The list of names: robots that come with kinodyn, and those of the `robots` extra."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kinodyn.description import bundled
from kinodyn.description.human import HEIGHT, MASS, humanoid
from kinodyn.description.robot_data import data_folder, describe_file, robot_files
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
    """List the names that `load` knows: first the bundled robots, then those of the `robots` extra, each sorted.

    Examples
    --------
    >>> robots()[:3]
    ('humanoid', 'panda', 'planar2r')
    """
    return (*BUNDLED, *robot_files().names(taken=BUNDLED))


def knows(name: str) -> bool:
    """Tell whether a robot goes by this name."""
    return name in BUNDLED or robot_files().find(name) is not None


def describe(name: str, *, height: float | None = None, mass: float | None = None) -> Description:
    """Describe a robot by its name.

    Parameters
    ----------
    name
        One of `robots()`. A bundled robot comes before one of the extra that has the same short name; that one then
        goes by its folder's name, such as "panda_description".
    height, mass
        Height [m] and mass [kg] of the humanoid, 1.7 m and 70 kg unless given; other robots have their own.

    Raises
    ------
    UnknownNameError
        With the nearest names, and how to install the extra if it is not there.
    """
    if name == "humanoid":
        return humanoid(HEIGHT if height is None else height, MASS if mass is None else mass)
    given = [key for key, value in (("height", height), ("mass", mass)) if value is not None]
    if given and knows(name):
        raise InputError(f"{' and '.join(given)} cannot be chosen for robot {name!r}, only for 'humanoid'")
    if name in BUNDLED:
        return BUNDLED[name]()
    file = robot_files().find(name)
    if file is None:
        raise _unknown(name)
    return describe_file(file)


def _unknown(name: object) -> UnknownNameError:
    error = unknown_name("robot", name, robots())
    if data_folder() is not None:
        return error
    return UnknownNameError(f"{error}; more robots come with: pip install 'kinodyn[robots]'")
