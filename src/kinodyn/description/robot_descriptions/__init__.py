"""Robots of the package robot_descriptions that are in its cache. Nothing is downloaded.

The modules of that package name the files of a robot, and download its repository when they are imported. They are run
here as modules of this package instead, so that their `from ._cache import clone_to_cache` gets a function that only
looks into the cache.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from kinodyn.description.robot_descriptions.installed import (
    PACKAGE,
    cache_folder,
    cached_repository,
    modules,
    package_folder,
    run_file,
    tags,
)
from kinodyn.description.srdf import read_srdf
from kinodyn.description.types import Description
from kinodyn.description.urdf import read_urdf
from kinodyn.errors import DescriptionError, UnknownNameError

PREFIX = f"{PACKAGE}."
FLOATING = frozenset({"humanoid", "biped", "quadruped", "drone"})


def is_module(name: str) -> bool:
    """Return whether the installed package has a description of this name, in the cache or not."""
    return name.removeprefix(PREFIX) in modules()


def is_cached(name: str) -> bool:
    """Return whether a description can be read without a download."""
    repository = modules().get(name.removeprefix(PREFIX))
    return repository is not None and cached_repository(repository) is not None


def cached_names(taken: Collection[str]) -> list[str]:
    """Return the names of the descriptions in the cache, sorted; one that is `taken` has its prefix."""
    if not cache_folder().is_dir():
        return []
    cached = {repository for repository in set(modules().values()) if cached_repository(repository) is not None}
    return sorted(PREFIX + name if name in taken else name for name, own in modules().items() if own in cached)


def not_cached(name: str) -> UnknownNameError:
    """Return the error for a description that the package knows but that is not in its cache."""
    short = name.removeprefix(PREFIX)
    return UnknownNameError(
        f"robot {short!r} of the package {PACKAGE} is not in its cache ({cache_folder()}); download it with: "
        f"python -m {PACKAGE} pull {short}"
    )


def describe_cached(name: str) -> Description:
    """Read a description that is in the cache: its URDF with its SRDF file, else its MJCF file."""
    short = name.removeprefix(PREFIX)
    folder = package_folder()
    assert folder is not None
    module = run_file(folder / f"{short}.py", f"{__name__}.{short}")
    mjcf = getattr(module, "MJCF_PATH", None)
    if hasattr(module, "URDF_PATH"):
        return _describe_urdf(module, short)
    if mjcf is None:
        path = getattr(module, "XACRO_PATH", None)
        hint = f"load it with xacro=True and packages=[{module.REPOSITORY_PATH!r}]"
        raise DescriptionError(f"robot {short!r} is a xacro file; {hint}", file=path)
    from kinodyn.description.mjcf import read_mjcf  # MuJoCo is slow to import

    return read_mjcf(mjcf)


def _describe_urdf(module: ModuleType, name: str) -> Description:
    package, repository = Path(module.PACKAGE_PATH), Path(module.REPOSITORY_PATH)
    description = read_urdf(module.URDF_PATH, packages=[package, repository, package.parent, repository.parent])
    srdf = Path(getattr(module, "SRDF_PATH", ""))
    if srdf.is_file():
        description = read_srdf(srdf, description)
    return replace(description, base="floating" if tags(name) & FLOATING else description.base)
