"""The function that modules of robot_descriptions import from their `_cache`, without downloads."""

from __future__ import annotations

import os

from kinodyn.description.robot_descriptions.installed import cached_repository
from kinodyn.errors import UnknownNameError


def clone_to_cache(description_name: str, commit: str | None = None) -> str:
    """Return the folder of a repository in the cache; raise an error if it is not there.

    Callers read the commit from the environment, as `cached_repository` does.
    """
    folder = cached_repository(description_name)
    if folder is None:
        raise UnknownNameError(f"repository {description_name!r} is not in the cache of robot_descriptions")
    return os.fspath(folder)
