"""The installed package robot_descriptions and its cache. None of its modules are imported.

Importing a module of robot_descriptions downloads the repository of its robot. So its files are read instead: the list
of repositories, the list of descriptions, and which repository each module needs.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "robot_descriptions"
CACHE_VARIABLE = "ROBOT_DESCRIPTIONS_CACHE"
COMMIT_VARIABLE = "ROBOT_DESCRIPTION_COMMIT"
DEFAULT_CACHE = "~/.cache/robot_descriptions"

_REPOSITORY = re.compile(r"""_clone_to_cache\(\s*["']([^"']+)["']""")


def package_folder() -> Path | None:
    """Return the folder of the package, None if it is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def cache_folder() -> Path:
    """Return the folder of the package's cache, which need not exist."""
    return Path(os.environ.get(CACHE_VARIABLE, DEFAULT_CACHE)).expanduser()


def modules() -> Mapping[str, str]:
    """Map each description of the package to the repository that it needs; empty without the package."""
    folder = package_folder()
    return {} if folder is None else _modules(folder)


@functools.cache
def _modules(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.glob("*_description.py")):
        match = _REPOSITORY.search(path.read_text(encoding="utf-8"))
        if match is not None:
            found[path.stem] = match[1]
    return found


def cached_repository(name: str) -> Path | None:
    """Return the folder of a repository in the cache, at the commit of the environment; None if it is not there."""
    commit = os.environ.get(COMMIT_VARIABLE)
    folder = package_folder()
    repository = None if folder is None else _table(folder, "_repositories", "REPOSITORIES").get(name)
    if repository is None:
        return None
    place = repository.cache_path if commit is None else f"{repository.cache_path}-{commit}/{repository.cache_path}"
    path = cache_folder() / place
    return path if path.is_dir() and any(entry.name != ".git" for entry in path.iterdir()) else None


def tags(name: str) -> frozenset[str]:
    """Return the package's tags of a description, such as "humanoid"; empty if it has none."""
    folder = package_folder()
    metadata = None if folder is None else _table(folder, "_descriptions", "DESCRIPTIONS").get(name)
    return frozenset(getattr(metadata, "tags", ()))


@functools.cache
def _table(folder: Path, module: str, name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = getattr(run_file(folder / f"{module}.py", f"{__package__}.installed{module}"), name, {})
    return found


def run_file(path: Path, name: str) -> ModuleType:
    """Run a file of the package as a module of another name."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]
    return module
